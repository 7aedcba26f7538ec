"""The processor of logits where ids and masks are on a device: what is brought over, and what it says."""

from __future__ import annotations

import numpy as np
import pytest

import interlock

torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")
transformers = pytest.importorskip("transformers", reason="transformers is not installed: make test-torch")

import models  # noqa: E402
from padded_rows import PATTERNS, padded_vocabulary  # noqa: E402

from interlock.integrations._row import Row  # noqa: E402
from interlock.integrations.transformers import GuideLogitsProcessor  # noqa: E402

WIDTH = models.WIDTH


@pytest.fixture(scope="module")
def vocabulary():
    return padded_vocabulary(WIDTH)


class Transfers:
    """Counts what brings numbers from a device to the processor, on tensors that stand for those of a device."""

    def __init__(self, monkeypatch):
        from interlock.integrations.transformers import _logits_processor

        self.count = 0
        monkeypatch.setattr(_logits_processor, "_is_near", lambda ids: False)
        for name in ("cpu", "tolist", "item", "__bool__"):
            monkeypatch.setattr(torch.Tensor, name, self.counted(getattr(torch.Tensor, name)))
        monkeypatch.setattr(torch, "equal", self.counted(torch.equal))

    def counted(self, function):
        def call(*arguments):
            self.count += 1
            return function(*arguments)

        return call

    def during(self, work):
        before = self.count
        work()
        return self.count - before


def test_one_transfer_a_step(vocabulary, monkeypatch):
    """Ids on a device: the newest tokens are brought, and with them whether all in front of them is as it was."""
    index = interlock.Index.from_regex("[a-f]{1,60}", vocabulary)
    processor = GuideLogitsProcessor(index, in_place=True)
    ids, scores = torch.tensor([[1, 5], [2, 6], [2, 6], [3, 7]]), torch.zeros(4, WIDTH)
    transfers = Transfers(monkeypatch)
    counts = [transfers.during(lambda: processor(ids, scores))]
    for step in range(6):
        ids = torch.cat([ids, torch.tensor([[97 + step % 3], [98], [99], [100]])], dim=1)
        counts.append(transfers.during(lambda: processor(ids, scores)))
    assert counts == [1] * 7
    # Beams that swap: a step finds out that something differs, and from then on the ids come whole.
    for step in range(6):
        ids = torch.cat([ids[[0, 2, 1, 3]], torch.tensor([[97], [98], [99 + step % 2], [100]])], dim=1)
        counts.append(transfers.during(lambda: processor(ids, scores)))
    assert counts[7:] == [2] + [1] * 5
    assert [row.tokens for row in processor._batch.rows()] == ids[:, 2:].numpy().tolist()
    # And once they do not swap any more, the newest tokens are enough.
    for _ in range(4):
        ids = torch.cat([ids, torch.tensor([[97]] * 4)], dim=1)
        counts.append(transfers.during(lambda: processor(ids, scores)))
    assert counts[13:] == [1] * 4 and processor._steps
    assert [row.tokens for row in processor._batch.rows()] == ids[:, 2:].numpy().tolist()


@pytest.mark.parametrize("seed", range(6))
def test_ids_on_a_device_are_followed_as_others_are(vocabulary, monkeypatch, seed):
    """Random steps, swaps, drafts, ways back and new prompts: the same rows as with ids on the CPU."""
    rng = np.random.default_rng(seed)
    index = interlock.Index.from_regex(r"[\x00-\x7f]*", vocabulary)
    near, far = GuideLogitsProcessor(index, in_place=True), GuideLogitsProcessor(index, in_place=True)
    from interlock.integrations.transformers import _logits_processor

    prompt = np.array([[1, 5], [1, 5], [2, 6]])
    ids = prompt
    for _ in range(60):
        kind = rng.integers(8)
        if kind < 5:
            ids = np.concatenate([ids, rng.integers(97, 103, (3, 1))], axis=1)
        elif kind == 5:
            ids = np.concatenate([ids[[1, 0, 2]], rng.integers(97, 103, (3, 1))], axis=1)
        elif kind == 6:
            kept = ids[:, : rng.integers(prompt.shape[1], ids.shape[1] + 1)]
            ids = np.concatenate([kept, rng.integers(97, 103, (3, rng.integers(1, 3)))], axis=1)
        else:
            ids = prompt = np.concatenate([prompt, rng.integers(1, 90, (3, 1))], axis=1)
        given = torch.from_numpy(ids.copy())
        for processor, is_near in ((near, True), (far, False)):
            monkeypatch.setattr(_logits_processor, "_is_near", lambda ids: is_near)
            scores = torch.zeros(3, WIDTH)
            processor(given, scores)
        # Whoever called may write into what was passed.
        given.fill_(0)
        start = near._prompt.shape[1]
        for processor in (near, far):
            assert processor._prompt.shape[1] == start
            assert [row.tokens for row in processor._batch.rows()] == ids[:, start:].tolist()


def test_masks_for_a_gpu_lie_in_a_ring(vocabulary, monkeypatch):
    """The same masks as for the CPU, in memory that the step before does not lie in; rings grow with the batch."""
    from interlock.gpu import BitmaskRing
    from interlock.integrations._batch import Batch
    from interlock.integrations.transformers import _masks

    rings = []

    def ring(count, words, device, pin):
        assert device.type == "cuda" and pin
        rings.append(BitmaskRing(count, words, device="cpu"))
        return rings[-1]

    monkeypatch.setattr(_masks, "BitmaskRing", ring)
    indexes = [interlock.Index.from_regex(p, vocabulary) if p else None for p in PATTERNS]
    near, far, there, before = _masks.Masks(), _masks.Masks(), torch.device("cuda"), None
    for count in (3, 6, 6, 2, 6):
        batch = Batch([Row(index, None, None) for index in indexes[:count]])
        (bits, numbers), (others, same) = near.fill(batch), far.fill(batch, there)
        assert numbers == same and (bits == others).all()
        assert (far._sent(others, there) == bits).all() and near._sent(bits, torch.device("cpu")) is bits
        assert before is None or not np.shares_memory(before, others)
        before = others
    assert [ring.batch for ring in rings] == [2, 5]
