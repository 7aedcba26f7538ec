"""A value that its budget may have cut short: whole, but with less in it than the model would have written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from interlock._core import Guide, Index
from interlock.caller_warnings import warn_caller
from interlock.masks import allocate_bitmask

__all__ = ["TightBudgetWarning", "is_cut_short", "warn_tight_budget"]


_AMPLE = 4
"""So many times of what the shortest value needs are no tight budget."""


class TightBudgetWarning(UserWarning):
    """``max_tokens`` decided how a value ended: texts may be empty or end in the middle, lists may be short.

    The value is whole and of its type. The message says which of two things it was. Either ``max_tokens`` is tight, and
    a larger one is the remedy; the message says how many tokens the shortest value needs. Or it is many times of what
    the shortest value needs, and the model did not stop by itself: then bounds of the type are the remedy,
    ``Annotated[str, Field(max_length=30)]`` and the like.
    """

    __module__ = "interlock"  # Where programs find it, as tracebacks should say.


def is_cut_short(
    index: Index, tokens: Sequence[int], max_tokens: int, first_bytes: Callable[[], npt.NDArray[np.uint16]]
) -> bool:
    """Whether the budget decided how an output went on: at one of its places, at least half of the characters that the
    index permits were forbidden since what follows them has no room. Whether the model wanted one of those is not
    asked. ``tokens`` may lack the output's last ones.

    Two masks a token, some microseconds.
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
            permitted, left = (_characters(guide, first_bytes()) for guide in (free, bound))
            if len(permitted) > 1 and 2 * len(permitted - left) >= len(permitted):
                return True
        if count == len(tokens) or not (bound.try_advance(tokens[count]) and free.try_advance(tokens[count])):
            break
    return False


def _characters(guide: Guide, first: npt.NDArray[np.uint16]) -> set[Any]:
    """The first bytes of the tokens that are allowed; 256 is a stop token."""
    return set(np.unique(first[guide.allowed_token_ids()]).tolist())


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
    if max_tokens >= max(_AMPLE * needed, needed + 16):
        warn_caller(
            f"the model did not stop by itself{which}, and max_tokens={max_tokens} ended the value, which is whole; "
            f"the shortest one needs only {shortest}. Bound the texts and lists of the type (max_length; in a JSON "
            "Schema maxLength and maxItems) and how deep it nests, or ask for less in the prompt",
            TightBudgetWarning,
        )
        return
    warn_caller(
        f"max_tokens={max_tokens} is tight{which}: the value is whole, but it may have been cut short, with empty "
        f"texts or short lists. The shortest value alone needs {shortest}: pass a larger max_tokens, such as "
        f"{max(2 * max_tokens, needed + 32)}",
        TightBudgetWarning,
    )
