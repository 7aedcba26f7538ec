"""Log-probabilities under masks are those of a softmax over the allowed tokens, with their gradient."""

from __future__ import annotations

import math

import numpy as np
import pytest

import interlock
from interlock import ArgumentError, masked_logprobs

WIDTH = 77


def rollout(seed, *places):
    """Logits, masks and allowed tokens at random."""
    random = np.random.default_rng(seed)
    logits = random.normal(0, 4, (*places, WIDTH)).astype(np.float32)
    allowed = random.random((*places, WIDTH)) < 0.3
    ids = random.integers(0, WIDTH, places)
    np.put_along_axis(allowed, ids[..., None], True, -1)
    padded = np.concatenate([allowed, random.random((*places, -WIDTH % 32)) < 0.5], -1)
    bits = np.packbits(padded, axis=-1, bitorder="little").view(np.int32)
    return logits, bits, ids, allowed


def by_hand(logits, ids, allowed, temperature=1.0):
    """The definition, token by token."""
    found = []
    for row, token, may in zip(
        logits.reshape(-1, WIDTH).tolist(), ids.ravel(), allowed.reshape(-1, WIDTH), strict=True
    ):
        weights = [math.exp(value / temperature) if one else 0.0 for value, one in zip(row, may, strict=True)]
        found.append(math.log(weights[token] / math.fsum(weights)))
    return np.array(found).reshape(ids.shape)


@pytest.mark.parametrize("places", [(1,), (9,), (3, 5)], ids=str)
@pytest.mark.parametrize("temperature", [1.0, 0.7])
@pytest.mark.parametrize(("dtype", "within"), [("float64", 1e-12), ("float32", 1e-4), ("float16", 2e-2)])
def test_arrays(places, temperature, dtype, within):
    logits, bits, ids, allowed = rollout(1, *places)
    given = logits.astype(dtype)
    found = masked_logprobs(given, bits, ids, temperature=temperature)
    assert found.shape == places and found.dtype == ("float64" if dtype == "float64" else "float32")
    assert np.allclose(found, by_hand(logits, ids, allowed, temperature), atol=within)
    assert np.array_equal(given, logits.astype(dtype))
    assert np.array_equal(masked_logprobs(given, bits, ids.tolist(), temperature=temperature), found)


@pytest.mark.parametrize("places", [(9,), (3, 5)], ids=str)
@pytest.mark.parametrize(("dtype", "within"), [("float64", 1e-12), ("float32", 1e-4), ("bfloat16", 0.2)])
def test_tensors_keep_their_gradient(places, dtype, within):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    logits, bits, ids, allowed = rollout(2, *places)
    given = torch.tensor(logits, dtype=getattr(torch, dtype), requires_grad=True)
    found = masked_logprobs(given, bits, torch.tensor(ids), temperature=0.7)
    assert torch.allclose(found.double(), torch.tensor(by_hand(logits, ids, allowed, 0.7)), atol=within)
    assert torch.equal(masked_logprobs(given, torch.tensor(bits), ids.tolist(), temperature=0.7), found)
    found.sum().backward()
    # The gradient of log-softmax: one at the token, minus the probabilities of what is allowed.
    masked = torch.where(torch.tensor(allowed), given.detach().double() / 0.7, -math.inf)
    right = (torch.nn.functional.one_hot(torch.tensor(ids), WIDTH) - masked.softmax(-1)) / 0.7
    assert torch.allclose(given.grad.double(), right, atol=within)
    assert (given.grad[~torch.tensor(allowed)] == 0).all()


def test_the_masks_of_a_whole_output(byte_vocabulary):
    index = interlock.Index.from_regex("it is [0-9]{1,2}", byte_vocabulary)
    ids = [*b"it is 42", *byte_vocabulary.eos_token_ids]
    bits = interlock.allocate_bitmask(len(ids) + 1, byte_vocabulary)
    assert index.guide().fill_draft_bitmasks(ids, bits) == len(ids)
    logits = np.zeros((len(ids), byte_vocabulary.size), np.float32)
    found = masked_logprobs(logits, bits[: len(ids)], ids)
    # A digit of ten, then a digit of ten or the end. Everything else is forced.
    assert np.allclose(found, [0] * 6 + [math.log(1 / 10), math.log(1 / 11), 0], atol=1e-6)
    with pytest.raises(ArgumentError, match="leave the last of both out"):
        masked_logprobs(logits, bits, ids)
    wrong = [*ids[:3], ord("x"), *ids[4:]]
    with pytest.raises(ArgumentError, match=r"the mask at \[3\] forbids its token, 120: these are not the masks"):
        masked_logprobs(logits, bits[: len(ids)], wrong)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"ids": [0, 1, WIDTH]}, ArgumentError, r"ids\[2\] is 77, and the logits have 77 columns"),
        ({"ids": [0, -100, 0]}, ArgumentError, r"ids\[1\] is -100"),
        ({"ids": [0, 1]}, ArgumentError, r"shape \(3, 77\), bits \(3, 3\), and ids \(2,\)"),
        ({"ids": [[0], [1, 2]]}, ArgumentError, "lists of one length"),
        ({"ids": [0.5, 1, 2]}, TypeError, "ids must be whole numbers, not float64"),
        ({"logits": np.zeros(WIDTH, np.float32)}, ArgumentError, "a place for each token"),
        ({"logits": np.zeros((3, WIDTH), np.int32)}, ArgumentError, "must be floating-point numbers, not int32"),
        ({"bits": np.zeros((3, 1), np.int32)}, ArgumentError, "and bits has 1"),
        ({"temperature": 0}, ArgumentError, "temperature must be above 0"),
        ({"temperature": math.nan}, ArgumentError, "temperature must be above 0"),
        ({"temperature": True}, TypeError, "temperature must be a number, not bool"),
    ],
    ids=str,
)
def test_errors(change, error, message):
    logits, bits, _, _ = rollout(3, 3)
    good = {"logits": logits, "bits": np.full_like(bits, -1), "ids": [0, 1, 2]}
    masked_logprobs(**good)
    with pytest.raises(error, match=message):
        masked_logprobs(**good | change)


def test_an_empty_output():
    assert masked_logprobs(np.zeros((0, 4), np.float32), np.zeros((0, 1), np.int32), []).shape == (0,)
