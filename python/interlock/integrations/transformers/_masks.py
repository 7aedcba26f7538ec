"""The masks of all rows of a batch, filled in one call and applied to torch logits.

A step of a batch moves megabytes: the masks, the scores and, unless they are masked in place, their copy. So masks and
copies are written into memory that is used again at every step, and a copy is masked while it is made. Memory that was
handed out is used again only once nothing but its keeper holds it: ``generate`` may well keep the scores of every step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from interlock import ArgumentError, apply_bitmask, fill_bitmasks
from interlock.integrations.transformers._row import Row
from interlock.masks import apply_torch_cpu

__all__ = ["Masks"]

_KINDS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


class _Copies:
    """Room for copies of scores: the last two that were handed out, since a loop holds one while it asks for the next.

    A fresh tensor of megabytes is fresh memory from the system, and touching that for the first time takes longer than
    masking it.
    """

    _WORTH_KEEPING = 1 << 20

    def __init__(self) -> None:
        self._kept: list[torch.UntypedStorage] = []

    def room(self, like: torch.Tensor) -> torch.Tensor:
        """A contiguous tensor of the shape and dtype of ``like``, with any contents."""
        size = like.numel() * like.element_size()
        count = getattr(torch._C, "_storage_Use_Count", None)
        if count is None or size < self._WORTH_KEEPING:
            return torch.empty(like.shape, dtype=like.dtype)
        for storage in self._kept:
            if storage.nbytes() == size and count(storage._cdata) == 1:
                bare: Any = torch.empty(0, dtype=like.dtype)
                again: torch.Tensor = bare.set_(storage, 0, like.shape)
                return again
        made = torch.empty(like.shape, dtype=like.dtype)
        self._kept = [*self._kept[-1:], made.untyped_storage()]
        return made


class Masks:
    """Masks of the rows of one generation, step by step."""

    def __init__(self) -> None:
        self._bits: npt.NDArray[np.int32] = np.empty((0, 0), dtype=np.int32)
        self._copies = _Copies()

    def fill(self, rows: list[Row]) -> tuple[npt.NDArray[np.int32], list[int]]:
        """The masks of those rows that have one, and which rows these are. Guides come first, filled in one call.

        The masks are valid until the next call.
        """
        guided: list[int] = []
        guides = []
        special: list[tuple[int, bool, list[int]]] = []
        words = 0
        for i, row in enumerate(rows):
            words = max(words, row.words)
            if (other := row.special()) is not None:
                special.append((i, *other))
            elif row.guide is not None:
                guided.append(i)
                guides.append(row.guide)
        count = len(guided) + len(special)
        if self._bits.shape != (count, words):
            self._bits = np.empty((count, words), dtype=np.int32)
        bits = self._bits
        if guides:
            fill_bitmasks(guides, bits, None if len(guides) == count else list(range(len(guides))))
        view = bits.view(np.uint32)
        for k, (_, only, ids) in enumerate(special, len(guided)):
            view[k] = 0 if only else 0xFFFFFFFF
            for t in ids:
                if only:
                    view[k, t >> 5] |= np.uint32(1 << (t & 31))
                else:
                    view[k, t >> 5] &= np.uint32(~(1 << (t & 31)) & 0xFFFFFFFF)
        return bits, guided + [i for i, _, _ in special]

    def apply(self, rows: list[Row], logits: torch.Tensor) -> None:
        """Mask ``logits`` (rows, width of the logits) in place."""
        bits, numbers = self._filled(rows, logits)
        if numbers:
            words: Any = bits
            apply_bitmask(logits, words, None if numbers == list(range(len(logits))) else numbers)

    def copied(self, rows: list[Row], logits: torch.Tensor) -> torch.Tensor:
        """A masked copy of ``logits``."""
        plain = logits.device.type == "cpu" and logits.dtype in _KINDS and not logits.requires_grad
        if not plain or logits.dim() != 2 or logits.stride(1) != 1:
            made = logits.clone()
            self.apply(rows, made)
            return made
        bits, numbers = self._filled(rows, logits)
        made = self._copies.room(logits)
        apply_torch_cpu(torch, made, bits, numbers, logits)
        return made

    def _filled(self, rows: list[Row], logits: torch.Tensor) -> tuple[npt.NDArray[np.int32], list[int]]:
        for row in rows:
            if logits.shape[1] < row.tokens_of_vocabulary:
                message = f"the logits have {logits.shape[1]} columns, the vocabulary has {row.tokens_of_vocabulary}"
                raise ArgumentError(f"{message} tokens")
        return self.fill(rows)
