"""Warming up: the same masks, sooner."""

import time

import pytest
from conftest import masks_along

import interlock

pytestmark = pytest.mark.usefixtures("compiled_anew")

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "kind": {"enum": ["one", "two"]},
        "of": {"type": "array", "items": {"$ref": "#"}},
    },
    "required": ["name"],
}


def index(vocabulary, name="name"):
    return interlock.Index.from_json_schema({**SCHEMA, "title": name}, vocabulary)


def test_what_was_made_is_known_and_the_same(word_vocabulary):
    cold, warm = index(word_vocabulary), index(word_vocabulary)
    assert warm.warm_up(max_ms=60_000) > 20
    assert warm.warm_up() == 0
    text = b'{"name":"a","kind":"two","of":[{"name":""}]}'
    assert (masks_along(warm, text) == masks_along(cold, text)).all()


def test_patterns(word_vocabulary):
    warm = interlock.Index.from_regex("(yes|no)-[0-9]{1,3}", word_vocabulary)
    assert warm.warm_up(max_ms=60_000) > 0
    cold = interlock.Index.from_regex("(yes|no)-[0-9]{1,3}", word_vocabulary)
    assert (masks_along(warm, b"yes-12") == masks_along(cold, b"yes-12")).all()


def test_complete_tables_are_warm(word_vocabulary, tmp_path):
    built = interlock.Index.from_regex("yes|no", word_vocabulary)
    built.build()
    assert built.warm_up() == 0
    built.save(tmp_path / "pack", tables=True)
    assert interlock.Index.load(tmp_path / "pack", word_vocabulary).warm_up() == 0


def test_a_stored_beginning_is_warmed_up(word_vocabulary, tmp_path):
    store = interlock.Store(tmp_path)
    tree = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "of": {"type": "array", "items": {"$ref": "#"}}},
    }
    first = store.get_or_compile("json_schema", tree, word_vocabulary)
    again = store.get(store.key_of("json_schema", tree, word_vocabulary), word_vocabulary)
    assert not again.is_complete
    text = b'{"name":"a","of":[{"name":"a","of":[{"name":"a","of":['
    assert again.warm_up(max_ms=60_000) > 0 and again.warm_up() == 0
    assert (masks_along(again, text) == masks_along(first, text)).all()


def test_in_the_background(word_vocabulary):
    many = [index(word_vocabulary, str(i)) for i in range(40)]
    assert [one.warm_up(max_ms=60_000, background=True) for one in many] == [None] * len(many)
    # They are made in turn. What they remember is their own. A mask that is made here before is not made again.
    cold = index(word_vocabulary).memory_bytes
    for _ in range(6_000):
        if all(one.memory_bytes > cold for one in many):
            break
        time.sleep(0.01)
    assert all(one.memory_bytes > cold for one in many)
    for one in many:
        one.warm_up(max_ms=60_000)
    assert [one.warm_up(max_ms=60_000) for one in many] == [0] * len(many)


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf"), 1e300])
def test_times_that_are_none(word_vocabulary, wrong):
    with pytest.raises(interlock.ArgumentError, match="max_ms"):
        index(word_vocabulary).warm_up(max_ms=wrong)
    with pytest.raises(interlock.ArgumentError, match="max_ms"):
        index(word_vocabulary).warm_up(max_ms=wrong, background=True)
