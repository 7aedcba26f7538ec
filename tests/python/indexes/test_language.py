"""Questions about what an index accepts."""

import math
import pickle
import re

import pytest

import interlock


@pytest.fixture
def index(byte_vocabulary):
    return lambda pattern: interlock.Index.from_regex(pattern, byte_vocabulary)


def test_size(index):
    assert index("[ab]{0,2}").language_size() == 7
    assert index("[ab]{100}").language_size() == 2**100
    assert index("a*").language_size() == math.inf


def test_members(index):
    pattern = "(foo|ba[rz]){1,3}x?"
    assert index(pattern).shortest_member() == b"bar"
    members = {index(pattern).random_member(seed=seed) for seed in range(20)}
    assert len(members) > 5
    assert all(re.fullmatch(pattern, member.decode()) for member in members)
    assert index(pattern).random_member(seed=3) == index(pattern).random_member(seed=3)


def test_comparison(index):
    small, big = index("[ab]{3}"), index("[a-c]{2,4}")
    assert small.is_subset_of(big) and not big.is_subset_of(small)
    assert small.witness_not_in(big) is None
    assert big.witness_not_in(small) == b"aa"
    assert small.witness_in_both(big) == b"aaa"
    assert index("a|b").witness_in_both(index("c")) is None
    assert index("(a|b)*").is_equivalent_to(index("(a*b*)*"))


def test_automaton(index):
    automaton = index("a[bc]").automaton()
    assert automaton.start == 0
    assert automaton.accepting == [False, False, True]
    assert automaton.edges == [(0, 1, [(97, 97)]), (1, 2, [(98, 99)])]
    with pytest.raises(interlock.LimitError):
        index("a{50}").automaton(max_states=10)


def test_recursion_is_refused(byte_vocabulary):
    schema, limits = {"type": "array", "items": {"$ref": "#"}}, {"max_flat_states": 500}
    recursive = interlock.Index.from_json_schema(schema, byte_vocabulary, limits=limits)
    with pytest.raises(interlock.LimitError):
        recursive.language_size()
    assert recursive.shortest_member() == b"[]"


def _served(byte_vocabulary):
    """Indexes as servers have them, which have no random member or a short one alone."""
    ascii_alone = interlock.Vocabulary([bytes([i]) for i in range(128)] + [b""], eos_token_ids=[128])
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}
    yield interlock.Index.from_response_format({"type": "json_object"}, byte_vocabulary)
    yield interlock.Index.from_json_schema({"type": "string"}, ascii_alone)
    yield interlock.Index.from_grammar('start: "(" start ")" | "a"', byte_vocabulary)
    yield interlock.Index.from_tools([tool], byte_vocabulary, format="hermes", tool_choice="required")
    yield interlock.Index.from_regex("a{150}b*", byte_vocabulary)


def test_samples_of_what_servers_serve(byte_vocabulary):
    for index in _served(byte_vocabulary):
        drawn = [index.sample(seed) for seed in range(8)]
        assert drawn == [index.sample(seed) for seed in range(8)]
        for tokens in drawn:
            assert len(tokens) <= 200
            guide = index.guide()
            assert guide.advance_many(tokens) == len(tokens) and guide.is_accepting
        assert index.kind == "regex" or len(set(map(tuple, drawn))) > 1
    assert len(index.sample(max_tokens=151)) in (150, 151)


def test_a_sample_ends_within_its_tokens(byte_vocabulary):
    index = interlock.Index.from_grammar('start: "(" start ")" | "a"', byte_vocabulary)
    for most in range(1, 12):
        assert all(len(index.sample(seed, max_tokens=most)) <= most for seed in range(10))
    with pytest.raises(interlock.BudgetError) as caught:
        index.sample(max_tokens=0)
    assert not caught.value.is_client_error
    with pytest.raises(interlock.ArgumentError, match="max_tokens cannot be negative"):
        index.sample(max_tokens=-1)
    with pytest.raises(interlock.CancelledError, match="deadline"):
        index.sample(cancel=interlock.CancelToken.after(0))


def test_a_question_without_an_answer_is_no_fault_of_a_client(byte_vocabulary):
    object_, ascii_alone, grammar, tools, long = _served(byte_vocabulary)
    for index in (ascii_alone, grammar, tools):
        with pytest.raises(interlock.UnsupportedError, match=r"; Index\.sample\(\) draws from every index") as caught:
            index.random_member()
        assert interlock.refusal(caught.value).status == 500
        assert not pickle.loads(pickle.dumps(caught.value)).is_client_error
        for ask in (index.language_size, index.shortest_member, index.automaton, lambda i=index: i.is_subset_of(i)):
            with pytest.raises(interlock.InterlockError) as caught:
                ask()
            assert interlock.refusal(caught.value).status == 500
    with pytest.raises(interlock.LimitError, match=r"Limits\.max_flat_states sets it") as caught:
        object_.language_size()
    assert interlock.refusal(caught.value).status == 500
    limited = interlock.Index.from_json_schema({"type": "object"}, byte_vocabulary, limits={"max_flat_states": 9})
    with pytest.raises(interlock.LimitError, match=r"max_flat_states sets it; Index\.sample\(\) draws") as caught:
        limited.random_member(seed=1)
    assert caught.value.limit and caught.value.field == "max_flat_states"
    with pytest.raises(interlock.UnsatisfiableError, match="more than 100; give a larger max_bytes") as caught:
        long.random_member(max_bytes=100)
    assert interlock.refusal(caught.value).status == 500
