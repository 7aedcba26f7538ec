"""Budgets on arrays of unique elements: outputs are complete, in time, and their elements differ, however many."""

import decimal
import json
import random

import numpy as np
import pytest

import interlock

INTEGER = {"type": "integer"}


def record(*names, **more):
    return {"type": "object", "properties": dict.fromkeys(names, INTEGER), "required": list(names), **more}


ELEMENTS = [
    {"type": "string"},
    INTEGER,
    {"type": "number"},
    {},
    record("a"),
    record("a", additionalProperties=False),
    record("a", "b", additionalProperties=False),
    {"type": "object"},
    {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "boolean"}}, "required": ["b", "a"]},
    {"type": "array", "items": INTEGER},
    {"type": "array", "items": INTEGER, "minItems": 2, "maxItems": 2},
    {"type": "array", "items": record("a", additionalProperties=False), "uniqueItems": True},
    {"anyOf": [{"type": "boolean"}, {"enum": list(range(12))}, record("a", additionalProperties=False)]},
]


def value(of):
    """A value that equals those that JSON Schema calls equal; numbers as they are written, and not as doubles."""
    if isinstance(of, dict):
        return frozenset((key, value(member)) for key, member in of.items())
    if isinstance(of, list):
        return tuple(map(value, of))
    return (type(of).__name__.replace("int", "Decimal"), of)


def unique(items, least):
    return {"type": "array", "items": items, "uniqueItems": True, "minItems": least}


@pytest.mark.parametrize("spelling", ["any", "plain"])
@pytest.mark.parametrize("whitespace", ["compact", "spaced"])
@pytest.mark.parametrize("items", ELEMENTS, ids=json.dumps)
def test_random_walks_end_in_time(byte_vocabulary, items, whitespace, spelling):
    rng = random.Random(7)
    for least in (2, 20):
        schema = unique(items, least)
        index = interlock.Index.from_json_schema(schema, byte_vocabulary, whitespace=whitespace, spelling=spelling)
        fewest = index.guide().min_tokens_to_finish()
        for room in (0, 5, 60):
            guide = index.guide(max_tokens=fewest + room)
            while not guide.is_terminated:
                guide.advance(rng.choice(np.asarray(guide.allowed_token_ids()).tolist()))
            assert sum(t < 256 for t in guide.tokens) <= fewest + room
            text = bytes(t for t in guide.tokens if t < 256)
            elements = json.loads(text, parse_float=decimal.Decimal)
            assert len(elements) >= least and len(set(map(value, elements))) == len(elements), text


@pytest.mark.parametrize("items", ELEMENTS[:-1], ids=json.dumps)
def test_thousands_of_elements(byte_vocabulary, items):
    """A completion takes each element's value from one list, so that thousands of elements are no search each."""
    schema = unique(items, 2000)
    index = interlock.Index.from_json_schema(schema, byte_vocabulary, whitespace="compact")
    assert 4000 < index.guide(max_tokens=100_000).min_tokens_to_finish() < 60_000


@pytest.mark.parametrize("length", [{}, {"maxLength": 40}])
@pytest.mark.parametrize("least", [0, 1])
def test_text_that_differs_from_all_elements_is_allowed_while_it_fits(length, least):
    """Every word of a vocabulary of thousands may begin an element: no work is spent on each of them."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = [(a + b + c).encode() for a in letters for b in letters for c in letters]
    tokens = [bytes([b]) for b in range(256)] + words
    vocabulary = interlock.Vocabulary([*tokens, b""], eos_token_ids=[len(tokens)])
    schema = {"type": "array", "items": {"type": "string", **length}, "uniqueItems": True, "minItems": least}
    index = interlock.Index.from_json_schema(schema, vocabulary)
    for text in (b'["', b'["ab","', b'["a","b","'):
        free, budgeted = index.guide(), index.guide(max_tokens=30)
        for guide in (free, budgeted):
            assert guide.advance_many(list(text)) == len(text)
        assert budgeted.allowed_token_ids().tolist() == free.allowed_token_ids().tolist(), text


def walk(guide, rng, tokens):
    """Random tokens, each from the mask."""
    while not guide.is_terminated and guide.num_tokens < tokens:
        guide.advance(rng.choice(np.asarray(guide.allowed_token_ids()).tolist()))


@pytest.mark.parametrize("is_unique", [True, False])
def test_plans_of_long_arrays_share_their_ends(byte_vocabulary, is_unique):
    """With little room each token has a plan of its own, of thousands of tokens: they take kilobytes, not megabytes."""
    schema = {**unique(record("a", "b", additionalProperties=False), 150), "uniqueItems": is_unique}
    index = interlock.Index.from_json_schema(schema, byte_vocabulary, whitespace="compact")
    fewest = index.guide().min_tokens_to_finish()
    free, guide = index.guide(), index.guide(max_tokens=fewest + 300)
    walk(guide, random.Random(3), 900)
    free.advance_many(guide.tokens)
    assert guide.memory_bytes - free.memory_bytes < 1_000_000


def test_plans_that_take_long_end_their_output_alone(byte_vocabulary):
    """Elements of one letter differ by their lengths: each token that leaves a plan has a new, long one."""
    options = {"whitespace": "compact", "limits": {"max_mask_steps": 100_000}}
    schema = unique({"type": "string", "pattern": "^a*$"}, 100)
    index = interlock.Index.from_json_schema(schema, byte_vocabulary, **options)
    guide = index.guide(max_tokens=20_000)
    other = interlock.Index.from_regex("[ab]*", byte_vocabulary).guide()
    rng = random.Random(5)
    masks = interlock.allocate_bitmask(2, byte_vocabulary)
    with pytest.raises(interlock.LimitError, match="plans under max_tokens") as caught:
        for _ in range(3000):
            interlock.fill_bitmasks([guide, other], masks)
            interlock.advance_each([guide, other], [rng.choice(guide.allowed_token_ids().tolist()), 97])
    assert (caught.value.batch_index, caught.value.field) == (0, "max_mask_steps")
    other.advance(98)
