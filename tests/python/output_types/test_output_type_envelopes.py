"""Envelopes in which APIs send schemas are opened, and schemas are not taken for envelopes."""

from __future__ import annotations

import json

import interlock
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
    {"guided_json": {"type": "integer"}},
    {"structured_outputs": {"json": {"type": "integer"}}},
    {"response_schema": {"type": "integer"}},
    {"response_mime_type": "application/json", "response_json_schema": {"type": "integer"}},
    {"responseMimeType": "application/json", "responseSchema": {"type": "integer"}},
    {"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "integer"}}}},
    {"text": {"format": {"type": "json_schema", "name": "a", "schema": {"type": "integer"}}}},
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


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"guided_regex": "a+"}, r"'guided_regex' is a field of a request, and no JSON Schema: pass re\.compile"),
        ({"structured_outputs": {"choice": ["a"]}}, "'structured_outputs.choice' is a field of a request"),
        ({"structured_outputs": {"type": "integer"}}, "the envelope's 'structured_outputs' has no 'json'"),
        ({"guided_json": '{"type": "integer"}'}, "its schema is a text: pass that text itself"),
        ({"response_schema": int}, "'response_schema' is a field of a request, .* pass int itself"),
        ({"response_format": {"type": "json_object"}}, "asks for any JSON and names no schema"),
        ({"guided_json": {"type": "integer"}, "guided_regex": "a+"}, "accepts every JSON value"),
    ],
)
def test_fields_of_requests_that_hold_no_schema(fields, said):
    with pytest.raises(interlock.ArgumentError, match=said):
        output_type_of(fields)
