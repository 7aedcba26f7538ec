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


@pytest.fixture(scope="module")
def large_vocabulary():
    """As many words as vocabularies of models have, and tokens that run across the end of an element."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = [a + b + c for a in letters for b in letters for c in letters]
    words = [*words, *map(str.title, words), *(" " + word for word in words), *(" " + word.title() for word in words)]
    words += [str(n) for n in range(10, 1000)]
    words += ['",', '","', '", "', '"]', '"},{"', '"},', '":"', '":', '{"', "é", "北京", "},", "}]"]
    tokens = [bytes([b]) for b in range(256)] + [word.encode() for word in words]
    return interlock.Vocabulary([*tokens, b""], eos_token_ids=[len(tokens)])


@pytest.mark.parametrize("length", [{}, {"maxLength": 40}])
@pytest.mark.parametrize("least", [0, 1])
def test_text_that_differs_from_all_elements_is_allowed_while_it_fits(large_vocabulary, length, least):
    """Every word of a large vocabulary may begin an element: no work is spent on each of them."""
    schema = {"type": "array", "items": {"type": "string", **length}, "uniqueItems": True, "minItems": least}
    index = interlock.Index.from_json_schema(schema, large_vocabulary)
    for text in (b'["', b'["ab","', b'["a","b","'):
        free, budgeted = index.guide(), index.guide(max_tokens=30)
        for guide in (free, budgeted):
            assert guide.advance_many(list(text)) == len(text)
        assert budgeted.allowed_token_ids().tolist() == free.allowed_token_ids().tolist(), text


NAMES = (
    "alpha Beta gamma Delta epsilon Zeta eta Theta iota Kappa lambda Mu nu Xi omicron Pi rho Sigma tau Zürich".split()
)


@pytest.mark.parametrize("least", [0, 5])
@pytest.mark.parametrize(
    ("items", "element", "begun"),
    [
        ({"type": "string"}, lambda i: NAMES[i], '"'),
        ({"type": "string"}, lambda i: NAMES[i], '"Z'),
        ({"type": "string", "maxLength": 40}, lambda i: NAMES[i], '"'),
        ({"type": "string", "pattern": "^[^ ]+$"}, lambda i: NAMES[i], '"Z'),
        (record("id", "rank", additionalProperties=False), lambda i: {"id": i, "rank": 7}, '{"id":'),
        (record("id", "rank", additionalProperties=False), lambda i: {"id": i, "rank": 7}, '{"id":3,"rank":'),
        (
            {"type": "object", "properties": {"n": INTEGER, "s": {"type": "string"}}, "required": ["n", "s"]},
            lambda i: {"n": i % 3, "s": NAMES[i]},
            '{"n":1,"s":"',
        ),
        ({"type": "object"}, lambda i: {NAMES[i]: i}, '{"'),
    ],
)
def test_what_differs_is_allowed_while_it_fits(large_vocabulary, items, element, begun, least):
    """Every token of a large vocabulary may begin a value that differs: no work is spent on each of them."""
    index = interlock.Index.from_json_schema(unique(items, least), large_vocabulary, whitespace="compact")
    for elements in (1, 4, 20):
        made = json.dumps([element(i) for i in range(elements)], separators=(",", ":"), ensure_ascii=False)
        text = list(f"{made[:-1]},{begun}".encode())
        free = index.guide()
        assert free.advance_many(text) == len(text)
        room = free.min_tokens_to_finish() + 24
        budgeted = index.guide(max_tokens=len(text) + room)
        assert budgeted.advance_many(text) == len(text)
        assert budgeted.allowed_token_ids().tolist() == free.allowed_token_ids().tolist(), (elements, text)


@pytest.mark.parametrize("items", [*ELEMENTS, {**record("x", "y"), "properties": {"x": {"enum": [[], 1]}, "y": {}}}])
def test_every_token_of_a_mask_leaves_room(byte_vocabulary, items):
    """A twin: what a mask lets through is advanced on a fork, which makes a new plan for it."""
    rng = random.Random(11)
    for least in (2, 9):
        index = interlock.Index.from_json_schema(unique(items, least), byte_vocabulary, whitespace="compact")
        fewest = index.guide().min_tokens_to_finish()
        for room in (0, 3, 30):
            guide = index.guide(max_tokens=fewest + room)
            while not guide.is_terminated:
                allowed = guide.allowed_token_ids().tolist()
                for token in allowed:
                    guide.fork().advance(token)
                guide.advance(rng.choice(allowed))


WORDS = ['"},{"', '":"', '":', '","', '{"', "name", "[{", '"]', "}]", "},{", "true", "null", "10", "kind"]


@pytest.fixture(scope="module")
def words_and_bytes():
    tokens = [bytes([b]) for b in range(256)] + [word.encode() for word in WORDS]
    return interlock.Vocabulary([*tokens, b""], eos_token_ids=[len(tokens)])


def test_what_a_mask_lets_through_is_advanced_however_much_is_remembered(words_and_bytes):
    """Completions of long arrays fill what a guide remembers of them; what a mask was told is found again behind it."""
    kind = {"type": "object", "properties": {"k": {"enum": ["a", "dd"]}}, "required": ["k"]}
    items = record("kind", "x", additionalProperties=False)
    items["properties"] = {"kind": kind, "x": {"enum": ["b", "dd", True, None, []]}}
    schema = {**unique(items, 40), "prefixItems": [{"type": "array", "items": INTEGER}]}
    index = interlock.Index.from_json_schema(schema, words_and_bytes, whitespace="compact")
    fewest = index.guide().min_tokens_to_finish()
    for seed in range(28, 30):
        rng, guide = random.Random(seed), index.guide(max_tokens=fewest + 30)
        for _ in range(100):
            guide.advance(rng.choice(guide.allowed_token_ids().tolist()))


def test_an_open_element_ends_as_its_bound_says(words_and_bytes):
    """An element that differs already ends as is shortest, not like the longer values that others are given."""
    properties = {"x": {"enum": [[], 3.5, 1, True]}, "name": {"type": "string", "maxLength": 2}}
    items = {"type": "object", "properties": properties, "required": ["x", "name"]}
    schema = {"type": "object", "properties": {"a": unique(items, 9), "b": {"type": "object"}}, "required": ["a", "b"]}
    schema["additionalProperties"] = False
    index = interlock.Index.from_json_schema(schema, words_and_bytes, whitespace="compact")
    text = (
        '{"|a|"|:|[{|"|x|":|true|,|"|n|a|m|e|":"|#|_|"},{"|x|":|t|r|u|e|,|"|name|":|"]|O|"},{"|x|":|true|,|"|n|a|m|e|":|'
        '":"|},{|"|x|":|t|r|u|e|,|"|name|":|":|=|"},{"|x|":|[|]|,|"|n|a|m|e|":"|n|"},{"|x|":|1|,|"|name'
    )
    path = [256 + WORDS.index(piece) if piece in WORDS else ord(piece) for piece in text.split("|")]
    for max_tokens in range(128, 140):
        guide = index.guide(max_tokens=max_tokens)
        for token in [*path, None]:
            allowed = guide.allowed_token_ids().tolist()
            for fits in allowed:
                guide.fork().advance(fits)
            if token not in allowed:
                break
            guide.advance(token)


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
