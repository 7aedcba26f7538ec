"""Questions about what an index accepts."""

import math
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
