"""Required keys in open objects: what the keywords of two small schemas say, against all short documents."""

import itertools
import json
import random

import pytest
from command_line import machine

import interlock
from interlock.cli.comparing.schema_inclusion import Inclusion
from interlock.explain import byte_vocabulary

KEYS = ("a", "b", "c")
TYPES = ({}, {"type": "integer"}, {"type": "boolean"})
DOCUMENTS = [
    "{" + ",".join(f'"{key}":{value}' for key, value in zip(keys, values, strict=True)) + "}"
    for count in range(5)
    for keys in itertools.permutations((*KEYS, "d"), count)
    for values in itertools.product(("0", "true"), repeat=count)
]


def small_schema(rng):
    declared = rng.sample(KEYS[:2], rng.randrange(3))
    schema = {"type": "object", "properties": {key: rng.choice(TYPES) for key in declared}}
    if rng.random() < 0.7:
        schema["required"] = rng.sample(KEYS, rng.randrange(1, 4))
    if rng.random() < 0.4:
        schema["additionalProperties"] = rng.choice([False, {"type": "integer"}, {}])
    return schema


def all_types_are_in(first, second):
    """Whether the values of one schema's types are among those of another; both have no other keyword."""
    one, other = (json.loads(text).get("type") for text in (first, second))
    types = [set(part) if isinstance(part, list) else {part} for part in (one, other)]
    return other is None or one is not None and types[0] <= types[1]


def accepted(schema):
    """The short documents that a schema takes, as a set of numbers."""
    try:
        index = interlock.Index.from_json_schema(schema, byte_vocabulary(), whitespace="compact")
    except interlock.UnsatisfiableError:
        return set()
    out = set()
    for number, document in enumerate(DOCUMENTS):
        guide = index.guide()
        if guide.validate(document.encode()) == len(document) and guide.advance_many(document.encode()) is not None:
            out |= {number} if guide.is_accepting or guide.is_terminated else set()
    return out


def test_what_keywords_say_holds_for_every_short_document():
    rng = random.Random(31)
    schemas = [small_schema(rng) for _ in range(60)]
    sets = [accepted(schema) for schema in schemas]
    said = certain = 0
    for first, second in itertools.permutations(range(len(schemas)), 2):
        if Inclusion(schemas[first], schemas[second], all_types_are_in).holds():
            said += 1
            assert sets[first] <= sets[second], (schemas[first], schemas[second])
        certain += sets[first] <= sets[second]
    assert said > certain / 2


OLD = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


@pytest.mark.parametrize(
    "new",
    [
        {"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a", "b"]},
        {"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["b", "a"]},
        {"properties": {"a": {"type": "string"}}, "required": ["a", "b"]},
        {"properties": {"a": {"type": "string"}, "b": {}, "c": {}}, "required": ["a", "c"]},
    ],
)
def test_a_new_required_property_of_an_open_object_accepts_less(tmp_path, new):
    for name, schema in (("old", OLD), ("new", {"type": "object"} | new)):
        (tmp_path / f"{name}.json").write_text(json.dumps(schema))
    found = machine(tmp_path, "diff", "old.json", "new.json", "--allow", "narrower")
    assert (found["relation"], found["decided_by"]) == ("the second accepts less", "keywords")
    assert found["only_first"] is not None and found["only_second"] is None


def test_before_the_others_it_is_another_order(tmp_path):
    new = {"type": "object", "properties": {"b": {"type": "integer"}, "a": {"type": "string"}}, "required": ["a", "b"]}
    for name, schema in (("old", OLD), ("new", new)):
        (tmp_path / f"{name}.json").write_text(json.dumps(schema))
    found = machine(tmp_path, "diff", "old.json", "new.json", code=1)
    assert found["relation"] == "different" and None not in (found["only_first"], found["only_second"])
