"""``Vocabulary.knows_tokenizer``: whether text can be forced as the tokenizer's own tokens."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import interlock
from interlock.explain import byte_vocabulary

PATTERN = '\\{"name":"[a-z]+"\\}'


def trained(pre_tokenizer: Any) -> interlock.Vocabulary:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token=None))
    tokenizer.pre_tokenizer = pre_tokenizer(tokenizers.pre_tokenizers)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300,
        show_progress=False,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["</s>"],
    )
    tokenizer.train_from_iterator(['{"name":"a name"}'] * 9, trainer)
    return interlock.Vocabulary.from_tokenizer(tokenizer, eos_token_ids=[0])


def test_a_tokenizer_of_a_known_kind(tmp_path):
    known = trained(lambda pre: pre.ByteLevel(add_prefix_space=False))
    path = tmp_path / "vocabulary.ilk"
    known.save(path)
    for vocabulary in (known, interlock.Vocabulary.load(path), pickle.loads(pickle.dumps(known))):
        assert vocabulary.knows_tokenizer and "unknown" not in repr(vocabulary)
        assert interlock.Index.from_regex(PATTERN, vocabulary).guide().forced_tokens()


def test_a_tokenizer_of_another_kind_and_none(tmp_path):
    other = trained(lambda pre: pre.Sequence([pre.Punctuation("contiguous"), pre.ByteLevel(use_regex=False)]))
    for vocabulary in (other, byte_vocabulary(), pickle.loads(pickle.dumps(byte_vocabulary()))):
        assert not vocabulary.knows_tokenizer and ", tokenizer unknown, fingerprint " in repr(vocabulary)
        guide = interlock.Index.from_regex(PATTERN, vocabulary).guide()
        # What is certain is known all the same, and can be drafted.
        assert guide.forced_tokens() == [] and guide.forced_text() == '{"name":"'
        assert vocabulary.decode(guide.forced_tokens(canonical=False)) == b'{"name":"'


def test_a_special_token_is_forced_with_every_vocabulary():
    vocabulary = interlock.Vocabulary([*(bytes([i]) for i in range(256)), b"<call>", b""], 257, [256])
    guide = interlock.Index.from_grammar('start: <call> "a"', vocabulary).guide()
    assert not vocabulary.knows_tokenizer and guide.forced_tokens() == [256]
