"""Mistakes of newcomers with llama.cpp and mlx-lm: each is an error that says what to do."""

from __future__ import annotations

import types

import numpy as np
import pytest
from test_llama_cpp_contract import Llama
from test_llama_cpp_contract import vocabulary as llama_vocabulary  # noqa: F401
from test_mlx_lm_contract import mlx  # noqa: F401

import interlock
from interlock.integrations import llama_cpp, mlx_lm


class Closable(Llama):
    """A model that can be closed, as llama-cpp-python keeps it: ``model`` is ``None`` then."""

    model = object()

    def close(self):
        self.model = None

    def create_chat_completion(self, messages, **options):
        raise AssertionError("nothing is asked")


class LlamaTokenizer:
    """Has the model's tokens alone."""


@pytest.fixture
def llama(llama_vocabulary):  # noqa: F811
    return Closable(llama_vocabulary)


@pytest.fixture
def index(llama_vocabulary):  # noqa: F811
    return interlock.Index.from_choices(["hi", "ho"], llama_vocabulary)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, r"a llama_cpp.Llama is needed, not NoneType: llama_cpp.Llama\('model.gguf'\)"),
        ("a.gguf", r"'a.gguf' is a name: llama_cpp.Llama\('a.gguf'\)"),
        (Closable, r"this is the class Closable: llama_cpp.Llama\('model.gguf'\)"),
        (LlamaTokenizer(), "not LlamaTokenizer: pass the Llama itself"),
    ],
)
def test_no_llama(index, given, said):
    for call in (
        lambda: llama_cpp.vocabulary_from_llama(given),
        lambda: llama_cpp.GuideLogitsProcessor(index, given),
    ):
        with pytest.raises(interlock.ArgumentError, match=said):
            call()


def test_a_closed_llama(llama, index):
    """llama.cpp itself would end the process."""
    pieces = llama_cpp.constrained(llama.create_completion, index, b"x", max_tokens=5, stream=True)
    llama.close()
    for call in (
        lambda: list(pieces),
        lambda: llama_cpp.vocabulary_from_llama(llama),
        lambda: llama_cpp.GuideLogitsProcessor(index, llama),
        lambda: llama_cpp.constrained(llama.create_completion, index, b"x", max_tokens=5),
    ):
        with pytest.raises(interlock.ArgumentError, match="was closed, .*: make another one"):
            call()


def test_calls_under_a_constraint(llama, index, byte_vocabulary):
    constrained = llama_cpp.constrained
    with pytest.raises(interlock.ArgumentError, match="create is llama.create_chat_completion, .*, not generate"):
        constrained(llama.generate, index, b"x")
    with pytest.raises(interlock.ArgumentError, match=r"messages, not a text: \[\{'role': 'user', 'content': 'x'"):
        constrained(llama.create_chat_completion, index, "x")
    with pytest.raises(interlock.ArgumentError, match="messages are for llama.create_chat_completion"):
        constrained(llama.create_completion, index, messages=[])
    with pytest.raises(TypeError, match="max_tokens must be an int or None, not str"):
        constrained(llama.create_completion, index, b"x", max_tokens="5")
    with pytest.raises(TypeError, match="budget must be True or False, not str"):
        constrained(llama.create_completion, index, b"x", budget="no")
    llama.n_vocab = lambda: 49_152
    with pytest.raises(interlock.ArgumentError, match=r"scores 49152 tokens, .* vocabulary_from_llama\(llama\)"):
        constrained(llama.create_completion, interlock.Index.from_choices(["hi"], byte_vocabulary), b"x")


def test_a_processor_that_stands_alone_is_a_list_of_one(llama, index, mlx, byte_vocabulary):  # noqa: F811
    """llama-cpp-python would print that it is no list, and sample without it."""
    alone = llama_cpp.GuideLogitsProcessor(index, llama, max_tokens=3)
    assert llama.create_completion(b"x", max_tokens=3, logits_processor=alone) in ("hi", "ho")
    assert not llama.swallowed
    processor = mlx_lm.GuideLogitsProcessor(interlock.Index.from_choices(["hi"], byte_vocabulary))
    assert list(processor) == [processor]


def test_mlx(mlx, byte_vocabulary):  # noqa: F811
    index = interlock.Index.from_choices(["hi"], byte_vocabulary)
    with pytest.raises(TypeError, match="max_tokens must be an int or None, not str"):
        mlx_lm.GuideLogitsProcessor(index, max_tokens="5")
    with pytest.raises(interlock.ArgumentError, match="scores 49152 tokens, and the index is for a vocabulary of 300"):
        mlx_lm.GuideLogitsProcessor(index)([1], np.zeros((1, 49_152), dtype=np.float32))
    with pytest.raises(interlock.VocabularyError, match="mlx_lm.load returns two objects"):
        mlx_lm.vocabulary_from_mlx((object(), object()))
    with pytest.raises(interlock.ArgumentError, match=r"from_mlx_lm\(\*mlx_lm.load\(folder\)\)"):
        interlock.from_mlx_lm((object(), object()))
    tokenizer = types.SimpleNamespace(eos_token_ids={256})
    for arguments, said in (
        ((None, [[1]], [index]), "the tokenizer that mlx_lm.load returned is needed, not NoneType"),
        ((tokenizer, "a", [index]), "lists of token ids, not texts"),
        ((tokenizer, ["a"], [index]), "lists of token ids, not texts"),
        ((tokenizer, [[1]], index), r"\[index\] \* len\(prompts\)"),
    ):
        with pytest.raises(interlock.ArgumentError, match=said):
            mlx_lm.constrained_batch(object(), *arguments)
