"""Optional properties that nothing satisfies are named, with the keywords that contradict each other."""

from __future__ import annotations

import json

import pytest
from command_line import machine, run

from interlock.explain.impossible_properties import impossible_properties

NEVER = {"type": "number", "minimum": 5, "maximum": 3}
SAID = ": minimum 5 and maximum 3 contradict each other"


def said(schema, **options):
    return [str(one) for one in impossible_properties(schema, options)]


def sentence(name, pointer, why):
    return f"no value satisfies the schema of `{name}` (at {pointer}), so it is always left out{why}"


@pytest.mark.parametrize(
    ("schema", "name", "pointer", "why"),
    [
        ({"type": "object", "properties": {"a": NEVER}}, "a", "/properties/a", SAID),
        ({"items": {"properties": {"a": NEVER}}}, "a", "/items/properties/a", SAID),
        ({"properties": {"a/b é": NEVER}}, "a/b é", "/properties/a~1b é", SAID),
        ({"anyOf": [{"properties": {"a": NEVER}}, {"type": "null"}]}, "a", "/anyOf/0/properties/a", SAID),
        # An object that needs it is impossible for that reason alone.
        (
            {"properties": {"o": {"type": "object", "properties": {"i": NEVER}, "required": ["i"]}}},
            "i", "/properties/o/properties/i", SAID,
        ),
        (
            {"properties": {"a": {"type": "integer", "allOf": [{"minimum": 5}, {"maximum": 3}]}}},
            "a", "/properties/a",
            ": minimum 5 (at /properties/a/allOf/0) and maximum 3 (at /properties/a/allOf/1) contradict each other",
        ),
        (
            {"properties": {"a": {"type": "string", "pattern": "^ab$", "maxLength": 1}}},
            "a", "/properties/a", ': pattern "^ab$" and maxLength 1 contradict each other',
        ),
        (
            {"properties": {"a": {"type": "string", "enum": [1, 2]}}},
            "a", "/properties/a", ': type "string" and enum [1, 2] contradict each other',
        ),
        ({"properties": {"a": {"enum": []}}}, "a", "/properties/a", ": because of enum []"),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "$id": "http://a.example/b",
             "properties": {"a": {"$ref": "#/definitions/n"}}, "definitions": {"n": NEVER}},
            "a", "/properties/a", ': because of $ref "#/definitions/n"',
        ),
    ],
)  # fmt: skip
def test_a_property_is_named(schema, name, pointer, why):
    assert said(schema) == [sentence(name, pointer, why)]


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"type": "number", "minimum": 3, "maximum": 5}}},
        # These are written on purpose.
        {"properties": {"a": False, "b": {"not": {}}}},
        # One of the alternatives is possible, and what is negated does not come out.
        {"properties": {"a": {"anyOf": [NEVER, {"type": "string"}]}}},
        {"not": {"required": ["a"], "properties": {"a": NEVER}}},
        {"if": {"properties": {"a": NEVER}}, "then": {"required": ["b"]}},
        {"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "null"}}},
        # No keywords.
        {"const": {"properties": {"a": NEVER}}},
        {"examples": [{"properties": {"a": NEVER}}]},
    ],
)
def test_nothing_is_said_without_a_reason(schema):
    assert said(schema) == []


def test_options_count():
    date = {"properties": {"a": {"type": "string", "format": "date", "maxLength": 3}}}
    assert len(said(date)) == 1
    assert said(date, formats="annotate") == []
    other = {"properties": {"a": {"$ref": "urn:other", "minimum": 5}}}
    assert len(said(other, documents={"urn:other": {"type": "number", "maximum": 3}})) == 1
    assert said(other, documents={"urn:other": {"type": "number"}}) == []


def test_schemas_of_any_size():
    """The work has a bound, and nothing that is deep makes an error of it."""
    wide = {"properties": {f"p{i}": {"type": "string", "minLength": 1} for i in range(2000)}}
    assert said(wide) == []
    deep: dict = {"properties": {"a": NEVER}}
    for _ in range(5000):
        deep = {"items": deep}
    assert said(deep) == []


@pytest.mark.parametrize("command", [["inspect"], ["check", "--text", "{}"]])
def test_commands_warn(tmp_path, command):
    (tmp_path / "never.json").write_text(json.dumps({"type": "object", "properties": {"a": NEVER}}))
    name, *options = command
    words = [{"pointer": "/properties/a", "keyword": k, "value": v} for k, v in (("minimum", 5), ("maximum", 3))]
    found = machine(tmp_path, name, "never.json", *options)["impossible_properties"]
    assert found == [{"pointer": "/properties/a", "keywords": words}]
    done = run(tmp_path, name, "never.json", *options)
    assert f"warning: {sentence('a', '/properties/a', SAID)}" in " ".join((done.stdout + done.stderr).split())


def test_places_are_those_of_the_file(tmp_path):
    parameters = {"type": "object", "properties": {"a": NEVER}}
    (tmp_path / "api.json").write_text(json.dumps({"components": {"Item": parameters}}))
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    (tmp_path / "tools.json").write_text(json.dumps(tools))
    for source, before in (
        (["api.json", "--schema-key", "/components/Item"], "/components/Item"),
        (["tools:@tools.json", "--tool-format", "hermes"], "/tools/0/function/parameters"),
    ):
        found = machine(tmp_path, "inspect", *source)["impossible_properties"]
        place = f"{before}/properties/a"
        assert [one["pointer"] for one in found] == [place], source
        assert {word["pointer"] for word in found[0]["keywords"]} == {place}, source


def test_what_is_beside_a_reference_is_no_reason_in_old_drafts(tmp_path):
    wrong = {"$ref": "#/definitions/a", "maxLength": 1, "minLength": 3}
    rest = {"definitions": {"a": {"type": "string", "enum": [3]}}}
    old = {"$schema": "http://json-schema.org/draft-07/schema#", **rest}
    assert "Length" not in "".join(said({"properties": {"b": wrong}, **old}))
    (tmp_path / "old.json").write_text(json.dumps({**wrong, **old}))
    error = machine(tmp_path, "inspect", "old.json", code=3)["error"]
    assert "Length" not in json.dumps([error["message"], error["remedy"]])
    assert 'type "string" (at "/definitions/a") contradicts enum [3]' in error["message"]
