"""A JSON text in a body that has a key twice in one object is refused, as the core refuses such a schema."""

from __future__ import annotations

import json

import pytest

import interlock
from interlock.explain import byte_vocabulary
from interlock.serving import RequestCompiler
from interlock.util.unique_keys import RepeatedKeyError, loads_unique

COMPILERS = [RequestCompiler(byte_vocabulary()), RequestCompiler(byte_vocabulary(), format="hermes")]
TWICE = '{"type": "object", "properties": {"a~/b": {"type": "integer", "minimum": 1, "type": "string"}}}'
INSIDE = "/properties/a~0~1b/type"
TAG = f'{{"type": "structural_tag", "format": {{"type": "json_schema", "json_schema": {TWICE}}}}}'
OLD = {"type": "structural_tag", "structures": [{"begin": "<a>", "schema": TWICE, "end": "</a>"}], "triggers": ["<a"]}
ENVELOPE = {"name": "a", "schema": TWICE}


@pytest.mark.parametrize(
    ("body", "place", "error"),
    [
        ({"guided_json": TWICE}, "/guided_json", interlock.SchemaError),
        ({"json_schema": TWICE}, "/json_schema", interlock.SchemaError),
        ({"structured_outputs": {"json": TWICE}}, "/structured_outputs/json", interlock.SchemaError),
        (
            {"response_format": {"type": "json_schema", "json_schema": ENVELOPE}},
            "/response_format/json_schema/schema",
            interlock.SchemaError,
        ),
        ({"response_format": f'{{"type": "json_object", "schema": {TWICE}}}'}, "/response_format/schema", None),
        (
            {"structured_outputs": {"structural_tag": TAG}},
            "/structured_outputs/structural_tag/format/json_schema",
            None,
        ),
        ({"response_format": OLD}, "/response_format/structures/0/schema", None),
    ],
)
def test_the_key_and_its_place_are_named(body, place, error):
    for compiler in COMPILERS:
        with pytest.raises(error or interlock.RequestError) as caught:
            compiler.compile(body)
        answer = compiler.refusal(caught.value, body)
        assert (answer.status, answer.body["error"]["param"]) == (400, place + INSIDE)
        assert answer.message == f'at {place + INSIDE}: key "type" occurs twice in one object'


def test_the_words_are_those_of_the_core():
    with pytest.raises(interlock.SchemaError, match='^key "type" occurs twice in one object'):
        interlock.check_json_schema(TWICE)


@pytest.mark.parametrize("text", ['{"a": 1, "b": {"a": 1}}', "[1, {}]", "true", '"a"', '[{"a": 1}, {"a": 2}]'])
def test_other_texts_are_read_as_ever(text):
    assert loads_unique(text) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ('{"a": 1, "a": 2}', "/a"),
        ('{"a": 1, "\\u0061": 2}', "/a"),
        # What is lost with the first of two members is told of the object around it.
        ('{"a": {"b": 1, "b": 2}, "a": 5}', "/a"),
        ('{"x": [1, {"": 1, "": 2}]}', "/x/1/"),
    ],
)
def test_the_pointer_leads_to_the_key(text, pointer):
    with pytest.raises(RepeatedKeyError) as caught:
        loads_unique(text)
    assert caught.value.pointer == pointer


def test_a_key_of_a_stranger_is_shown_on_one_short_line():
    text = json.dumps("k\u2028" * 5_000)
    with pytest.raises(interlock.SchemaError) as caught:
        COMPILERS[0].compile({"guided_json": f"{{{text}: 1, {text}: 2}}"})
    message = COMPILERS[0].refusal(caught.value).message
    assert len(message) < 6_000 and "\u2028" not in message


def test_a_deep_text_is_read_by_the_core():
    deep = '{"items": ' * 5_000 + '{"type": "null", "type": "null"}' + "}" * 5_000
    with pytest.raises(interlock.InterlockError) as caught:
        COMPILERS[0].compile({"guided_json": deep})
    assert COMPILERS[0].refusal(caught.value).status == 400
