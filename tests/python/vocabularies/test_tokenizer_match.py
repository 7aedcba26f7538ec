"""A tokenizer that is not the model's is told of before anything is written."""

from __future__ import annotations

import warnings

import pytest

import interlock
from interlock.generators.call_arguments.tokenizer_match import check_tokenizer


class Tokenizer:
    """As much of one of transformers as is looked at: the last token is special, the others are single letters."""

    def __init__(self, count):
        self.count = count
        self.all_special_ids = [count - 1]
        self.added_tokens_decoder = {count - 2: "<|turn|>"}

    def __len__(self):
        return self.count

    def decode(self, ids):
        return '"'


@pytest.mark.parametrize(
    ("count", "size", "eos"),
    [
        (300, 300, [299]),
        (300, 384, [298, 299]),
        (200_019, 201_088, [200_018]),
        (151_665, 152_064, []),
    ],
)
def test_padded_logits_are_no_mistake(count, size, eos):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_tokenizer(Tokenizer(count), size, eos)


@pytest.mark.parametrize(
    ("count", "size", "eos", "said"),
    [
        (50_257, 49_152, [50_256], r"does not belong.* it has 50,257 tokens, and the model scores 49,152\."),
        (286, 49_152, [2], "scores 49,152; the model stops at the token 2, which is '\"' in this tokenizer"),
        (286, 49_152, [40_000], "stops at the token 40000, which is no token in this tokenizer"),
    ],
)
def test_a_tokenizer_that_cannot_be_the_models(count, size, eos, said):
    with pytest.raises(interlock.ArgumentError, match=said):
        check_tokenizer(Tokenizer(count), size, eos)


@pytest.mark.parametrize(
    ("count", "size", "eos", "said"),
    [
        (
            32_000,
            49_152,
            [31_999],
            r"may not belong to this model: it has 32,000 tokens, and the model scores 49,152\.",
        ),
        (
            300,
            384,
            [2],
            r"""may not belong to this model: the model stops at the token 2, which is '"'.*eos_token_id""",
        ),
    ],
)
def test_a_tokenizer_that_hardly_is_the_models_warns(count, size, eos, said):
    with pytest.warns(UserWarning, match=said):
        check_tokenizer(Tokenizer(count), size, eos)


def test_a_generator_of_transformers_looks():
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from tiny_models import tiny_model, tiny_tokenizer

    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer)
    interlock.from_transformers(model, tokenizer)
    tokenizer.add_tokens([f"<more-{i}>" for i in range(99)])
    with pytest.raises(interlock.ArgumentError, match="does not belong.*376 tokens, and the model scores 320"):
        interlock.from_transformers(model, tokenizer)
