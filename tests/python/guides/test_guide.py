"""The guide's verbs, through the binding."""

import copy

import numpy as np
import pytest

import interlock

EOS = 256


@pytest.fixture
def guide(byte_vocabulary):
    return interlock.Index.from_choices(["yes", "yesterday", "no"], byte_vocabulary).guide()


def test_predicates(guide):
    assert not guide.is_accepting and not guide.must_stop and not guide.is_terminated and guide.num_tokens == 0
    assert guide.advance_many(b"yes") == 3
    assert guide.is_accepting and not guide.must_stop
    guide.advance_many(b"terday")
    assert guide.is_accepting and guide.must_stop and not guide.is_terminated
    guide.advance(EOS)
    assert guide.is_terminated and guide.num_tokens == 10 and guide.tokens == [*b"yesterday", EOS]
    assert not guide.try_advance(EOS) and not guide.try_advance(ord("y"))
    guide.rollback(1)
    assert not guide.is_terminated and guide.must_stop


def test_stop_tokens_are_allowed_exactly_where_accepting(guide):
    for n in range(10):
        assert (EOS in guide.allowed_token_ids()) == guide.is_accepting == (n in (3, 9))
        if n < 9:
            guide.advance(b"yesterday"[n])


@pytest.mark.parametrize("bad", [ord("x"), 0, 255, 299, 300, -1, 2**31, 2**32, 2**64, -(2**80), np.int64(5)])
def test_refused_tokens_change_nothing(guide, bad):
    guide.advance(ord("y"))
    before = guide.state
    with pytest.raises(interlock.TokenRejected):
        guide.advance(bad)
    assert guide.try_advance(bad) is False
    assert guide.advance_many([bad, ord("e")]) == 0
    assert guide.validate([ord("e"), bad]) == 1
    assert guide.state == before and guide.num_tokens == 1
    assert isinstance(guide.explain(bad), str)


@pytest.mark.parametrize("make", [list, tuple, np.array, lambda ids: np.array(ids, np.int32), iter])
def test_id_sequences(guide, make):
    assert guide.validate(make([*b"yesX"])) == 3
    assert guide.num_tokens == 0
    assert guide.advance_many(make([*b"noX"])) == 2
    assert guide.tokens == [*b"no"]


@pytest.mark.parametrize("bad", ["y", 1.0, None, b"y"])
def test_wrong_types_are_type_errors(guide, bad):
    with pytest.raises(TypeError, match="id must be an int, not "):
        guide.advance(bad)
    assert guide.num_tokens == 0


def test_rollback_and_reset(guide):
    guide.advance_many(b"yest")
    guide.rollback(0)
    guide.rollback(1)
    assert guide.tokens == [*b"yes"]
    for n in (4, -1, 2**70):
        with pytest.raises(interlock.ArgumentError, match="cannot roll back"):
            guide.rollback(n)
    assert guide.tokens == [*b"yes"]
    guide.reset()
    assert guide.num_tokens == 0 and guide.tokens == []
    with pytest.raises(interlock.ArgumentError, match="cannot roll back 1 token: the guide has taken 0"):
        guide.rollback(1)


@pytest.mark.parametrize("copier", [interlock.Guide.fork, copy.copy, copy.deepcopy])
def test_fork(guide, copier):
    guide.advance(ord("y"))
    other = copier(guide)
    other.advance(ord("e"))
    assert guide.tokens == [*b"y"] and other.tokens == [*b"ye"]
    other.rollback(2)
    assert other.try_advance(ord("n")) and guide.num_tokens == 1


def test_state_is_hashable(byte_vocabulary, guide):
    other = guide.fork()
    assert guide.state == other.state and hash(guide.state) == hash(other.state)
    other.advance(ord("y"))
    assert guide.state != other.state
    other.rollback(1)
    assert guide.state == other.state
    unrelated = interlock.Index.from_choices(["a"], byte_vocabulary).guide()
    assert unrelated.state != guide.state


def test_allowed_token_ids(guide):
    ids = guide.allowed_token_ids()
    assert isinstance(ids, np.ndarray) and ids.dtype == np.int32
    assert ids.tolist() == sorted(b"yn")


def test_forced(byte_vocabulary):
    guide = interlock.Index.from_choices(["aé", "aè"], byte_vocabulary).guide()
    assert guide.forced_bytes() == "aé".encode()[:2]
    assert guide.forced_text() == "a"
    single = interlock.Index.from_choices(["héllo"], byte_vocabulary).guide()
    assert single.forced_bytes() == "héllo".encode() and single.forced_text() == "héllo"
    single.advance_many(single.forced_bytes())
    assert single.must_stop and single.forced_bytes() == b""


def test_special_tokens_never_spell_text(word_vocabulary):
    guide = interlock.Index.from_choices(["<s>yes"], word_vocabulary).guide()
    allowed = guide.allowed_token_ids().tolist()
    assert allowed == [ord("<")]


def test_several_stop_tokens(word_vocabulary):
    index = interlock.Index.from_choices(["no"], word_vocabulary)
    stops = word_vocabulary.eos_token_ids
    assert len(stops) == 2
    for stop in stops:
        guide = index.guide()
        guide.advance_many(b"no")
        assert guide.allowed_token_ids().tolist() == stops
        guide.advance(stop)
        assert guide.is_terminated


def test_stop_tokens_of_a_request(byte_vocabulary):
    guide = interlock.Index.from_choices(["no"], byte_vocabulary).guide(stop_token_ids=[299])
    guide.advance_many(b"no")
    assert guide.allowed_token_ids().tolist() == [299]
    assert not guide.try_advance(EOS)
    guide.advance(299)
    assert guide.is_terminated
    for bad in ([300], [-1]):
        with pytest.raises(interlock.ArgumentError, match=f"stop token id {bad[0]} is out of range"):
            interlock.Index.from_choices(["no"], byte_vocabulary).guide(stop_token_ids=bad)


def test_draft_masks(guide, byte_vocabulary):
    drafts = [*b"yes"]
    expected = interlock.allocate_bitmask(4, byte_vocabulary)
    for i in range(4):
        walker = guide.fork()
        walker.advance_many(drafts[:i])
        walker.fill_bitmask(expected, i)
    for width in (10, 12):
        bits = np.full((6, width), 7, np.int32)
        assert guide.fill_draft_bitmasks(drafts, bits, row=1) == 3
        assert (bits[1:5, :10] == expected).all() and (bits[1:5, 10:] == 0).all()
        assert (bits[[0, 5]] == 7).all()
    assert guide.num_tokens == 0


def test_rows_after_a_refused_draft_are_all_ones(guide, byte_vocabulary):
    for drafts in ([ord("y"), ord("x"), ord("s")], [ord("y"), -1, ord("s")]):
        bits = np.zeros((4, 12), np.int32)
        assert guide.fill_draft_bitmasks(drafts, bits) == 1
        assert (bits[2:] == -1).all()
        assert (bits[:2, 10:] == 0).all() and not (bits[:2, :10] == -1).any()
    with pytest.raises(interlock.ArgumentError):
        guide.fill_draft_bitmasks([ord("y")], np.zeros((1, 10), np.int32))


def test_repr(guide, byte_vocabulary):
    assert repr(guide) == '<interlock.Guide after 0 tokens, text "">'
    assert "257 tokens" in repr(byte_vocabulary)
    assert "choices" in repr(guide.index)


END, CALL = 257, 256
WITH_CALL = interlock.Vocabulary([*(bytes([i]) for i in range(256)), b"<call>", b"</s>"], END, [CALL])


def validated(guide, tokens):
    """The answer, which is that of ``advance_many`` of a fork. The guide stays where it is."""
    before = guide.tokens
    found = guide.validate(tokens)
    assert guide.fork().advance_many(tokens) == found and guide.tokens == before
    return found


@pytest.mark.parametrize(
    "tokens, number",
    [
        ([], 0),
        ([*b"ab"], 2),
        ([*b"ac"], 1),
        # A stop token counts where the output may end, and nothing behind it.
        ([*b"a", END], 2),
        ([*b"ab", END], 3),
        ([END], 0),
        ([*b"a", END, END], 2),
        ([*b"a", END, *b"b"], 2),
        # No text is a special token, and no special token is text.
        ([*b"a", CALL], 1),
        # What is no token counts nowhere.
        ([*b"a", -1], 1),
        ([*b"a", 999], 1),
        ([*b"a", 2**70], 1),
    ],
)
def test_validate_counts_stop_tokens(tokens, number):
    assert validated(interlock.Index.from_regex("ab?", WITH_CALL).guide(), tokens) == number


def test_validate_counts_special_tokens_where_the_source_names_them():
    guide = interlock.Index.from_grammar("start: <call> /[a-z<>]+/", WITH_CALL).guide()
    assert validated(guide, [CALL, *b"a<call>", END]) == 9
    assert validated(guide, [*b"<call>"]) == 0
    assert validated(guide, [CALL, CALL]) == 1


def test_validate_counts_nothing_behind_the_end():
    guide = interlock.Index.from_regex("ab?", WITH_CALL).guide()
    guide.advance_many([*b"a", END])
    assert [validated(guide, tokens) for tokens in ([], [*b"b"], [END])] == [0, 0, 0]


def test_validate_keeps_to_budgets():
    index = interlock.Index.from_regex("a*", WITH_CALL)
    assert validated(index.guide(min_tokens=2), [*b"a", END]) == 1
    assert validated(index.guide(max_tokens=2), [*b"aaa", END]) == 2
    assert validated(index.guide(stop_token_ids=[10]), [*b"a\n"]) == 2
    assert validated(index.guide(stop_token_ids=[10]), [*b"a", END]) == 1
