"""Log-probabilities of a call of transformers: those that the masked logits of each token give."""

from __future__ import annotations

import re

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed: make test-torch")
pytest.importorskip("transformers", reason="transformers is not installed: make test-torch")

import torch  # noqa: E402
from tiny_models import tiny_model, tiny_tokenizer  # noqa: E402

import interlock  # noqa: E402

PROMPTS = ["Say it.", "Which side is it, and why?"]
PATTERN = re.compile("(left|right)[a-z]{2,4}")


@pytest.fixture(scope="module")
def gen():
    tokenizer = tiny_tokenizer()
    return interlock.from_transformers(tiny_model(tokenizer), tokenizer)


def expected(gen, prompt, ids):
    """What ``masked_logprobs`` makes of the model's logits over the whole text."""
    asked = gen.encode(prompt)
    with torch.no_grad():
        logits = gen.model(torch.tensor([[*asked, *ids]])).logits[0, len(asked) - 1 : -1].float()
    guide = gen.index(PATTERN).guide()
    bits = interlock.allocate_bitmask(len(ids), gen.vocabulary)
    for row, token in enumerate(ids):
        guide.fill_bitmask(bits[row : row + 1])
        guide.advance(token)
    return interlock.masked_logprobs(logits, torch.from_numpy(bits), ids)


@pytest.mark.parametrize("options", [{}, {"temperature": 1.7, "seed": 4}])
def test_each_token_has_its_log_probability_under_its_mask(gen, options):
    for prompt, found in zip(PROMPTS, gen(PROMPTS, PATTERN, max_tokens=20, details=True, logprobs=True, **options)):
        assert len(found.logprobs) == len(found.token_ids) == found.completion_tokens
        made = np.array(found.logprobs)
        sampled = made != 0
        assert sampled.any() and (made <= 0).all()
        wanted = expected(gen, prompt, found.token_ids).numpy()
        assert np.allclose(made[sampled], wanted[sampled], atol=1e-3), (made, wanted)


def test_they_are_asked_for_by_name(gen):
    assert gen("Say it.", PATTERN, details=True).logprobs is None
    with pytest.raises(TypeError, match="logprobs"):
        gen("Say it.", PATTERN, details=True, logprobs=3)
    with pytest.raises(interlock.ArgumentError, match="logprobs needs jump-forward"):
        gen("Say it.", PATTERN, details=True, logprobs=True, num_beams=2)
    with pytest.raises(interlock.ArgumentError, match="logprobs belongs to a call with details=True"):
        gen.trace("Say it.", PATTERN, logprobs=True)
