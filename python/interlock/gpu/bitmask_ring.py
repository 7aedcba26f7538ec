"""Memory for the masks of one step after the other.

A copy from pinned memory runs in the background, and reads that memory until it has ended. A loop that fills the next
masks into the same memory would have to wait for it first. So there are several buffers, each with an event that says
whether its last copy has ended, and a step is given one that nobody reads.
"""

from __future__ import annotations

import contextlib
import importlib
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from interlock._core import ArgumentError

__all__ = ["BitmaskRing"]

# Buffers at the beginning: one that is filled, one that is copied, one for a loop that runs ahead.
_FIRST = 3
# Buffers at the most. A loop that is so many steps ahead of the device waits for the oldest copy.
_MOST = 16


class _Event(Protocol):
    """The end of a copy."""

    def query(self) -> bool:
        """Whether it has come."""

    def synchronize(self) -> None:
        """Wait for it."""


class _Memory(Protocol):
    """Where buffers lie, and how they are copied to a device."""

    def buffer(self, size: int) -> Any:
        """A tensor or array of so many ``int32``, on the CPU."""

    def copied(self, buffer: Any) -> tuple[Any, _Event | None]:
        """The buffer on the device, and what says when it may be written again; ``None`` if it may be at once."""


class _HostMemory:
    """No device: what is "copied" is the buffer itself."""

    def buffer(self, size: int) -> Any:
        """An array of so many ``int32``, which begins with a line of the cache."""
        # Rows are filled fastest where they begin with a line of the cache.
        from interlock.masks import aligned_words

        return aligned_words(size)

    def copied(self, buffer: Any) -> tuple[Any, _Event | None]:
        """The buffer itself, which may be written again at once."""
        return buffer, None


class _DeviceMemory:
    """A device of torch. Memory is pinned where that is asked for and the device is CUDA's."""

    def __init__(self, torch: Any, device: Any, pin: bool) -> None:
        self._torch, self._device = torch, device
        self._pin = pin and device.type == "cuda"

    def buffer(self, size: int) -> Any:
        """A tensor of so many ``int32`` on the CPU, in pinned memory where that is wanted."""
        return self._torch.empty(size, dtype=self._torch.int32, pin_memory=self._pin)

    def copied(self, buffer: Any) -> tuple[Any, _Event | None]:
        """The buffer on the device, and the event behind the copy; ``None`` where the copy is over already."""
        if self._device.type == "cpu":
            return buffer, None
        made = buffer.to(self._device, non_blocking=self._pin)
        if not self._pin:
            # Memory that is not pinned has been read when the call returns.
            return made, None
        event: Any = self._torch.cuda.Event()
        event.record(self._torch.cuda.current_stream(self._device))
        return made, event


class _Buffer:
    """The memory of one step's masks, and the event after which it may be written again."""

    def __init__(self, memory: _Memory, size: int) -> None:
        self.whole = memory.buffer(size)
        words: npt.NDArray[np.int32] = self.whole if isinstance(self.whole, np.ndarray) else self.whole.numpy()
        self.words = words
        self.event: _Event | None = None

    @property
    def is_free(self) -> bool:
        """Whether the last copy is over, so that the memory may be written."""
        if self.event is not None and self.event.query():
            self.event = None
        return self.event is None


class BitmaskRing:
    """Bitmasks of ``batch`` rows for one step after the other, and their copies on ``device``.

    ``interlock.allocate_bitmask(batch, vocabulary, pin=True, device=...)`` makes one. For each step call ``next``, fill
    what it gave, and hand the ring to ``apply_bitmask`` in the place of a mask:

    >>> import interlock, numpy as np
    >>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    >>> guides = [interlock.Index.from_choices(["yes", "no"], vocabulary).guide()]
    >>> masks = interlock.allocate_bitmask(1, vocabulary, pin=True, device="cpu")
    >>> bits = masks.next()
    >>> interlock.fill_bitmasks(guides, bits)
    True
    >>> logits = np.zeros((1, vocabulary.size), np.float32)
    >>> interlock.apply_bitmask(logits, masks)
    >>> np.flatnonzero(logits[0] == 0).tolist() == sorted(b"ny")
    True

    Where memory is pinned, ``next`` gives memory that no copy reads, so filling waits for nothing and overwrites
    nothing that is on its way. There are three buffers at first, and up to sixteen if the loop runs ahead of the
    device; beyond that ``next`` waits for the oldest copy. Without CUDA the same calls work on plain memory.

    One thread at a time, and one stream: a copy is ordered before what the stream of its call does next.
    """

    def __init__(self, batch: int, words: int, *, device: Any = None, pin: bool = True, _memory: Any = None) -> None:
        #: Rows of a mask, and words of a row.
        self.batch, self.words = batch, words
        if _memory is not None:
            self._memory: _Memory = _memory
        else:
            self._memory = _memory_of(device, pin)
        self._buffers = [_Buffer(self._memory, batch * words) for _ in range(_FIRST)]
        self._at = 0
        self._rows: int | None = None

    def next(self, rows: int | None = None) -> npt.NDArray[np.int32]:
        """The memory of the next step: ``[batch, words]``, or its first ``rows`` rows, with any contents.

        It is yours until the next call. ``ArgumentError`` if there are not so many rows.
        """
        rows = self.batch if rows is None else rows
        if not 0 <= rows <= self.batch:
            raise ArgumentError(f"rows is {rows}, but the ring has {self.batch}")
        buffers = self._buffers
        # Round and round, beginning behind the last one.
        order = [*range(self._at + 1, len(buffers)), *range(self._at + 1)]
        free = next((i for i in order if buffers[i].is_free), None)
        if free is None and len(buffers) < _MOST:
            free = len(buffers)
            buffers.append(_Buffer(self._memory, self.batch * self.words))
        if free is None:
            free = order[0]
            event = buffers[free].event
            if event is not None:
                event.synchronize()
            buffers[free].event = None
        self._at, self._rows = free, rows
        return self.current

    @property
    def current(self) -> npt.NDArray[np.int32]:
        """What ``next`` gave last. ``ArgumentError`` before its first call."""
        rows = self._count()
        given: npt.NDArray[np.int32] = self._buffers[self._at].words[: rows * self.words].reshape(rows, self.words)
        return given

    def send(self, rows: int | None = None) -> Any:
        """Copy what ``next`` gave last, or its first ``rows`` rows, in the background if memory is pinned.

        Returns a torch tensor of ``int32`` on the device. For the CPU nothing is copied: the answer is the memory
        itself, as a NumPy array. ``ArgumentError`` before the first ``next``, and for more rows than it gave.
        """
        given = self._count()
        rows = given if rows is None else rows
        if not 0 <= rows <= given:
            raise ArgumentError(f"rows is {rows}, but next gave {given}")
        buffer = self._buffers[self._at]
        sent, event = self._memory.copied(buffer.whole[: rows * self.words].reshape(rows, self.words))
        if event is not None:
            buffer.event = event
        return sent

    def _count(self) -> int:
        if self._rows is None:
            raise ArgumentError("the ring has no mask yet: call next(), and fill what it gives")
        return self._rows


def _memory_of(device: Any, pin: bool) -> _Memory:
    name = getattr(device, "type", device)
    if device is not None and not isinstance(name, str | int):
        raise ArgumentError(f"device must be a device of torch or its name, not {type(device).__name__}")
    if name == "cpu":
        return _HostMemory()
    torch: Any = None
    with contextlib.suppress(ImportError):
        torch = importlib.import_module("torch")
    if device is None:
        # Whoever names no device means the GPU that is there.
        if torch is None or not torch.cuda.is_available():
            return _HostMemory()
        return _DeviceMemory(torch, torch.device("cuda", torch.cuda.current_device()), pin)
    if torch is None:
        raise ArgumentError(f"device is {device!r}, but torch is not installed")
    try:
        made = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise ArgumentError(f"device is {device!r}, which torch does not know: {error}") from None
    return _DeviceMemory(torch, made, pin)
