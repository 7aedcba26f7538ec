"""Mask rows that stay on a device.

The masks of a batch are megabytes, and most of them were on the device before: the guides of one schema pass the same
places, and the inside of a string is one row for all schemas of a vocabulary. So some hundred rows lie on the device in
numbered *slots*. A step sends the number of each guide's slot, and those rows that are not in a slot yet. A row is
known by what its mask is made of, which the guide tells without writing it; so a row that is on the device is not even
filled on the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from interlock._core import ArgumentError, Guide, Vocabulary, _RowSlots
from interlock.gpu.bitmask_ring import BitmaskRing
from interlock.masks import _row_numbers, apply_slots
from interlock.util.plurals import counted

__all__ = ["DeviceRows"]


class DeviceRows:
    """The masks of batches of up to ``batch`` guides, with the rows that they share kept on ``device``.

    ``v_or_size`` is a vocabulary, or the width of the logits. ``slots`` is how many rows are kept, at least ``batch``:
    four times that unless given, and 256 at least. A row takes ``size / 8`` bytes: 16 KB for 128,000 tokens. ``device``
    is the current GPU, or the CPU where there is none.

    For each step call ``fill`` with the guides and then ``apply`` with the logits. ``fill`` copies in the background
    where there is CUDA, so it may be called while the model still runs.

    >>> import interlock, torch
    >>> from interlock.gpu import DeviceRows
    >>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    >>> index = interlock.Index.from_regex("[a-z]+", vocabulary)
    >>> guides = [index.guide() for _ in range(8)]
    >>> rows = DeviceRows(8, vocabulary, device="cpu")
    >>> rows.fill(guides), rows.fill(guides)  # the rows that were sent
    (8, 0)
    >>> logits = torch.zeros(8, vocabulary.size)
    >>> rows.apply(logits)
    >>> int(logits[0].isfinite().sum())
    26

    Masks that cannot be told from others are sent at every step: those of guides with ``max_tokens``, those before
    ``min_tokens``, and those that were never made before. ``ArgumentError`` if there are fewer slots than guides.

    One thread at a time, and one stream: that of the calls of ``fill`` and ``apply``.
    """

    def __init__(
        self, batch: int, v_or_size: Vocabulary | int, *, slots: int | None = None, device: Any = None
    ) -> None:
        size = v_or_size.size if isinstance(v_or_size, Vocabulary) else v_or_size
        slots = max(256, 4 * batch) if slots is None else slots
        if batch < 0 or size < 0 or slots < max(1, batch):
            raise ArgumentError(f"batch is {batch}, the width {size} and slots {slots}: slots must be at least batch")
        words = (size + 31) // 32
        self.batch, self.words, self.slots = batch, words, slots
        if device is None:
            device = torch.device("cuda", torch.cuda.current_device()) if torch.cuda.is_available() else "cpu"
        self.device = torch.device(device)
        self._known = _RowSlots(slots)
        self._pool = torch.zeros((slots, words), dtype=torch.int32, device=self.device)
        # One transfer a step. A buffer begins with the slots of the guides, then come those of the new rows, then these
        # rows: whole rows of words, so that the rest is aligned as they are.
        self._head = -(-2 * batch // words) if words else 0
        self._ring = BitmaskRing(self._head + batch, words, device=self.device, pin=True)
        self._of: torch.Tensor | None = None

    def fill(self, guides: Sequence[Guide | None], threads: int | None = None) -> int:
        """Make the masks of ``guides`` the current ones, and return how many rows had to be sent for that.

        ``None`` in the place of a guide is a sequence without a constraint. ``threads`` is as for ``fill_bitmasks``.
        ``ArgumentError`` for more guides than the batch, ``GuideBusyError`` for one that is in use or there twice; then
        there are no current masks.
        """
        self._of = None
        count = len(guides)
        if count > self.batch:
            raise ArgumentError(f"{counted(count, 'guide')}, but these rows were made for a batch of {self.batch}")
        if self.words == 0:
            raise ArgumentError("the width of the logits is 0")
        try:
            bits = self._ring.next()
            of, new = self._known.fill(guides, bits[self._head :], threads)
            head = bits[: self._head].reshape(-1)
            head[:count], head[count : count + len(new)] = of, new
            # The ring sends as many rows as were asked for.
            sent = torch.as_tensor(self._ring.send(self._head + len(new)))
            on_device = sent[: self._head].reshape(-1)
            if len(new):
                self._pool.index_copy_(0, on_device[count : count + len(new)].long(), sent[self._head :])
            self._of = on_device[:count]
        except BaseException:
            # What is in the slots is not known any more.
            self.clear()
            raise
        return len(new)

    def apply(self, logits: Any, rows: Any = None) -> None:
        """Overwrite the logits of tokens that the current masks forbid with minus infinity, in place.

        ``logits`` is a torch tensor on the device, of a shape and dtype that ``apply_bitmask`` takes. ``rows[i]`` is
        the row that belongs to guide ``i`` of ``fill``; without it there must be as many rows as guides.
        ``ArgumentError`` where these do not fit, or before ``fill``.
        """
        if self._of is None:
            raise ArgumentError("there are no masks: call fill first")
        if not isinstance(logits, torch.Tensor) or logits.device != self._pool.device:
            raise ArgumentError(f"logits must be a torch tensor on {self._pool.device}")
        apply_slots(torch, logits, self._pool, self._of, None if rows is None else _row_numbers(rows))

    def clear(self) -> None:
        """Forget all rows."""
        self._of = None
        self._known.clear()

    @property
    def num_kept(self) -> int:
        """How many of the slots hold a row that may be used again."""
        return self._known.num_identified
