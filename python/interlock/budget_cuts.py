"""Where the budget of an output, and not the model, decided how it went on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from interlock._core import Guide, Vocabulary
from interlock.masks import allocate_bitmask

__all__ = [
    "NO_TEXT",
    "Guided",
    "allowed_spellings",
    "budget_cuts",
    "cached_first_bytes",
    "first_bytes",
    "has_budget_cut",
    "has_spent_budget",
]


class Guided(Protocol):
    """What is asked of an index here. Guides of an index behind a prefill have taken the prefill's tokens already."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokens."""

    @property
    def kind(self) -> str:
        """That of ``Index``."""

    @property
    def source(self) -> str:
        """That of ``Index``."""

    def guide(self, max_tokens: int | None = None) -> Guide:
        """A guide where the output begins; ``max_tokens`` is about what follows."""


NO_TEXT = 256
"""Stands for the first byte of a token without text."""


def first_bytes(vocabulary: Vocabulary) -> npt.NDArray[np.uint16]:
    """The first byte of each token, 256 for tokens without text. Some hundredths of a second for a large vocabulary."""
    silent = {*vocabulary.special_token_ids, *vocabulary.eos_token_ids}
    found = np.full(vocabulary.size, NO_TEXT, dtype=np.uint16)
    for i in range(len(vocabulary)):
        spelling = b"" if i in silent else vocabulary.token_bytes(i)
        if spelling:
            found[i] = spelling[0]
    return found


_KEPT: dict[str, npt.NDArray[np.uint16]] = {}
"""What ``first_bytes`` found, by the fingerprints of vocabularies: half a megabyte for a large one."""


def cached_first_bytes(vocabulary: Vocabulary) -> npt.NDArray[np.uint16]:
    """``first_bytes``, kept for the last few vocabularies that were asked for."""
    found = _KEPT.get(vocabulary.fingerprint)
    if found is None:
        while len(_KEPT) >= 4:
            _KEPT.pop(next(iter(_KEPT)), None)
        found = _KEPT[vocabulary.fingerprint] = first_bytes(vocabulary)
    return found


def has_budget_cut(
    index: Guided,
    tokens: Sequence[int],
    max_tokens: int,
    first_bytes: Callable[[], npt.NDArray[np.uint16]],
    reports_ends: bool = True,
) -> bool:
    """Whether the budget left a part of an output no room; with ``reports_ends``, also whether it ended the output."""
    return any(True for _ in budget_cuts(index, tokens, max_tokens, first_bytes, reports_ends))


def has_spent_budget(guide: Guide) -> bool:
    """Whether a guide took as many tokens as its budget has, whatever they are; a stop token is none of them, and
    neither are those of a text from outside (``Guide.force``). Copies the tokens, and makes no mask.
    """
    past = guide.__reduce__()[1]
    tokens, max_tokens, outside = past[1], past[3], past[8]
    if max_tokens is None:
        return False
    forced = sum(min(len(text), len(tokens) - since) for since, text in outside)
    return bool(len(tokens) - guide.is_terminated - forced >= max_tokens)


def _has_more(free: Guide) -> bool:
    """Whether something might follow, and behind JSON and sentences of a grammar something else than blanks."""
    if free.index.kind not in ("json_schema", "grammar"):
        return True
    stops, vocabulary = free.index.vocabulary.eos_token_ids, free.index.vocabulary
    allowed = (int(token) for token in free.allowed_token_ids())
    return any(token not in stops and not vocabulary.token_bytes(token).isspace() for token in allowed)


def budget_cuts(
    index: Guided,
    tokens: Sequence[int],
    max_tokens: int,
    first_bytes: Callable[[], npt.NDArray[np.uint16]],
    reports_ends: bool,
) -> Iterator[bytes]:
    """The output up to each place where the budget decided how it went on: at least half of the characters that the
    index permits were forbidden there since what follows them has no room. Whether the model wanted one of those is not
    asked. ``tokens`` may lack the output's last ones.

    With ``reports_ends`` the last of them is the whole output, if the budget ended it and it might have gone on.

    A place inside a token counts as well: ``{}`` is one token in many vocabularies, and behind its brace a name might
    have come.

    Two masks a token: some microseconds where both are known, some milliseconds where the budget is nearly spent, and
    for a token that only one of them allows to be longer.
    """
    free, bound = index.guide(), index.guide(max_tokens=max_tokens)
    bits = allocate_bitmask(2, index.vocabulary)
    for count in range(len(tokens) + 1):
        if free.must_stop or bound.is_terminated:
            return
        if bound.must_stop:
            if reports_ends and _has_more(free):
                yield index.vocabulary.decode([*free.tokens, *tokens[count:]])
            break
        free.fill_bitmask(bits, 0)
        bound.fill_bitmask(bits, 1)
        # Where an output may end anyway, its end is no cut.
        if not free.is_accepting and not np.array_equal(bits[0], bits[1]):
            written = index.vocabulary.decode(free.tokens)
            if _forbids_half(*(_characters(guide, first_bytes()) for guide in (free, bound))):
                yield written
            elif count < len(tokens) and (inside := _cut_inside(free, bound, tokens[count], first_bytes())):
                yield written + inside
        if count == len(tokens) or not (bound.try_advance(tokens[count]) and free.try_advance(tokens[count])):
            break


def _characters(guide: Guide, first: npt.NDArray[np.uint16]) -> set[Any]:
    """The first bytes of the tokens that are allowed; 256 is a stop token."""
    return set(np.unique(first[guide.allowed_token_ids()]).tolist())


def _forbids_half(permitted: set[Any], left: set[Any]) -> bool:
    """Whether of at least two characters that are ``permitted`` at most half are ``left``."""
    return len(permitted) > 1 and 2 * len(permitted - left) >= len(permitted)


def _cut_inside(free: Guide, bound: Guide, token: int, first: npt.NDArray[np.uint16]) -> bytes:
    """The bytes of ``token`` in front of the first place between them where the budget decided how it went on; none
    where it did not.
    """
    vocabulary = free.index.vocabulary
    spelling = vocabulary.token_bytes(token)
    if len(spelling) < 2 or first[token] != spelling[0]:
        return b""
    spellings = [allowed_spellings(guide, spelling[:1], first) for guide in (free, bound)]
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
                    return b""
                characters |= _characters(after, first)
        if _forbids_half(*behind):
            return begun
    return b""


def allowed_spellings(guide: Guide, begin: bytes, first: npt.NDArray[np.uint16]) -> dict[bytes, int]:
    """The tokens that are allowed and begin with a byte, by their spellings."""
    allowed = guide.allowed_token_ids()
    near = allowed[first[allowed] == begin[0]]
    return {guide.index.vocabulary.token_bytes(int(token)): int(token) for token in near}
