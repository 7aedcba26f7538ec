"""What a program needs of a model: text to ids, and the logits behind ids, over one KV cache."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from interlock._core import ArgumentError, Vocabulary
from interlock.generators.cancelled_calls import check_cancelled
from interlock.generators.prompts.model_turns import ModelTurns
from interlock.output_types.context_room import ContextRoom

__all__ = ["CachedModel", "common_length"]


def common_length(one: Sequence[int], other: Sequence[int]) -> int:
    """How many ids two sequences begin with alike.

    >>> common_length([1, 2, 3], [1, 2, 4])
    2
    """
    length = min(len(one), len(other))
    return next((i for i in range(length) if one[i] != other[i]), length)


class CachedModel(ABC):
    """A model that remembers the ids it has read. What a question has in common with the last one is not read again."""

    def __init__(self, vocabulary: Vocabulary, context: int | None = None) -> None:
        self.vocabulary = vocabulary
        self.context = context
        """How many tokens the model can look at; ``None`` where that is not known."""
        self.calls = 0
        """How often the model was asked."""
        self.tokens_read = 0
        """How many tokens it has read in all calls."""
        self.turns = ModelTurns()
        """Programs of several threads take turns."""
        self._read: list[int] = []

    def logits(self, ids: Sequence[int]) -> npt.NDArray[np.float32]:
        """The logits of the token behind ``ids``, float32 of the vocabulary's size. ``ArgumentError`` for no ids,
        and ``PromptTooLongError`` for more than the context holds.
        """
        if not ids:
            raise ArgumentError("there is nothing to go on from: write some text before the first generated part")
        if self.context is not None and len(ids) > self.context:
            raise ContextRoom(len(ids), self.context, 0).error(what="text")
        with self.turns.turn(nests=True):
            check_cancelled()
            return self._logits(ids)

    def _logits(self, ids: Sequence[int]) -> npt.NDArray[np.float32]:
        # The last token is read in any case, for its logits.
        keep = min(common_length(self._read, ids), len(ids) - 1)
        known, self._read = len(self._read), []
        # What cannot be taken back in part is forgotten, and all is read again.
        if not keep or not self._kept(keep, known):
            self._forget()
            keep = 0
        new = list(ids[keep:])
        found = np.asarray(self._feed(new), dtype=np.float32).reshape(-1)
        self._read = list(ids)
        self.calls += 1
        self.tokens_read += len(new)
        return found[: self.vocabulary.size]

    @abstractmethod
    def encode(self, text: str) -> list[int]:
        """The ids of a text, without special tokens: names of special tokens in it are plain text."""

    @abstractmethod
    def _kept(self, length: int, known: int) -> bool:
        """Forget what was read behind the first ``length`` of ``known`` ids; ``False`` where that cannot be done."""

    @abstractmethod
    def _forget(self) -> None:
        """Forget everything that was read."""

    @abstractmethod
    def _feed(self, ids: list[int]) -> npt.ArrayLike:
        """Read ``ids`` and return the logits behind the last one."""
