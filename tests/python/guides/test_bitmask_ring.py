"""Memory for the masks of one step after the other: nothing waits, and nothing that is on its way is overwritten."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import interlock
from interlock.gpu import BitmaskRing
from interlock.gpu.bitmask_ring import _MOST


class Copy:
    """A copy on its way: it reads its memory when it ends."""

    def __init__(self, source):
        self.source, self.result, self.is_done = source, np.full_like(source, 99), False

    def end(self):
        if not self.is_done:
            self.result[:] = self.source
            self.is_done = True

    query = lambda self: self.is_done

    def synchronize(self):
        Device.waits += 1
        self.end()


class Device:
    """A device whose copies end when a test says so."""

    waits = 0

    def __init__(self):
        self.copies, self.buffers = [], 0
        Device.waits = 0

    def buffer(self, size):
        self.buffers += 1
        return np.empty(size, np.int32)

    def copied(self, buffer):
        copy = Copy(buffer)
        self.copies.append(copy)
        return copy.result, copy


@pytest.fixture
def device():
    return Device()


@pytest.fixture
def ring(device):
    return BitmaskRing(3, 2, _memory=device)


def test_what_is_on_its_way_is_not_overwritten(ring, device):
    """With copies that end late, each arrives as it was sent."""
    sent = []
    for step in range(200):
        bits = ring.next()
        assert bits.shape == (3, 2) and bits.dtype == np.int32
        bits[:] = step
        sent.append(ring.send())
        # A device that is up to five steps behind, and now and then catches up.
        unfinished = [copy for copy in device.copies if not copy.is_done]
        for copy in unfinished[: max(0, len(unfinished) - step % 6)]:
            copy.end()
    for copy in device.copies:
        copy.end()
    assert all((mask == step).all() for step, mask in enumerate(sent))
    assert Device.waits == 0, "nothing waited"
    assert device.buffers <= 7


def test_there_are_few_buffers_where_the_device_keeps_up(ring, device):
    for _ in range(50):
        ring.next()
        ring.send()
        for copy in device.copies[:-1]:
            copy.end()
    assert device.buffers == 3 and Device.waits == 0


def test_a_loop_that_runs_far_ahead_waits_for_the_oldest_copy(ring, device):
    for step in range(_MOST + 5):
        ring.next()[:] = step
        ring.send()
    assert device.buffers == _MOST and Device.waits == 5
    assert [copy.is_done for copy in device.copies] == [True] * 5 + [False] * _MOST
    assert all((copy.result == step).all() for step, copy in enumerate(device.copies[:5]))


def test_sending_twice(ring, device):
    """The memory is given again when the last of its copies has ended."""
    bits = ring.next()
    bits[:] = 1
    ring.send()
    bits[:] = 2
    ring.send()
    device.copies[0].end()
    for _ in range(6):
        assert not np.shares_memory(ring.next(), bits)
    device.copies[1].end()
    assert any(np.shares_memory(ring.next(), bits) for _ in range(4))


def test_fewer_rows(ring, device):
    bits = ring.next(2)
    assert bits.shape == (2, 2) and ring.current.shape == (2, 2)
    assert ring.send().shape == (2, 2) and ring.send(1).shape == (1, 2) and ring.send(0).shape == (0, 2)
    assert ring.next(0).shape == (0, 2)
    for rows in (-1, 4):
        with pytest.raises(interlock.ArgumentError, match=f"rows is {rows}, but the ring has 3"):
            ring.next(rows)
    ring.next(2)
    with pytest.raises(interlock.ArgumentError, match="rows is 3, but next gave 2"):
        ring.send(3)


def test_before_the_first_step(ring):
    for ask in (ring.send, lambda: ring.current, lambda: interlock.apply_bitmask(np.zeros((3, 64), np.float32), ring)):
        with pytest.raises(interlock.ArgumentError, match="call next"):
            ask()


def test_allocate(byte_vocabulary):
    assert isinstance(interlock.allocate_bitmask(2, byte_vocabulary), np.ndarray)
    for options in ({"pin": True}, {"device": "cpu"}, {"pin": True, "device": "cpu"}):
        ring = interlock.allocate_bitmask(2, byte_vocabulary, **options)
        assert isinstance(ring, BitmaskRing) and (ring.batch, ring.words) == (2, 10)
        assert ring.next().shape == (2, 10)
    for size in (0, 1, 32, 33):
        assert interlock.allocate_bitmask(2, size, device="cpu").next().shape == (2, (size + 31) // 32)
    with pytest.raises(TypeError, match="pin must be True or False, not int"):
        interlock.allocate_bitmask(2, byte_vocabulary, pin=1)
    with pytest.raises(interlock.ArgumentError, match="device must be a device of torch or its name, not list"):
        interlock.allocate_bitmask(2, byte_vocabulary, device=[])
    with pytest.raises(interlock.ArgumentError):
        interlock.allocate_bitmask(-1, byte_vocabulary, pin=True)


def test_a_device_needs_torch(byte_vocabulary, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(interlock.ArgumentError, match="torch is not installed"):
        interlock.allocate_bitmask(2, byte_vocabulary, device="cuda")
    # Whoever only asks for pinned memory gets plain memory where there is no GPU.
    assert isinstance(interlock.allocate_bitmask(2, byte_vocabulary, pin=True).next(), np.ndarray)


def test_steps_of_a_batch(byte_vocabulary):
    """Filled and applied as a loop does it, on NumPy's arrays."""
    index = interlock.Index.from_choices(["yes", "no"], byte_vocabulary)
    guides = [index.guide() for _ in range(3)]
    masks = interlock.allocate_bitmask(3, byte_vocabulary, pin=True, device="cpu")
    plain = interlock.allocate_bitmask(3, byte_vocabulary)
    for token in b"yes":
        interlock.fill_bitmasks(guides, masks.next())
        interlock.fill_bitmasks(guides, plain)
        logits, expected = np.zeros((3, 300), np.float32), np.zeros((3, 300), np.float32)
        interlock.apply_bitmask(logits, masks)
        interlock.apply_bitmask(expected, plain)
        assert (logits == expected).all()
        interlock.advance_each(guides, [token] * 3)
    # Two of four rows.
    interlock.fill_bitmasks(guides[:2], masks.next(2))
    logits = np.zeros((4, 300), np.float32)
    interlock.apply_bitmask(logits, masks, rows=[3, 1])
    assert np.isfinite(logits).sum(axis=1).tolist() == [300, 1, 300, 1]
    with pytest.raises(interlock.ArgumentError, match="logits have 340 columns, 11 words a row"):
        interlock.apply_bitmask(np.zeros((2, 340), np.float32), masks)


class TestTorch:
    @pytest.fixture
    def torch(self):
        return pytest.importorskip("torch", reason="torch is not installed: make test-torch")

    def test_tensors_on_the_cpu(self, torch, byte_vocabulary):
        guides = [interlock.Index.from_choices(["yes", "no"], byte_vocabulary).guide()]
        for device in ("cpu", torch.device("cpu")):
            masks = interlock.allocate_bitmask(1, byte_vocabulary, pin=True, device=device)
            interlock.fill_bitmasks(guides, masks.next())
            logits = torch.zeros(1, 300, dtype=torch.bfloat16)
            interlock.apply_bitmask(logits, masks)
            assert np.flatnonzero(logits[0].isfinite().numpy()).tolist() == sorted(b"ny")

    def test_other_devices_copy_before_they_return(self, torch, byte_vocabulary):
        """Memory that is not pinned is read by then, so it may be written at once."""
        masks = interlock.allocate_bitmask(1, byte_vocabulary, device="meta")
        masks.next()[:] = 1
        assert masks.send().device.type == "meta"

    def test_devices_that_torch_does_not_know(self, torch, byte_vocabulary):
        with pytest.raises(interlock.ArgumentError, match="device is 'gpu', which torch does not know"):
            interlock.allocate_bitmask(1, byte_vocabulary, device="gpu")
