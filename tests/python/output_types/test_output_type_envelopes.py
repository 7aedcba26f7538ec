"""Envelopes in which APIs send schemas are opened, and schemas are not taken for envelopes."""

from __future__ import annotations

import json

import pytest

from interlock.output_types import output_type_of

ENVELOPES = [
    {"type": "json_schema", "json_schema": {"name": "a", "strict": True, "schema": {"type": "integer"}}},
    {"type": "json_schema", "json_schema": {"schema": {"type": "integer"}}},
    {"type": "json_schema", "name": "a", "schema": {"type": "integer"}},
    {"format": {"type": "json_schema", "name": "a", "schema": {"type": "integer"}}},
    {"name": "a", "strict": True, "schema": {"type": "integer"}},
    {"name": "a", "schema": {"type": "integer"}},
    {"type": "function", "function": {"name": "f", "parameters": {"type": "integer"}}},
    {"name": "f", "description": "d", "parameters": {"type": "integer"}},
    {"name": "f", "input_schema": {"type": "integer"}},
]


@pytest.mark.parametrize("envelope", ENVELOPES)
def test_envelopes_are_unwrapped(envelope):
    assert output_type_of(envelope).source == {"type": "integer"}
    assert output_type_of(json.dumps(envelope)).source == {"type": "integer"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"schema": {"type": "object"}, "name": {}}},
        {"properties": {"name": {}}, "name": "n", "schema": {}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}, "name": "x", "schema": {}},
        {"type": "string", "name": "n", "schema": {"type": "integer"}},
        {"enum": [1]},
        {"title": "Anything"},
    ],
)
def test_schemas_are_no_envelopes(schema):
    assert output_type_of(schema).source == schema
