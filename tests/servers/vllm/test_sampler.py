"""vLLM's sampler for processors with drafts: the numbers of requests reach their drafts, and certain drafts hold."""

from types import SimpleNamespace

import pytest
import torch

from interlock.integrations.vllm.cpu_sampling import loses_numbers, repair, repeated

ENDS = torch.tensor([2, 2, 5], dtype=torch.int32)
"""The drafts of three requests end there: two, none and three."""


@pytest.fixture(scope="module")
def sampler():
    """vLLM's module, repaired if it needs it."""
    from vllm.platforms import current_platform
    from vllm.v1.sample import rejection_sampler

    # As vLLM's worker does before its model runner is made.
    current_platform.register_triton_kernel_overrides()
    original = rejection_sampler.expand_batch_to_tokens
    was_wrong = loses_numbers(original)
    assert repair(rejection_sampler) == was_wrong
    # What was repaired is not repaired again.
    assert not repair(rejection_sampler)
    yield rejection_sampler
    rejection_sampler.expand_batch_to_tokens = original


@pytest.mark.parametrize("numbers", [[0.8, 0.0, 1.3], [5, 7, 9]])
def test_numbers_are_repeated(sampler, numbers):
    given = torch.tensor(numbers)
    for expand in (repeated, sampler.expand_batch_to_tokens):
        found = expand(given, ENDS, 5)
        assert found.dtype == given.dtype and found.tolist() == given[[0, 0, 2, 2, 2]].tolist()


def test_greedy_temperatures_are_replaced(sampler):
    found = sampler.expand_batch_to_tokens(torch.tensor([0.0, 0.5, 0.25]), ENDS, 5, replace_from=0, replace_to=1)
    assert found.tolist() == [1.0, 1.0, 0.25, 0.25, 0.25]


def test_a_version_that_repeats_numbers_stays_as_it_is():
    def right(x, cu_num_tokens, num_tokens, replace_from=0, replace_to=0):
        return repeated(x, cu_num_tokens, num_tokens, replace_from, replace_to)

    module = SimpleNamespace(expand_batch_to_tokens=right)
    assert not repair(module) and module.expand_batch_to_tokens is right
    assert not repair(SimpleNamespace())


def sampled(sampler, logits, drafts):
    """What vLLM's sampler takes of one request's drafts at temperature 0.8; the token behind them is 0."""
    metadata = SimpleNamespace(
        all_greedy=False,
        all_random=True,
        temperature=torch.tensor([0.8]),
        top_k=None,
        top_p=torch.tensor([0.9]),
        generators={},
    )
    ends = torch.tensor([len(drafts)], dtype=torch.int32)
    ids = torch.tensor(drafts, dtype=torch.int32)
    prepared = sampler.apply_sampling_constraints(logits.clone(), ends, metadata)
    bonus = torch.zeros((1, 1), dtype=torch.int32)
    taken = sampler.rejection_sample(ids, [len(drafts)], len(drafts), ends, None, prepared, bonus, metadata)
    return taken[0].tolist()


def test_drafts_that_the_mask_makes_certain_hold(sampler):
    drafts = [7, 3, 90, 41]
    for _ in range(50):
        logits = torch.randn(4, 128)
        for at, token in enumerate(drafts):
            kept = logits[at, token].item()
            logits[at] = float("-inf")
            logits[at, token] = kept
        assert sampled(sampler, logits, drafts) == [*drafts, 0]


def test_drafts_hold_as_often_as_the_model_would_sample_them(sampler):
    """Two tokens are left, with the probabilities 0.75 and 0.25 at temperature 0.8 and nothing cut by top-p."""
    logits = torch.full((1, 16), float("-inf"))
    logits[0, 4], logits[0, 9] = 0.8 * float(torch.tensor(3.0).log()), 0.0
    torch.manual_seed(5)
    first = [sampled(sampler, logits, [4])[0] for _ in range(2000)]
    assert set(first) == {4, 9} and 0.71 < first.count(4) / 2000 < 0.79
