"""The mask of one row as words of 32 bits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from interlock import ArgumentError, TokenRejected, allocate_bitmask
from interlock.integrations._row import Row

__all__ = ["RowMask"]


def expect_padding(size: int, width: int, made: str = "") -> None:
    """``ArgumentError`` where the logits have far more columns than a vocabulary has tokens: it is that of another
    model. Models pad a little, by less than 1,024 columns or a quarter. ``made`` is how the model's vocabulary is made.
    """
    if width > size + max(size // 4, 1024):
        raise ArgumentError(
            f"the model scores {width} tokens, and the index is for a vocabulary of {size}: compile it for the model's"
            + (made and f", {made}")
        )


class RowMask:
    """Fills the mask of one row at a time, always into the same memory."""

    def __init__(self) -> None:
        self._bits = allocate_bitmask(1, 0)

    def fill(self, row: Row, width: int, forced: Sequence[int] = ()) -> npt.NDArray[np.int32] | None:
        """The mask of ``row``, ``ceil(size / 32)`` words, or ``None`` where every token is allowed.

        ``width`` is that of the logits. Of ``forced``, the tokens that come next, only the first is left. The words are
        valid until the next call.

        Raises ``TokenRejected`` if the row took a token that was masked, ``ArgumentError`` if the logits are narrower
        than the vocabulary, or far wider.
        """
        if row.strayed:
            raise TokenRejected(
                f"token {row.strayed[0]} was taken, which was masked: did another processor leave no choice?"
            )
        if width < row.tokens_of_vocabulary:
            raise ArgumentError(
                f"the logits have {width} columns, the vocabulary has {row.tokens_of_vocabulary} tokens"
            )
        if row.constraint is not None:
            expect_padding(row.constraint.vocabulary.size, width)
        special = row.special()
        if special is None and row.guide is None:
            return None
        if self._bits.shape[1] != row.words:
            self._bits = allocate_bitmask(1, row.words * 32)
        words: npt.NDArray[np.int32] = self._bits[0]
        if special is None and row.guide is not None and not forced:
            row.guide.fill_bitmask(self._bits)
            return words
        only, ids = (True, list(forced[:1])) if special is None else special
        words.fill(0 if only else -1)
        view = words.view(np.uint32)
        for token in ids:
            bit = np.uint32(1 << (token & 31))
            if only:
                view[token >> 5] |= bit
            else:
                view[token >> 5] &= ~bit
        return words
