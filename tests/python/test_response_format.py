"""What clients send as response_format: every shape is read, and what is not known is refused by name."""

from __future__ import annotations

import pytest
from interlock import InterlockError
from interlock.tools import StructuralTagError, response_format

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
TAG = {"type": "structural_tag", "format": {"type": "const_string", "value": "a"}}
LEGACY = {"structures": [{"begin": "<f>", "schema": {}, "end": "</f>"}], "triggers": ["<f"]}


@pytest.mark.parametrize(
    ("value", "kind", "source"),
    [
        (None, "text", None),
        ({"type": "text"}, "text", None),
        ({"type": "json_object"}, "json_object", None),
        ({"type": "json_object", "schema": SCHEMA}, "json_schema", SCHEMA),
        ({"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}, "json_schema", SCHEMA),
        ({"type": "json_schema", "json_schema": {"name": "n", "schema_": SCHEMA}}, "json_schema", SCHEMA),
        ({"type": "json_schema", "name": "n", "strict": True, "schema": SCHEMA}, "json_schema", SCHEMA),
        ({"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}}, "json_schema", SCHEMA),
        ({"response_format": {"type": "text"}}, "text", None),
        (TAG, "structural_tag", TAG),
        ({"type": "regex", "pattern": "a+"}, "regex", "a+"),
        ({"type": "choice", "choices": ["a", "b"]}, "choice", ("a", "b")),
        ({"type": "grammar", "grammar": "root ::= x"}, "grammar", "root ::= x"),
        ({"type": "grammar", "syntax": "regex", "definition": "a+"}, "regex", "a+"),
        ({"structured_outputs": {"json": SCHEMA}}, "json_schema", SCHEMA),
        ({"json": '{"type": "object"}'}, "json_schema", {"type": "object"}),
        ({"regex": "a+", "json": None, "choice": None}, "regex", "a+"),
        ({"structured_outputs": {"json_object": True}}, "json_object", None),
        ({"structural_tag": TAG}, "structural_tag", TAG),
        ({"guided_json": SCHEMA, "guided_decoding_backend": "auto"}, "json_schema", SCHEMA),
        ({"guided_regex": "a"}, "regex", "a"),
        ({"guided_choice": ["a"]}, "choice", ("a",)),
        ({"guided_grammar": "root ::= x"}, "grammar", "root ::= x"),
        ({"ebnf": "root ::= x"}, "grammar", "root ::= x"),
        ('{"type": "json_object"}', "json_object", None),
        (int, "json_schema", {"type": "integer"}),
        (["a", "b"], "choice", ("a", "b")),
    ],
)
def test_shapes(value, kind, source):
    found = response_format(value)
    assert (found.kind, found.value) == (kind, source)


def test_what_stands_beside_the_source():
    found = response_format({"type": "json_schema", "json_schema": {"name": "n", "strict": False, "schema": SCHEMA}})
    assert (found.name, found.is_strict) == ("n", False)
    assert response_format({"type": "grammar", "grammar": "x", "syntax": "lark"}).syntax == "lark"
    assert response_format({"json": SCHEMA, "whitespace_pattern": "[ ]?"}).whitespace == "[ ]?"
    assert response_format({"json": SCHEMA, "disable_any_whitespace": True}).whitespace == "compact"
    legacy = response_format(LEGACY)
    assert legacy == response_format({"type": "structural_tag", **LEGACY})
    assert legacy.value["format"]["type"] == "triggered_tags"


def test_objects_of_clients():
    pydantic = pytest.importorskip("pydantic")

    class Inner(pydantic.BaseModel):
        name: str
        schema_: dict = pydantic.Field(alias="schema")

    class Format(pydantic.BaseModel):
        type: str
        json_schema: Inner

    asked = Format(type="json_schema", json_schema=Inner(name="n", schema=SCHEMA))
    assert response_format(asked).value == SCHEMA


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ({}, ""),
        ({"type": "object"}, "/type"),
        ({"type": "yaml"}, "/type"),
        ({"type": 3}, "/type"),
        ({"colour": "red"}, "/colour"),
        ({"regex": "a", "colour": "red"}, "/colour"),
        ({"json": SCHEMA, "regex": "a"}, ""),
        ({"type": "text", "schema": {}}, "/schema"),
        ({"type": "json_schema"}, ""),
        ({"type": "json_schema", "json_schema": 3}, "/json_schema"),
        ({"type": "json_schema", "json_schema": {"name": "n"}}, "/json_schema"),
        ({"type": "json_schema", "json_schema": {"schema": 3}}, "/json_schema/schema"),
        ({"type": "json_schema", "json_schema": {"schema": {}, "strict": 1}}, "/json_schema/strict"),
        ({"type": "json_schema", "json_schema": {"schema": {}, "extra": 1}}, "/json_schema/extra"),
        ({"type": "regex"}, ""),
        ({"type": "regex", "pattern": 3}, "/pattern"),
        ({"type": "choice", "choices": []}, "/choices"),
        ({"type": "choice", "choices": ["a", 1]}, "/choices/1"),
        ({"type": "grammar", "grammar": "x", "syntax": "abnf"}, "/syntax"),
        ({"structured_outputs": {"json_object": "yes"}}, "/structured_outputs/json_object"),
        ({"structured_outputs": {"json": "{"}}, "/structured_outputs/json"),
        ({"type": "structural_tag", "format": {"type": "or", "elements": []}}, "/format/elements"),
        ({"structural_tag": {"type": "structural_tag", "format": 1}}, "/structural_tag/format"),
        ("{", ""),
        ({1: 2}, ""),
    ],
)
def test_what_is_refused(value, pointer):
    with pytest.raises(StructuralTagError) as caught:
        response_format(value)
    assert caught.value.pointer == pointer
    assert isinstance(caught.value, InterlockError)
