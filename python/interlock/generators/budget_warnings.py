"""A value that its budget may have cut short: whole, but with less in it than the model would have written."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from interlock._core import Guide, Index
from interlock.caller_warnings import warn_caller
from interlock.masks import allocate_bitmask
from interlock.output_types.unbounded_places import unbounded_place

__all__ = ["TightBudgetWarning", "is_cut_short", "warn_tight_budget"]


_AMPLE = 4
"""So many times of what the shortest value needs are no tight budget."""


class TightBudgetWarning(UserWarning):
    """``max_tokens`` decided how a value ended: texts may be empty or end in the middle, lists may be short.

    The value is whole and of its type. The message says which of two things it was. Either ``max_tokens`` is tight, and
    a larger one is the remedy; the message says how many tokens the shortest value needs. Or it is many times of what
    the shortest value needs, and the model did not stop by itself: then bounds of the type are the remedy,
    ``Annotated[str, Field(max_length=30)]`` and the like, and the message names a place without one. Where the type has
    bounds everywhere, it is a larger ``max_tokens`` again.
    """

    __module__ = "interlock"  # Where programs find it, as tracebacks should say.


def is_cut_short(
    index: Index, tokens: Sequence[int], max_tokens: int, first_bytes: Callable[[], npt.NDArray[np.uint16]]
) -> bool:
    """Whether the budget decided how an output went on: at one of its places, at least half of the characters that the
    index permits were forbidden since what follows them has no room. Whether the model wanted one of those is not
    asked. ``tokens`` may lack the output's last ones.

    A place inside a token counts as well: ``{}`` is one token in many vocabularies, and behind its brace a name might
    have come.

    Two masks a token, some microseconds; some milliseconds for a token that only one of them allows to be longer.
    """
    free, bound = index.guide(), index.guide(max_tokens=max_tokens)
    bits = allocate_bitmask(2, index.vocabulary)
    for count in range(len(tokens) + 1):
        if free.must_stop or bound.is_terminated:
            break
        free.fill_bitmask(bits, 0)
        bound.fill_bitmask(bits, 1)
        # Where an output may end anyway, its end is no cut.
        if not free.is_accepting and not np.array_equal(bits[0], bits[1]):
            if _forbids_half(*(_characters(guide, first_bytes()) for guide in (free, bound))):
                return True
            if count < len(tokens) and _is_cut_inside(free, bound, tokens[count], first_bytes()):
                return True
        if count == len(tokens) or not (bound.try_advance(tokens[count]) and free.try_advance(tokens[count])):
            break
    return False


def _characters(guide: Guide, first: npt.NDArray[np.uint16]) -> set[Any]:
    """The first bytes of the tokens that are allowed; 256 is a stop token."""
    return set(np.unique(first[guide.allowed_token_ids()]).tolist())


def _forbids_half(permitted: set[Any], left: set[Any]) -> bool:
    """Whether of at least two characters that are ``permitted`` at most half are ``left``."""
    return len(permitted) > 1 and 2 * len(permitted - left) >= len(permitted)


def _is_cut_inside(free: Guide, bound: Guide, token: int, first: npt.NDArray[np.uint16]) -> bool:
    """Whether the budget decided how ``token`` went on, at one of the places between its bytes."""
    vocabulary = free.index.vocabulary
    spelling = vocabulary.token_bytes(token)
    if len(spelling) < 2 or first[token] != spelling[0]:
        return False
    spellings = [_spellings(guide, spelling[:1], first) for guide in (free, bound)]
    for length in range(1, len(spelling)):
        begun = spelling[:length]
        behind = [{one[length] for one in allowed if one[:length] == begun and len(one) > length}
                  for allowed in spellings]  # fmt: skip
        for guide, allowed, characters in zip((free, bound), spellings, behind):
            # A token that ends here is followed by what its own mask allows.
            if begun in allowed:
                after = guide.fork()
                after.advance(allowed[begun])
                if guide is free and after.is_accepting:
                    return False
                characters |= _characters(after, first)
        if _forbids_half(*behind):
            return True
    return False


def _spellings(guide: Guide, begin: bytes, first: npt.NDArray[np.uint16]) -> dict[bytes, int]:
    """The tokens that are allowed and begin with a byte, by their spellings."""
    allowed = guide.allowed_token_ids()
    near = allowed[first[allowed] == begin[0]]
    return {guide.index.vocabulary.token_bytes(int(token)): int(token) for token in near}


def warn_tight_budget(
    index: Index,
    outputs: Sequence[Sequence[int]],
    max_tokens: int,
    first_bytes: Callable[[], npt.NDArray[np.uint16]],
) -> None:
    """Warn (``TightBudgetWarning``) once if one of ``outputs``, each a sequence of tokens, was cut short."""
    cut = [i for i, tokens in enumerate(outputs) if is_cut_short(index, tokens, max_tokens, first_bytes)]
    if not cut:
        return
    needed = index.guide().min_tokens_to_finish()
    which = "" if len(outputs) == 1 else f" (prompts {', '.join(map(str, cut))})"
    shortest = f"{needed} token{'' if needed == 1 else 's'}"
    larger = f"pass a larger max_tokens, such as {max(2 * max_tokens, needed + 32)}"
    if max_tokens >= max(_AMPLE * needed, needed + 16):
        remedy = _remedy(index, larger)
        began = f"max_tokens={max_tokens} ended the value{which}, which is whole"
        if remedy is None:
            message = f"{began}. The type has bounds everywhere, and permits longer values: {larger}"
        else:
            message = f"the model did not stop by itself, and {began}; the shortest one needs only {shortest}. {remedy}"
        warn_caller(message, TightBudgetWarning)
        return
    may_be = "with empty texts or short lists" if index.kind == "json_schema" else "before the model would have ended"
    warn_caller(
        f"max_tokens={max_tokens} is tight{which}: the value is whole, but it may have been cut short, {may_be}. "
        f"The shortest value alone needs {shortest}: {larger}",
        TightBudgetWarning,
    )


def _remedy(index: Index, larger: str) -> str | None:
    """What helps against a value that an ample budget ended; ``None`` for a larger budget alone."""
    less = "ask for less in the prompt"
    if index.kind == "grammar":
        return f"Bound the repetitions of the grammar's rules and terminals, {less}, or {larger}"
    if index.kind == "regex":
        return f"Bound the repetitions of the pattern ({{0,30}} in the place of *), {less}, or {larger}"
    place = None
    if index.kind == "json_schema":
        # What a schema says with other keywords is not looked at, and no bound may be missing there.
        with contextlib.suppress(RecursionError):
            place = unbounded_place(json.loads(index.source))
    if place is None:
        return None
    return f"Bound the texts and lists of the type, beginning with {place}, and how deep it nests, or {less}"
