"""``Guide.forced_tokens(within=…)``: the same tokens or none, and no longer than the call may take."""

import copy
import random

import pytest

import interlock
from interlock.explain import byte_vocabulary

VOCABULARY = byte_vocabulary()
WAIT = 60.0
"""Seconds after which a test has failed; nothing takes as long."""
PERSON = r'\{"name":"me","age":-?[0-9]\}'


def texts(seed: int) -> list[str]:
    """So many choices that a look for what is forced takes long. Each seed has others, which nobody has looked at."""
    draw = random.Random(seed)
    return ["q" + "".join(draw.choices("abcdefghijklmnop", k=30)) for _ in range(20_000)]


def test_what_is_late_is_found_by_the_next_call_at_the_same_place():
    index = interlock.Index.from_choices(texts(1), VOCABULARY)
    guide = index.guide(max_tokens=40)
    assert guide.forced_tokens(canonical=False, within=0) == []
    assert guide.num_tokens == 0
    fork, other = guide.fork(), copy.copy(guide)
    assert guide.forced_tokens(canonical=False, within=WAIT) == [ord("q")]
    assert guide.forced_tokens(canonical=False, within=0.5) == [ord("q")]
    for one in (fork, other, index.guide()):
        assert one.forced_tokens(canonical=False, within=WAIT) == [ord("q")] == one.forced_tokens(canonical=False)


def test_a_guide_that_has_gone_on_looks_where_it_is():
    sources = texts(2)
    guide = interlock.Index.from_choices(sources, VOCABULARY).guide()
    assert guide.forced_tokens(canonical=False, within=0) == []
    begin = sources[0].encode()[:-9]
    assert guide.advance_many(begin) == len(begin)
    # Another thread would begin for each call, if this one were not waited for.
    assert guide.forced_tokens(canonical=False, within=0) in ([], list(sources[0].encode()[-9:]))
    assert guide.forced_tokens(canonical=False, within=WAIT) == list(sources[0].encode()[-9:])
    guide.rollback(len(begin))
    assert guide.forced_tokens(canonical=False, within=WAIT) == [ord("q")]


def test_a_late_guide_may_be_used_as_ever():
    sources = texts(3)
    index = interlock.Index.from_choices(sources, VOCABULARY)
    guide, twin = index.guide(), index.guide()
    rng = random.Random(0)
    while not guide.is_terminated:
        assert guide.forced_tokens(canonical=False, within=0) in ([], twin.forced_tokens(canonical=False))
        allowed = guide.allowed_token_ids().tolist()
        assert allowed == twin.allowed_token_ids().tolist()
        token = rng.choice(allowed)
        guide.advance(token)
        twin.advance(token)
    assert guide.forced_tokens(canonical=False, within=WAIT) == [] and guide.tokens == twin.tokens


@pytest.mark.parametrize("canonical", [True, False])
@pytest.mark.parametrize("options", [{}, {"max_tokens": 40}])
def test_in_time_it_is_the_same(canonical, options):
    index = interlock.Index.from_regex(PERSON, VOCABULARY)
    guide, twin = index.guide(**options), index.guide(**options)
    draft = list(b'{"name":"me","age":4')
    assert guide.forced_tokens(draft, canonical, WAIT) == twin.forced_tokens(draft, canonical)
    assert guide.forced_tokens(list(b"x"), canonical=canonical, within=WAIT) == []
    for token in b'{"name":"me","age":4}':
        assert guide.forced_tokens(canonical=canonical, within=WAIT) == twin.forced_tokens(canonical=canonical)
        assert guide.forced_tokens(canonical=canonical, within=None) == twin.forced_tokens(canonical=canonical)
        guide.advance(token)
        twin.advance(token)
    assert guide.tokens == twin.tokens and guide.is_accepting


def test_other_drafts_are_other_questions():
    guide = interlock.Index.from_choices(texts(4), VOCABULARY).guide()
    assert guide.forced_tokens(canonical=False, within=0) == []
    assert guide.forced_tokens([ord("q")], canonical=False, within=WAIT) == []
    assert guide.forced_tokens(canonical=False, within=WAIT) == [ord("q")]


@pytest.mark.parametrize("within", [-1, float("nan"), float("inf")])
def test_a_time_that_is_none(within):
    with pytest.raises(interlock.ArgumentError, match=r"within is .*: a number of seconds from 0 is needed"):
        interlock.Index.from_regex("a", VOCABULARY).guide().forced_tokens(within=within)


@pytest.mark.parametrize("within", ["1", True, [1]])
def test_a_time_of_another_type(within):
    with pytest.raises(TypeError, match="within must be a number"):
        interlock.Index.from_regex("a", VOCABULARY).guide().forced_tokens(within=within)
