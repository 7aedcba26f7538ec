"""Plausible examples: members of the source, and such as people write."""

import json
import random
import re
from pathlib import Path

import pytest
from engine_lists import assert_core_knows

import interlock
from interlock.samples import plausible
from interlock._recipe import Recipe, byte_vocabulary
from interlock.samples.plausible import example
from interlock.string_formats import FORMATS

DATA = Path(__file__).parents[2] / "data"


def examples(index, count=12):
    recipe = Recipe.of(index)
    return [example(recipe, random.Random(seed)) for seed in range(count)]


def accepts(index, data):
    guide = index.guide()
    return guide.advance_many(list(data)) == len(data) and guide.is_accepting


def test_members_of_every_schema_of_the_suites():
    """Nearly all schemas have a plausible example, and every example is a member."""
    seen = found = 0
    for name in ("official", "own"):
        for case in json.loads((DATA / f"schema_{name}.json").read_text(encoding="utf-8")):
            try:
                index = interlock.Index.from_json_schema(case["schema"], byte_vocabulary())
            except interlock.InterlockError:
                continue
            seen += 1
            drawn = example(Recipe.of(index), random.Random(1))
            assert drawn is None or accepts(index, drawn), (case["schema"], drawn)
            found += drawn is not None
    assert seen > 200 and found >= 0.97 * seen, (seen, found)


@pytest.mark.parametrize(
    ("schema", "pattern"),
    [
        ({"type": "string"}, r'"[a-z]+( [a-z]+)?"'),
        ({"type": "integer"}, r"\d{1,3}"),
        ({"type": "integer", "minimum": 10, "maximum": 12}, r"1[012]"),
        ({"type": "number", "multipleOf": 0.25, "minimum": 0, "maximum": 1}, r"[01](\.\d+)?"),
        ({"type": "string", "format": "date-time"}, r'"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ"'),
        ({"type": "string", "format": "email"}, r'"[a-z]+@example\.org"'),
        ({"type": "string", "pattern": "^[A-Z]{3}-[0-9]+$"}, r'"[A-Z]{3}-\d{1,16}"'),
        ({"type": "string", "minLength": 30}, r'"[a-z ]{30,60}"'),
        ({"enum": ["a", 1, None]}, r'"a"|1|null'),
        ({"type": "object", "properties": {"a b": {"const": 1}}, "required": ["a b"], "additionalProperties": False},
         r'\{"a b": 1\}'),
        ({"type": "array", "items": {"type": "boolean"}, "minItems": 4, "maxItems": 4}, r"\[((true|false)(, )?){4}\]"),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}},
          "additionalProperties": False}}}, r'(\{"n": ){0,8}\{\}*'),
    ],
)  # fmt: skip
def test_they_look_like_what_people_write(schema, pattern):
    index = interlock.Index.from_json_schema(schema, byte_vocabulary())
    for data in examples(index):
        assert data is not None and accepts(index, data)
        assert re.fullmatch(pattern, data.decode()), data


def test_patterns_and_choices():
    for pattern, flags in ((r"[a-f]{2}-\d+", "a"), (r"\w+@\w+\.(com|org)", ""), (r"(ab|c)*d{3}", ""), ("é+[^a]", "")):
        index = interlock.Index.from_regex(pattern, byte_vocabulary(), flags=flags)
        for data in examples(index):
            assert data is not None and accepts(index, data) and len(data) < 60
    index = interlock.Index.from_choices(["yes", "no"], byte_vocabulary())
    assert set(examples(index)) == {b"yes", b"no"}


@pytest.mark.parametrize("pattern", [r"^\d+\.\d+\.\d+$", r"^v?[0-9]+(\.[0-9]+){1,3}(-rc[0-9]+)?$"])
def test_numbers_inside_of_a_pattern_are_short(pattern):
    document = interlock.Index.from_json_schema({"type": "string", "pattern": pattern}, byte_vocabulary())
    for index in (document, interlock.Index.from_regex(pattern.strip("^$"), byte_vocabulary())):
        for data in examples(index):
            assert data is not None and accepts(index, data)
            assert max(map(len, re.findall(rb"[0-9]+", data))) <= 4, data


def test_every_known_format_has_a_plausible_text():
    """Each sample is a text of its format."""
    for name in sorted(FORMATS):
        index = interlock.Index.from_json_schema({"type": "string", "format": name}, byte_vocabulary())
        assert_core_knows(name)
        for seed in range(20):
            assert accepts(index, json.dumps(FORMATS[name].sample(random.Random(seed))).encode()), name


def test_examples_of_the_schema_are_used():
    schema = {"type": "string", "examples": ["Ada Lovelace", 3]}
    drawn = examples(interlock.Index.from_json_schema(schema, byte_vocabulary()), 40)
    assert b'"Ada Lovelace"' in drawn and len(set(drawn)) > 3


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "integer"}, "minItems": 3000},
        {"type": "array", "items": {"type": "integer"}, "minItems": 3000, "uniqueItems": True},
        {"type": "object", "minProperties": 300},
        {"type": "string", "minLength": 50000},
        {"type": "string", "minLength": 3000, "maxLength": 3001},
        {"type": "string", "minLength": 3000, "pattern": "^[a-z]*$"},
    ],
    ids=str,
)
def test_what_asks_for_much_gets_it(schema):
    index = interlock.Index.from_json_schema(schema, byte_vocabulary())
    drawn = plausible.example(Recipe.of(index), random.Random(0))
    assert drawn is not None and accepts(index, drawn)


def test_a_long_pattern_is_written():
    index = interlock.Index.from_regex("[a-c]{3000}", byte_vocabulary())
    drawn = plausible.example(Recipe.of(index), random.Random(0))
    assert drawn is not None and len(drawn) == 3000


def test_more_than_anybody_reads_is_given_up():
    index = interlock.Index.from_json_schema({"type": "string", "minLength": 2 * plausible.MANY}, byte_vocabulary())
    assert plausible.example(Recipe.of(index), random.Random(0)) is None


@pytest.mark.parametrize(
    ("grammar", "pattern"),
    [
        ('start: "name: " NAME "\\n" "note: " NOTE "\\n"\nNAME: /[A-Za-z ]+/\nNOTE: /[^\\n]+/',
         r"name: [a-z ]+\nnote: [a-z ]+\n"),
        ('start: KEY "=" STRING\nKEY: /[a-z]+/\nSTRING: /"(\\\\.|[^"\\\\])*"/', r'[a-z]+="[a-z ]+"'),
        ('start: "<p>" TEXT "</p>"\nTEXT: /[^<]+/', r"<p>[a-z ]+</p>"),
    ],
)  # fmt: skip
def test_free_text_of_a_grammar_is_words(grammar, pattern):
    for data in examples(interlock.Index.from_grammar(grammar, byte_vocabulary())):
        assert re.fullmatch(pattern, data.decode()), data


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("llama3_json", r'(<\|python_tag\|>)?\{"name": "f", "parameters": \{"q": ?"[a-z ]+", ?"city": ?"[a-z ]+"\}\}'),
        ("qwen3_coder", r"<tool_call>\n<function=f>\n<parameter=q>[a-z ]+</parameter>(?s:.*)</function>\n</tool_call>"),
    ],
)
def test_free_text_of_a_tool_call_is_words(name, pattern):
    """Also where several characters end it, as the tag of a parameter."""
    text = {"type": "string"}
    parameters = {"type": "object", "properties": {"q": text, "city": text}, "required": ["q", "city"]}
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    index = interlock.Index.from_tools(tools, byte_vocabulary(), format=name, tool_choice="required")
    for data in examples(index, 8):
        assert data is not None and re.fullmatch(pattern, data.decode()), data


def test_free_text_of_a_pattern_ends_with_its_quote():
    for data in examples(interlock.Index.from_regex('"[^"]*"', byte_vocabulary())):
        assert re.fullmatch(r'"[ -~]*"', data.decode()), data


def object_of(names, value, **more):
    return {"type": "object", "properties": dict.fromkeys(names, value), "additionalProperties": False} | more


MANY_NAMES = [f"p{number}" for number in range(60)]
ITSELF = {"$ref": "#"}
NOTHING_OR_ITSELF = {"anyOf": [{"type": "null"}, ITSELF]}


@pytest.mark.parametrize(
    "schema",
    [
        object_of(MANY_NAMES[:10], ITSELF),
        object_of(MANY_NAMES[:30], ITSELF),
        object_of(MANY_NAMES, ITSELF),
        object_of(MANY_NAMES, {"type": "array", "items": ITSELF}),
        object_of(MANY_NAMES, NOTHING_OR_ITSELF, required=MANY_NAMES),
        {"type": "array", "items": ITSELF},
        {"anyOf": [{"type": "integer"}, {"type": "array", "items": ITSELF}, object_of(MANY_NAMES, ITSELF)]},
        object_of(["one", "two"], {"$ref": "#/$defs/a"})
        | {
            "$defs": {
                "a": object_of(MANY_NAMES, {"$ref": "#/$defs/b"}),
                "b": object_of(MANY_NAMES, {"$ref": "#/$defs/a"}),
            }
        },
    ],
    ids=["10", "30", "60", "arrays in objects", "required", "array", "any of", "two objects"],
)
def test_recursive_schemas_have_small_examples(schema):
    index = interlock.Index.from_json_schema(schema, byte_vocabulary())
    drawn = examples(index, 6)
    assert all(data is not None and accepts(index, data) and len(data) < 10_000 for data in drawn)
    assert len(set(drawn)) > 1, drawn


def test_what_is_left_out_of_a_recursive_schema_is_drawn():
    """Not always what stands last: each name comes below the first level, too."""
    index = interlock.Index.from_json_schema(object_of(MANY_NAMES[:30], ITSELF), byte_vocabulary())
    inner = {name for data in examples(index) for value in json.loads(data).values() for name in value}
    assert inner == set(MANY_NAMES[:30])
