"""Pickling: by content, with shared vocabularies, and refused when damaged."""

import copy
import pickle

import pytest

import interlock

pytestmark = pytest.mark.usefixtures("compiled_anew")

EOS = 256


def test_vocabulary(word_vocabulary):
    again = pickle.loads(pickle.dumps(word_vocabulary))
    assert again == word_vocabulary and hash(again) == hash(word_vocabulary)
    assert again.fingerprint == word_vocabulary.fingerprint
    assert again.special_token_ids == word_vocabulary.special_token_ids
    assert [again.token_bytes(i) for i in range(again.size)] == [
        word_vocabulary.token_bytes(i) for i in range(word_vocabulary.size)
    ]


def test_damaged_vocabulary(word_vocabulary):
    restore, arguments = word_vocabulary.__reduce__()
    joined, lengths, eos, special, size, fingerprint, _ = arguments
    restore(*arguments)
    wrong = bytes([fingerprint[0] ^ 1]) + fingerprint[1:]
    for bad in (
        (joined, lengths, eos, special, size, wrong),
        (joined[:-1], lengths, eos, special, size, wrong),
        (joined, lengths[:-1], eos, special, size, wrong),
        (joined, b"\xff" * len(lengths), eos, special, size, wrong),
    ):
        with pytest.raises(interlock.ArtifactError):
            restore(*bad)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_index(byte_vocabulary, protocol):
    for index in (
        interlock.Index.from_choices(["yes", "no"], byte_vocabulary),
        interlock.Index.from_regex("abc", byte_vocabulary, flags="i", limits={"max_depth": 20}),
        interlock.Index.from_json_schema({"const": 1}, byte_vocabulary, documents={"http://example.org/x": True}),
    ):
        again = pickle.loads(pickle.dumps(index, protocol))
        assert again.fingerprint == index.fingerprint
        assert again.vocabulary == byte_vocabulary
        assert again.guide().allowed_token_ids().tolist() == index.guide().allowed_token_ids().tolist()
        assert copy.copy(index) is index and copy.deepcopy(index) is index


def test_guide(byte_vocabulary):
    index = interlock.Index.from_choices(["yes", "no"], byte_vocabulary)
    guide = index.guide(stop_token_ids=[298, 299])
    for step in [ord("n"), ord("o"), 299]:
        guide.advance(step)
        again = pickle.loads(pickle.dumps(guide))
        assert again.tokens == guide.tokens and again.state == guide.state
        assert again.is_terminated == guide.is_terminated
        assert again.allowed_token_ids().tolist() == guide.allowed_token_ids().tolist()
    again.rollback(1)
    assert again.allowed_token_ids().tolist() == [298, 299]


def test_a_budget_stays_exact(byte_vocabulary):
    tokens = [byte_vocabulary.token_bytes(i) for i in range(len(byte_vocabulary))]
    vocabulary = interlock.Vocabulary([*tokens, b"ab"], byte_vocabulary.eos_token_ids)
    index = interlock.Index.from_regex("[ab]{2}", vocabulary)
    index.build()
    guide = index.guide(max_tokens=1)
    guide.advance(len(tokens))
    again = pickle.loads(pickle.dumps(guide))
    assert again.tokens == guide.tokens and again.is_accepting
    again.reset()
    assert again.allowed_token_ids().tolist() == [len(tokens)]


def test_guides_share_their_index(byte_vocabulary):
    index = interlock.Index.from_choices(["yes", "no"], byte_vocabulary)
    first, second = pickle.loads(pickle.dumps([index.guide(), index.guide()]))
    assert first.index is second.index


def test_deepcopy_keeps_vocabularies(byte_vocabulary):
    assert copy.deepcopy(byte_vocabulary) is byte_vocabulary and copy.copy(byte_vocabulary) is byte_vocabulary


def test_rows_of_a_report(byte_vocabulary):
    schema = {"type": "string", "format": "hostname", "x-note": 1}
    index = interlock.Index.from_json_schema(schema, byte_vocabulary, on_unsupported="warn")
    assert index.report
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(index.report, protocol))
        assert again == index.report and [repr(row) for row in again] == [repr(row) for row in index.report]
    assert copy.deepcopy(index.report) == index.report
    row = index.report[0].__reduce__()
    with pytest.raises(interlock.ArtifactError, match="exact"):
        row[0]("", "", "exactly", "")
