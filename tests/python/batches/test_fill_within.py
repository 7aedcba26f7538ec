"""Masks within a time: those of `fill_bitmasks`, and nothing of a guide changes by being late."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from child_process import in_child

import interlock

HEAVY = "start: " + " | ".join(f'/.*a.{{{i}}}/ "x"' for i in range(10))
"""A grammar whose masks take long: tens of milliseconds."""
ROOM = {"max_mask_steps": 100_000_000}
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z]{2,9}$"},
        "when": {"type": "string", "format": "date"},
        "of": {"type": "array", "items": {"type": "number", "multipleOf": 0.5}, "maxItems": 3},
    },
    "required": ["name", "when", "of"],
    "additionalProperties": False,
}
GRAMMAR = 'start: item ("," item)*\nitem: /[a-z]+/ | NUMBER | "(" start ")"\nNUMBER: /[0-9]+/\n%ignore " "'


@pytest.fixture(scope="module")
def vocabulary():
    rng = np.random.default_rng(0)
    words = {bytes(rng.choice(list(b"ab cx0"), rng.integers(2, 8)).tolist()) for _ in range(3_000)}
    return interlock.Vocabulary([bytes([i]) for i in range(256)] + sorted(words) + [b""], [256 + len(words)])


@pytest.fixture
def heavy(vocabulary):
    """A guide whose next mask is new and takes long."""
    interlock.clear_caches()
    guide = interlock.Index.from_grammar(HEAVY, vocabulary, limits=ROOM).guide()
    guide.advance(ord("a"))
    return guide


def filled(guides, vocabulary):
    bits = interlock.allocate_bitmask(len(guides), vocabulary)
    interlock.fill_bitmasks(guides, bits)
    return bits


def in_time(guides, vocabulary, seconds=0.0):
    """The masks, when they are there."""
    bits = interlock.allocate_bitmask(len(guides), vocabulary)
    while interlock.fill_bitmasks_within(guides, bits, seconds):
        pass
    return bits


@pytest.mark.parametrize("seconds", [0, 0.001, 60])
@pytest.mark.parametrize("options", [{}, {"max_tokens": 60}], ids=["free", "budget"])
def test_masks_are_those_of_a_fill_at_every_place(vocabulary, compiled_anew, seconds, options):
    sources = [
        interlock.Index.from_json_schema(SCHEMA, vocabulary),
        interlock.Index.from_regex("(a|b)*(ab|0{3,40})c", vocabulary),
        interlock.Index.from_grammar(GRAMMAR, vocabulary),
        interlock.Index.from_choices(["yes", "no", "abc"], vocabulary),
    ]
    rng = np.random.default_rng(1)
    guides = [index.guide(**options) for index in sources for _ in range(3)]
    twins = [index.guide(**options) for index in sources for _ in range(3)]
    late_steps = 0
    for _ in range(60):
        bits = interlock.allocate_bitmask(len(guides) + 1, vocabulary)
        late = interlock.fill_bitmasks_within([None, *guides], bits, seconds)
        assert late == sorted(late) and 0 not in late and (bits[0] == -1).all()
        assert not bits[late].any()
        late_steps += bool(late)
        expected = filled([None, *twins], vocabulary)
        there = [i for i in range(len(guides) + 1) if i not in late]
        assert (bits[there] == expected[there]).all()
        # Those that are late stay where they are for this step, and may be used as ever.
        for i in there[1:]:
            guide, twin = guides[i - 1], twins[i - 1]
            if not guide.is_terminated:
                token = int(rng.choice(twin.allowed_token_ids()))
                assert guide.try_advance(token) and twin.try_advance(token)
            assert guide.tokens == twin.tokens and guide.is_terminated == twin.is_terminated
    assert seconds < 60 or not late_steps


def test_a_mask_that_takes_long_is_late_and_holds_nobody_up(heavy, vocabulary):
    quick = interlock.Index.from_choices(["yes", "no"], vocabulary).guide()
    bits = interlock.allocate_bitmask(3, vocabulary)
    expected = filled([quick], vocabulary)
    before = interlock.stats()["late_masks"]
    assert interlock.fill_bitmasks_within([heavy, None, quick], bits, 0) == [0]
    assert interlock.stats()["late_masks"] == before + 1
    assert not bits[0].any() and (bits[1] == -1).all() and (bits[2] == expected[0]).all()
    assert heavy.tokens == [ord("a")] and not heavy.is_terminated
    done = in_time([heavy], vocabulary)
    assert (done == filled([heavy], vocabulary)).all() and done.any()
    assert heavy.try_advance(ord("a"))


def test_a_late_guide_may_go_on_and_back(heavy, vocabulary):
    bits = interlock.allocate_bitmask(1, vocabulary)
    assert interlock.fill_bitmasks_within([heavy], bits, 0) == [0]
    fork, pickled = heavy.fork(), pickle.loads(pickle.dumps(heavy))
    heavy.advance_many(b"ba")
    moved = in_time([heavy], vocabulary)
    twin = heavy.index.guide()
    twin.advance_many(b"aba")
    assert (moved == filled([twin], vocabulary)).all()
    heavy.rollback(2)
    twin.rollback(2)
    for guide in (heavy, fork, pickled):
        assert guide.tokens == [ord("a")]
        assert (in_time([guide], vocabulary) == filled([twin], vocabulary)).all()


def test_another_text_of_the_same_length_has_its_own_mask(heavy, vocabulary):
    bits = interlock.allocate_bitmask(1, vocabulary)
    assert interlock.fill_bitmasks_within([heavy], bits, 0) == [0]
    heavy.rollback(1)
    heavy.advance(ord("b"))
    twin = heavy.index.guide()
    twin.advance(ord("b"))
    assert (in_time([heavy], vocabulary) == filled([twin], vocabulary)).all()


def test_a_dropped_guide_leaves_nothing(heavy, vocabulary):
    bits = interlock.allocate_bitmask(2, vocabulary)
    fork = heavy.fork()
    assert interlock.fill_bitmasks_within([heavy, fork], bits, 0) == [0, 1]
    del heavy
    assert in_time([fork], vocabulary).any()


def test_a_guide_that_fails_late_is_told_with_those_that_are_late(heavy, vocabulary):
    limited = interlock.Index.from_grammar(HEAVY + "\n", vocabulary, limits={"max_mask_steps": 20_000}).guide()
    limited.advance(ord("a"))
    quick = interlock.Index.from_choices(["yes", "no"], vocabulary).guide()
    guides = [heavy, limited, quick]
    bits = interlock.allocate_bitmask(3, vocabulary)
    error = None
    while error is None:
        try:
            late = interlock.fill_bitmasks_within(guides, bits, 0.0)
            assert 1 in late
        except interlock.LimitError as caught:
            error = caught
    assert (error.batch_index, error.batch_others, error.field) == (1, (), "max_mask_steps")
    # The others are late or there.
    late = set(error.batch_late)
    assert late <= {0, 2} and bits.any(axis=1).tolist() == [0 not in late, False, 2 not in late]
    # It has failed for good, and the others go on without it.
    for fill in (interlock.fill_bitmasks, lambda guides, bits: interlock.fill_bitmasks_within(guides, bits, 60)):
        bits[:] = 7
        with pytest.raises(interlock.LimitError) as again:
            fill(guides, bits)
        assert (again.value.batch_index, again.value.batch_late) == (1, ())
        assert bits.any(axis=1).tolist() == [True, False, True] and not (bits[[0, 2]] == 7).all(axis=1).any()
    with pytest.raises(interlock.LimitError):
        limited.advance(ord("a"))
    assert interlock.fill_bitmasks_within([heavy, None, quick], bits, 60) == [] and bits.any(axis=1).all()


def test_several_heavy_ones_take_turns_and_light_ones_come_first(vocabulary, compiled_anew):
    guides = []
    for i in range(6):
        guide = interlock.Index.from_grammar(HEAVY + "\n" * i, vocabulary, limits=ROOM).guide()
        guide.advance(ord("a"))
        guides.append(guide)
    light = interlock.Index.from_regex("[ab]{3,77}", vocabulary).guide()
    bits = interlock.allocate_bitmask(7, vocabulary)
    # New ones are begun in their order, so threads that are busy with these are replaced.
    late = interlock.fill_bitmasks_within([*guides, light], bits, 0.0, threads=2)
    while 6 in late:
        assert len(late) > 1, "it does not wait for them"
        late = interlock.fill_bitmasks_within([*guides, light], bits, 0.005, threads=2)
    assert (bits[6] == filled([light], vocabulary)[0]).all()
    done = in_time([*guides, light], vocabulary, 0.01)
    assert (done == filled([*guides, light], vocabulary)).all()


def test_events_are_given_once(vocabulary):
    """What a reply has read of a late guide is not read again when its mask is there."""
    from interlock.serving import RequestCompiler

    compiler = RequestCompiler(vocabulary, limits=ROOM)
    request = compiler.compile({"guided_grammar": HEAVY, "stop": ["zz"]})
    guide = request.guide
    guide.advance(ord("a"))
    reply = request.reply(guide)
    bits = interlock.allocate_bitmask(1, vocabulary)
    interlock.fill_bitmasks_within([guide], bits, 0)
    text = "".join(delta.get("content") or "" for delta in reply.deltas(guide.tokens))
    in_time([guide], vocabulary)
    guide.advance(ord("b"))
    text += "".join(delta.get("content") or "" for delta in reply.deltas([ord("b")]))
    assert text == "ab"


def test_rows_and_arguments(vocabulary, byte_vocabulary):
    guide, other = (interlock.Index.from_choices(["yes", "no"], v).guide() for v in (vocabulary, byte_vocabulary))
    bits = interlock.allocate_bitmask(3, vocabulary)
    assert interlock.fill_bitmasks_within([guide, guide.fork()], bits, 60, rows=[2, 0], threads=1) == []
    assert (bits[2] == bits[0]).all() and (bits[1] == -1).all() and not (bits[0] == -1).all()
    assert interlock.fill_bitmasks_within([], bits, 0) == []
    before = bits.copy()
    for wrong in (-1, float("nan"), float("inf")):
        with pytest.raises(interlock.ArgumentError, match="seconds is "):
            interlock.fill_bitmasks_within([guide], bits, wrong)
    for given in ([guide, guide], [guide, other]):
        with pytest.raises((interlock.ArgumentError, interlock.GuideBusyError)):
            interlock.fill_bitmasks_within(given, bits, 0)
    with pytest.raises(TypeError):
        interlock.fill_bitmasks_within([guide], bits, "soon")
    assert (bits == before).all()


def test_a_forked_process_makes_its_own(heavy, vocabulary):
    bits = interlock.allocate_bitmask(1, vocabulary)
    assert interlock.fill_bitmasks_within([heavy], bits, 0) == [0]
    expected = filled([heavy.fork()], vocabulary)
    assert in_child(lambda: bool((in_time([heavy], vocabulary) == expected).all()))
    assert (in_time([heavy], vocabulary) == expected).all()
