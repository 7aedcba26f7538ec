"""What a ``LimitError`` of a source says: where it is, and to clients how the source becomes smaller."""

from __future__ import annotations

import json
import sys

import pytest

import interlock
from interlock import Index

HARD = "(?=.*[0-9])(?=.*[a-z]).{8,64}"
GRAMMARS = [
    (f'start: "x" A\nA: /{HARD}/', {"max_explored_states": 10}, 2, "simplify its patterns"),
    (f"start: A\n\n\nA: /{HARD}/", {"max_explored_states": 10}, 4, "simplify its patterns"),
    ("start: a\na: " + "(" * 60 + '"b"' + ")" * 60, {"max_depth": 50}, 2, "nest it less deeply"),
    ("start: A\nA: /" + "(" * 60 + "b" + ")" * 60 + "/", {"max_depth": 50}, 2, "nest it less deeply"),
    ('start: "a" b\nb: %json {"items":{"items":{"items":{}}}}', {"max_depth": 2}, 2, "nest it less deeply"),
]


@pytest.mark.parametrize(("grammar", "limits", "line", "remedy"), GRAMMARS, ids=[str(i) for i in range(len(GRAMMARS))])
def test_a_limit_in_a_grammar_has_its_line(grammar, limits, line, remedy, byte_vocabulary):
    for call in (
        lambda: Index.from_grammar(grammar, byte_vocabulary, limits=limits),
        lambda: interlock.check_grammar(grammar, limits=limits),
    ):
        with pytest.raises(interlock.LimitError) as caught:
            call()
        error = caught.value
        assert error.client_line.startswith(f"line {line}, column "), error
        assert f"; {remedy}" in error.client_line and "Limits" not in error.client_message
        assert str(error).endswith(f"\n{error.hint}") and error.hint == f"Limits.{error.field} sets it"
        assert grammar[: error.offset].count("\n") == line - 1


SOURCES = [
    ("json_schema", {"properties": {"a": {"pattern": HARD}}}, "max_explored_states", "/properties/a"),
    ("json_schema", {"properties": {f"a{i}": {"minimum": i} for i in range(20)}}, "max_rules", ""),
    ("json_schema", {"properties": {f"a{i}": {"minimum": i} for i in range(20)}}, "max_algebra_steps", ""),
    ("json_schema", {"items": {"anyOf": [{"required": [str(i)]} for i in range(20)]}}, "max_alternatives", "/items"),
    ("json_schema", "[" * 20, "max_depth", None),
    ("json_schema", {"title": "a" * 20}, "max_source_bytes", None),
    ("json_schema", {"properties": {f"a{i}": {"minimum": i} for i in range(20)}}, "max_compile_steps", None),
    ("regex", HARD, "max_explored_states", None),
    ("regex", "(abc|def){1,100}", "max_expr_nodes", None),
]


@pytest.mark.parametrize(("kind", "source", "field", "pointer"), SOURCES, ids=[f"{k}-{f}" for k, _, f, _ in SOURCES])
def test_a_client_learns_how_the_source_becomes_smaller(kind, source, field, pointer, byte_vocabulary):
    with pytest.raises(interlock.LimitError) as caught:
        getattr(Index, f"from_{kind}")(source, byte_vocabulary, limits={field: 10})
    error = caught.value
    assert (error.field, error.pointer) == (field, pointer)
    said = error.client_message.removesuffix(f" ({error.place})")
    assert any(f"; {way}" in said for way in ("make it ", "simplify ", "nest it ")), said
    assert "Limits" not in said and '""' not in error.client_message


def nested(depth):
    schema = {"type": "integer"}
    for _ in range(depth):
        schema = {"items": schema}
    return schema


def test_a_schema_that_is_nested_too_deeply(byte_vocabulary):
    asked = {"type": "json_schema", "json_schema": {"name": "a", "schema": nested(900)}}
    Index.from_response_format(asked, byte_vocabulary)
    asked["json_schema"]["schema"] = nested(60_000)
    for call in (
        lambda: Index.from_json_schema(nested(60_000), byte_vocabulary),
        lambda: Index.from_response_format(asked, byte_vocabulary),
        lambda: interlock.check_response_format(asked),
    ):
        with pytest.raises(interlock.LimitError) as caught:
            call()
        error = caught.value
        assert (
            "is nested 60001 levels deep, too deeply to be written as JSON" in error.client_message
            and "$defs" in error.client_message
        )
        assert (error.limit, error.value) == (sys.getrecursionlimit(), 60_001)
        assert "Limits.max_depth" in error.hint and "Limits" not in error.client_message
        assert error.pointer in (None, "/json_schema/schema")
    text = '{"items":' * 3_000 + "{}" + "}" * 3_000
    with pytest.raises(interlock.LimitError, match="depth of schema exceeds its limit: 1001 > 1000") as caught:
        Index.from_response_format({"guided_json": text}, byte_vocabulary)
    assert (caught.value.limit, caught.value.value, caught.value.pointer) == (1_000, 1_001, "/guided_json")
    with pytest.raises(RecursionError) as python:
        json.loads("[" * 200_000)
    answer = interlock.refusal(python.value)
    assert (answer.status, answer.reason, answer.message) == (
        400,
        "limit",
        "the request is nested too deeply to be read",
    )


TAG = {"type": "structural_tag", "format": {"type": "const_string", "value": "a" * 300}}


def test_tools_that_are_too_long_together(byte_vocabulary):
    tools = [{"name": f"tool_{i}", "parameters": {"type": "object"}} for i in range(50)]
    limits, answer = {"max_source_bytes": 2_000}, {"type": "regex", "pattern": "[0-9]"}
    for options, what in (
        ({}, "the tools together"),
        ({"response_format": answer}, "the tools and the format of the answer together"),
    ):
        for call in (
            lambda: Index.from_tools(tools, byte_vocabulary, format="hermes", limits=limits, **options),  # noqa: B023
            lambda: interlock.check_tools(tools, format="hermes", limits=limits, **options),  # noqa: B023
        ):
            with pytest.raises(interlock.LimitError) as caught:
                call()
            error = caught.value
            said = (
                f"at /tools: bytes of {what}, written as a grammar, exceeds its limit: {error.value} > 2000; send fewer"
            )
            assert error.pointer == "/tools" and error.client_message.startswith(said)
            assert (error.limit, error.field) == (2_000, "max_source_bytes") and error.value > 2_000
            assert error.hint == "Limits.max_source_bytes sets it"
            assert interlock.refusal(error).status == 413


@pytest.mark.parametrize(
    ("asked", "pointer", "what"),
    [
        (TAG, "", "bytes of the structural tag, written as a grammar, exceeds its limit"),
        ({"response_format": TAG}, "/response_format", "bytes of the structural tag, written as a grammar, exceeds"),
        ({"guided_grammar": 'start: "a"' + " " * 300}, "/guided_grammar", "bytes of a grammar exceeds its limit"),
    ],
)
def test_a_response_format_that_is_too_long_as_a_grammar(asked, pointer, what, byte_vocabulary):
    limits = {"max_source_bytes": 200}
    for call in (
        lambda: Index.from_response_format(asked, byte_vocabulary, limits=limits),
        lambda: interlock.check_response_format(asked, limits=limits),
    ):
        with pytest.raises(interlock.LimitError) as caught:
            call()
        error = caught.value
        assert error.pointer == pointer and (error.limit, error.field) == (200, "max_source_bytes")
        assert error.client_message.startswith(f"at {pointer}: {what}" if pointer else what)
        assert interlock.refusal(error).status == 413
