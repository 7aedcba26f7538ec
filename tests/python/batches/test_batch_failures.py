"""One guide of a batch that cannot go on: the error names its number, and the others are not held up."""

from __future__ import annotations

import json

import numpy as np
import pytest

import interlock
from interlock._core import _RowSlots

pytestmark = pytest.mark.usefixtures("compiled_anew")

DAMAGED = r"^guide 2 of the batch: the stored index is damaged"


@pytest.fixture
def torn(byte_vocabulary, tmp_path, monkeypatch):
    """A guide of an index file whose tables and source do not belong together, where its tables end."""

    def index(pattern):
        return interlock.Index.from_regex(pattern, byte_vocabulary, limits={"max_flat_states": 20})

    recipe = index("[ac]{200}")._recipe()
    with monkeypatch.context() as patched:
        patched.setattr(json, "dumps", lambda *_, **__: recipe)
        index("[ab]{200}").save(tmp_path / "torn.index", tables=True)
    guide = interlock.Index.load(tmp_path / "torn.index", byte_vocabulary).guide()
    for _ in range(47):
        guide.advance(ord("a"))
    return guide


def test_advance_each(byte_vocabulary, torn):
    others = [interlock.Index.from_choices(["yes", "no"], byte_vocabulary).guide() for _ in range(3)]
    batch = [others[0], None, torn, others[1], others[2]]
    with pytest.raises(interlock.ArtifactError, match=DAMAGED) as caught:
        interlock.advance_each(batch, [ord(c) for c in "y?axn"])
    assert caught.value.batch_index == 2
    # The others were stepped, those behind it too.
    assert [guide.tokens for guide in others] == [[ord("y")], [], [ord("n")]]
    assert (caught.value.batch_others, caught.value.batch_outcomes) == ((), b"\1\1\0\0\1")
    assert (torn.tokens, torn.num_tokens, torn.is_terminated) == ([ord("a")] * 47, 47, False)
    assert repr(torn).endswith(", failed>")
    with pytest.raises(interlock.ArtifactError, match=DAMAGED):
        interlock.advance_each(batch, [ord(c) for c in "e?ano"])
    # That of a guide which has failed before stops nobody either.
    assert [guide.tokens for guide in others] == [list(b"ye"), [ord("n")], list(b"no")]


STATES = "((((.?a){0,300}.?){0,300}b?){0,300}.?){0,300}"
"""A pattern whose guides fail at a token: the states behind one take too much memory."""


def test_several_guides_fail_at_one_step(byte_vocabulary):
    index = interlock.Index.from_regex(STATES, byte_vocabulary, limits={"max_state_bytes": 1 << 20})
    hostile, other = [index.guide() for _ in range(3)], interlock.Index.from_regex("[ab]*", byte_vocabulary).guide()
    guides, errors = [hostile[0], other, *hostile[1:], None], []
    for step in range(60):
        try:
            interlock.advance_each(guides, [ord("ab"[step % 2])] * 5)
        except interlock.LimitError as error:
            errors = [error, *error.batch_others]
            assert len(error.batch_outcomes) == 5 and error.batch_outcomes[1] == error.batch_outcomes[4] == 1
            assert all(error.batch_outcomes[one.batch_index] == 0 for one in errors)
            break
    assert len(errors) >= 2 and all(isinstance(error, interlock.LimitError) for error in errors)
    assert other.num_tokens == step + 1
    for error in errors:
        guide = guides[error.batch_index]
        assert guide.num_tokens == len(guide.tokens) == step and guide.tokens == other.tokens[:step]
        assert str(error).startswith(f"guide {error.batch_index} of the batch: ")
        with pytest.raises(interlock.LimitError):
            guide.advance(97)
    with pytest.raises(interlock.LimitError) as caught:
        interlock.fill_bitmasks(guides, interlock.allocate_bitmask(5, byte_vocabulary))
    assert (caught.value.batch_index, caught.value.batch_outcomes) == (errors[0].batch_index, None)


def test_a_guide_that_fails_ahead_keeps_the_tokens_that_it_took(byte_vocabulary):
    index = interlock.Index.from_regex(STATES, byte_vocabulary, limits={"max_state_bytes": 1 << 20})
    bits = interlock.allocate_bitmask(81, byte_vocabulary)
    for look in (lambda guide, ids: guide.validate(ids), lambda guide, ids: guide.fill_draft_bitmasks(ids, bits)):
        guide = index.guide()
        assert guide.advance_many(b"abab") == 4
        with pytest.raises(interlock.LimitError):
            look(guide, list(b"ab" * 40))
        assert bytes(guide.tokens) == b"abab" and guide.num_tokens == 4


def test_masks(byte_vocabulary, torn):
    other = interlock.Index.from_choices(["yes", "no"], byte_vocabulary).guide()
    with pytest.raises(interlock.ArtifactError, match="^the stored index is damaged"):
        torn.advance(ord("a"))
    with pytest.raises(interlock.ArtifactError, match=DAMAGED) as caught:
        interlock.fill_bitmasks([other, None, torn], np.zeros((3, 10), np.int32))
    assert caught.value.batch_index == 2
    with pytest.raises(
        interlock.GuideBusyError, match="^guide 1 of the batch is guide 0 again: each row takes a fork"
    ) as caught:
        interlock.fill_bitmasks([other, other], np.zeros((2, 10), np.int32))
    assert caught.value.batch_index == 1
    assert interlock.ArgumentError("of no batch").batch_index is None


def test_rows_that_are_too_narrow_for_one_guide(byte_vocabulary):
    narrow = interlock.Vocabulary([bytes([i]) for i in range(100)] + [b""], eos_token_ids=[100])
    batch = [interlock.Index.from_choices(["ACE"], narrow).guide(), None]
    batch.append(interlock.Index.from_choices(["yes"], byte_vocabulary).guide())
    bits = np.zeros((3, 4), np.int32)
    for fill in (interlock.fill_bitmasks, _RowSlots(4).fill):
        with pytest.raises(interlock.ArgumentError, match="the vocabulary of guide 2") as caught:
            fill(batch, bits)
        assert caught.value.batch_index == 2
        assert not bits.any()


@pytest.mark.parametrize("size", [256, 258])
def test_guides_of_two_vocabularies(byte_vocabulary, size):
    tokens = [bytes([i]) for i in range(256)] + [b""] * (size - 256)
    other = interlock.Vocabulary(tokens, eos_token_ids=[size - 1])
    again = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256], size=300)
    assert again.fingerprint == byte_vocabulary.fingerprint
    first, second = (interlock.Index.from_choices(["yes"], one).guide() for one in (byte_vocabulary, again))
    stranger = interlock.Index.from_choices(["yes"], other).guide()
    bits = np.zeros((4, 10), np.int32)
    for fill in (interlock.fill_bitmasks, _RowSlots(4).fill):
        said = "^guide 3 of the batch: its vocabulary is another one than that of guide 1"
        with pytest.raises(interlock.ArgumentError, match=said) as caught:
            fill([None, first, second, stranger], bits)
        assert caught.value.batch_index == 3
        assert not bits.any()
        fill([None, first, second], bits)  # Equal vocabularies are one, and nothing was left locked.
        assert bits.any()
        bits[:] = 0


def test_rows_of_a_device(byte_vocabulary, torn):
    other = interlock.Index.from_choices(["yes", "no"], byte_vocabulary).guide()
    with pytest.raises(interlock.ArtifactError):
        torn.advance(ord("a"))
    with pytest.raises(interlock.ArtifactError, match=DAMAGED):
        _RowSlots(4).fill([other, None, torn], np.zeros((3, 10), np.int32))
