"""Indexes without their vocabulary, and picklers that leave it out."""

from __future__ import annotations

import io
import pickle
from typing import Any

import pytest

import interlock


@pytest.fixture(scope="module")
def vocabulary() -> interlock.Vocabulary:
    return interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])


def indexes(vocabulary: interlock.Vocabulary) -> list[interlock.Index]:
    schema = {"type": "object", "properties": {"a": {"$ref": "urn:b"}}}
    return [
        interlock.Index.from_regex("a+", vocabulary, flags="i", limits={"max_depth": 99}),
        interlock.Index.from_choices(["yes", "no"], vocabulary),
        interlock.Index.from_json_schema(
            schema, vocabulary, whitespace="compact", spelling="plain", documents={"urn:b": {"type": "string"}}
        ),
    ]


def test_a_message_makes_the_index_again(vocabulary: interlock.Vocabulary) -> None:
    for index in indexes(vocabulary):
        message = pickle.dumps(interlock.without_vocabulary(index))
        assert len(message) < 1500 < len(pickle.dumps(index))
        detached = pickle.loads(message)
        assert detached == interlock.without_vocabulary(index) and hash(detached) == hash(pickle.loads(message))
        again = detached.attach(vocabulary)
        assert again == index and again.fingerprint == detached.fingerprint
        assert str(detached.fingerprint)[:16] in repr(detached)
    first, second, _ = indexes(vocabulary)
    assert interlock.without_vocabulary(first) != interlock.without_vocabulary(second)
    assert interlock.without_vocabulary(first) != 1


def test_another_vocabulary_is_refused(vocabulary: interlock.Vocabulary) -> None:
    other = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b"ab", b""], eos_token_ids=[257])
    with pytest.raises(interlock.VocabularyError, match="is for the vocabulary"):
        interlock.without_vocabulary(indexes(vocabulary)[0]).attach(other)


def test_a_pickler_may_name_the_vocabulary(vocabulary: interlock.Vocabulary) -> None:
    class Pickler(pickle.Pickler):
        def persistent_id(self, obj: Any) -> str | None:
            return obj.fingerprint if isinstance(obj, interlock.Vocabulary) else None

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, pid: Any) -> Any:
            assert pid == vocabulary.fingerprint
            return vocabulary

    index = indexes(vocabulary)[2]
    guide = index.guide(max_tokens=30, min_tokens=2)
    guide.advance_many(b'{"a":"x')
    out = io.BytesIO()
    Pickler(out).dump([index, guide])
    assert len(out.getvalue()) < 2500
    again, moved = Unpickler(io.BytesIO(out.getvalue())).load()
    assert again == index and moved.tokens == guide.tokens and moved.index.vocabulary is vocabulary
