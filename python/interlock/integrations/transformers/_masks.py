"""The masks of all rows of a batch, filled in one call and applied to torch logits.

A step of a batch moves megabytes: the masks, the scores and, unless they are masked in place, their copy. So masks and
copies are written into memory that is used again at every step, and a copy is masked while it is made. Memory that was
handed out is used again only once nothing but its keeper holds it: ``generate`` may well keep the scores of every step.

Masks for a GPU are filled into pinned memory, a ``BitmaskRing``, and copied in the background; a copy of the scores
there is made by the kernel that masks it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from interlock import ArgumentError, fill_bitmasks
from interlock.gpu.bitmask_ring import BitmaskRing
from interlock.integrations._batch import Batch
from interlock.integrations._number_end import Ending, NumberEnd
from interlock.masks import apply_padded, apply_torch_cpu, masked_copy

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
    """Masks of the rows of one generation, step by step. ``canonical`` leaves only the next forced token, if one is.
    ``number_end`` ends numbers at the top of an output as the model would.
    """

    def __init__(self, canonical: bool = False, number_end: NumberEnd | None = None) -> None:
        self._canonical, self._number_end = canonical, number_end
        self._bits: npt.NDArray[np.int32] = np.empty((0, 0), dtype=np.int32)
        self._copies = _Copies()
        self._ring: BitmaskRing | None = None
        self._ring_device: torch.device | None = None

    def fill(self, batch: Batch, device: torch.device | None = None) -> tuple[npt.NDArray[np.int32], list[int]]:
        """The masks of those rows that have one, and which rows these are. Guides come first, filled in one call.

        The masks are valid until the next call. For a GPU they lie in pinned memory, see ``_sent``.
        """
        guided, guides, words = batch.running, batch.guides, batch.words
        special = [(i, *other) for i, row in batch.others if (other := row.special()) is not None]
        count = len(guided) + len(special)
        bits = self._room(count, words, device)
        if guides:
            fill_bitmasks(guides, bits, None if len(guides) == count else list(range(len(guides))))
        view = bits.view(np.uint32)
        if self._canonical:
            for k, guide in enumerate(guides):
                for token in guide.forced_tokens()[:1]:
                    view[k] = 0
                    view[k, token >> 5] = np.uint32(1 << (token & 31))
        for k, (_, only, ids) in enumerate(special, len(guided)):
            view[k] = 0 if only else 0xFFFFFFFF
            for t in ids:
                if only:
                    view[k, t >> 5] |= np.uint32(1 << (t & 31))
                else:
                    view[k, t >> 5] &= np.uint32(~(1 << (t & 31)) & 0xFFFFFFFF)
        return bits, guided + [i for i, _, _ in special] if special else guided

    def _room(self, count: int, words: int, device: torch.device | None) -> npt.NDArray[np.int32]:
        """Memory for so many rows, with any contents."""
        if device is not None and device.type == "cuda":
            ring = self._ring
            if ring is None or self._ring_device != device or ring.words != words or ring.batch < count:
                ring = self._ring = BitmaskRing(count, words, device=device, pin=True)
                self._ring_device = device
            return ring.next(count)
        if self._bits.shape != (count, words):
            self._bits = np.empty((count, words), dtype=np.int32)
        return self._bits

    def _sent(self, bits: npt.NDArray[np.int32], device: torch.device) -> Any:
        """What ``fill`` answered, on the device of the logits if that is a GPU."""
        return self._ring.send() if device.type == "cuda" and self._ring is not None else bits

    def apply(self, batch: Batch, logits: torch.Tensor) -> None:
        """Mask ``logits`` (rows, width of the logits) in place."""
        bits, numbers = self._filled(batch, logits)
        endings = self._endings(batch, logits)
        if numbers:
            apply_padded(logits, self._sent(bits, logits.device), None if self._is_all(numbers, logits) else numbers)
        for row, ending in endings:
            ending.apply(logits[row])

    def _endings(self, batch: Batch, logits: torch.Tensor) -> list[tuple[int, Ending]]:
        """The rows whose output ends by the model's wish, from logits that are not masked yet."""
        if self._number_end is None:
            return []
        found: list[tuple[int, Ending]] = []
        for row, guide in zip(batch.running, batch.guides, strict=True):
            if self._number_end.is_open(guide):
                wanted = logits[row].detach().to(device="cpu", dtype=torch.float32).numpy()
                ending = self._number_end.ending(guide, wanted, batch.stop_of(row))
                if ending is not None:
                    found.append((row, ending))
        return found

    @staticmethod
    def _is_all(numbers: list[int], logits: torch.Tensor) -> bool:
        return len(numbers) == len(logits) and numbers == list(range(len(numbers)))

    def copied(self, batch: Batch, logits: torch.Tensor) -> torch.Tensor:
        """A masked copy of ``logits``."""
        plain = logits.dtype in _KINDS and not logits.requires_grad and logits.dim() == 2 and logits.stride(1) == 1
        if not plain or logits.device.type not in ("cpu", "cuda"):
            made = logits.clone()
            self.apply(batch, made)
            return made
        bits, numbers = self._filled(batch, logits)
        rows = None if self._is_all(numbers, logits) else numbers
        if logits.device.type == "cuda":
            copy: torch.Tensor = masked_copy(torch, logits, self._sent(bits, logits.device), rows)
        else:
            copy = self._copies.room(logits)
            apply_torch_cpu(torch, copy, bits, rows, logits)
        for row, ending in self._endings(batch, logits):
            ending.apply(copy[row])
        return copy

    def _filled(self, batch: Batch, logits: torch.Tensor) -> tuple[npt.NDArray[np.int32], list[int]]:
        if logits.shape[1] < batch.width:
            raise ArgumentError(f"the logits have {logits.shape[1]} columns, the vocabulary has {batch.width} tokens")
        return self.fill(batch, logits.device)
