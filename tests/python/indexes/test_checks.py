"""Checks without a vocabulary refuse what compiling refuses, with the same errors."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

import interlock


def outcome(work: Any) -> tuple[Any, ...]:
    try:
        rows = work()
    except interlock.InterlockError as error:
        return type(error), str(error), error.place, error.line, error.column, error.limit, error.value
    return tuple(rows.report if isinstance(rows, interlock.Index) else rows or [])


REGEXES: list[tuple[Any, dict[str, Any]]] = [
    ("a+", {}),
    ("a(b", {}),
    (r"(a)\1", {}),
    (re.compile("x", re.IGNORECASE), {"flags": "s"}),
    ("a", {"dialect": "perl"}),
    ("(?=.*[0-9])(?=.*[a-z]).{8,64}", {"limits": {"max_explored_states": 100}}),
    ("a(?!.)b", {}),
    ("(?i)a", {"dialect": "ecma"}),
]
SCHEMAS: list[tuple[Any, dict[str, Any]]] = [
    ({"type": "integer"}, {}),
    ({"type": "string", "minLength": 3}, {"spelling": "plain"}),
    ({"type": "string", "minLength": 3, "maxLength": 2}, {}),
    ({"type": "strin"}, {}),
    ('{"type": "string",\n "x" 1}', {}),
    ({"pattern": "(?i)a"}, {}),
    ({"$ref": "urn:x"}, {"documents": {"urn:x": True}}),
    ({"$ref": "urn:y"}, {}),
    ({"type": "string"}, {"spelling": "best"}),
    ({"type": "object", "properties": {"a": {"enum": ["x"]}}}, {"whitespace": "compact"}),
    ({"allOf": [{"anyOf": [{"required": [f"{i}{j}"]} for i in range(40)]} for j in range(9)]}, {}),
]
CHOICES: list[Any] = [["yes", "no"], [], ["a\ud800"]]


def test_patterns(byte_vocabulary: interlock.Vocabulary) -> None:
    for pattern, options in REGEXES:
        checked = outcome(lambda: interlock.check_regex(pattern, **options))
        assert checked == outcome(lambda: interlock.Index.from_regex(pattern, byte_vocabulary, **options)), pattern


def test_schemas(byte_vocabulary: interlock.Vocabulary) -> None:
    refused = 0
    for schema, options in SCHEMAS:
        checked = outcome(lambda: interlock.check_json_schema(schema, **options))
        compiled = outcome(lambda: interlock.Index.from_json_schema(schema, byte_vocabulary, **options))
        assert checked == compiled, schema
        refused += isinstance(checked[:1], tuple) and bool(checked) and isinstance(checked[0], type)
    assert 5 <= refused < len(SCHEMAS)


def test_choices(byte_vocabulary: interlock.Vocabulary) -> None:
    for choices in CHOICES:
        checked = outcome(lambda: interlock.check_choices(choices))
        assert checked == outcome(lambda: interlock.Index.from_choices(choices, byte_vocabulary)), choices


def test_a_check_can_be_cancelled() -> None:
    cancel = interlock.CancelToken()
    cancel.cancel()
    with pytest.raises(interlock.CancelledError):
        interlock.check_regex("(?=.*[0-9])(?=.*[a-z]).{8,64}", cancel=cancel)


def test_errors_of_syntax_show_the_place() -> None:
    with pytest.raises(interlock.SchemaError) as caught:
        interlock.check_json_schema('{"type": "string",\n "x" 1}')
    error = caught.value
    assert (error.line, error.column) == (2, 6)
    assert error.excerpt == ' "x" 1}\n     ^' and str(error).endswith("\n" + error.excerpt)
    with pytest.raises(interlock.PatternError) as found:
        interlock.check_json_schema({"properties": {"a": {"pattern": "x(?i)y"}}})
    error = found.value
    assert error.pointer == "/properties/a" and (error.line, error.column) == (1, 2)
    assert error.excerpt == "x(?i)y\n ^" and "(?i:...)" in str(error)
    with pytest.raises(interlock.UnsatisfiableError) as empty:
        interlock.check_json_schema({"const": 1, "type": "string"})
    assert empty.value.line is None and 'type "string" contradicts const 1' in str(empty.value)


def test_sources_beyond_what_is_kept() -> None:
    for i in range(1_100):
        interlock.check_regex(f"[a-z]{{{i % 50},}}{i}")


TAGS: list[tuple[Any, dict[str, Any]]] = [
    ({"type": "tag", "begin": "<a>", "content": {"type": "any_text"}, "end": "</a>"}, {}),
    ({"type": "tag", "begin": "<a>", "content": {"type": "any_text"}}, {}),
    ({"type": "json_schema", "json_schema": {"type": "objekt"}}, {}),
    (
        {"type": "json_schema", "json_schema": {"properties": {"a": {"minimum": 3, "maximum": 1}}, "required": ["a"]}},
        {},
    ),
    ({"type": "regex", "pattern": "a("}, {}),
    ({"type": "regex", "pattern": "(?=.*[0-9])(?=.*[a-z]).{8,64}"}, {"limits": {"max_explored_states": 100}}),
    ("no json", {}),
]
TOOLS: list[tuple[Any, dict[str, Any]]] = [
    ([{"name": "now"}], {}),
    ([{"name": "now"}], {"tool_choice": "then"}),
    ([{"name": "now", "parameters": {"type": "objekt"}}], {}),
    ([{"name": "now"}], {"format": "hermse"}),
    ([{"name": "now"}], {"min_calls": 3, "max_calls": 2}),
    ([], {"tool_choice": "required"}),
    ([{}], {}),
]
FORMATS: list[tuple[Any, dict[str, Any]]] = [
    ({"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "integer"}}}, {}),
    ({"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "integer"}}}, {"whitespace": "compact"}),
    ({"type": "json_schema", "json_schema": {"name": "a"}}, {}),
    ({"type": "json_object"}, {}),
    ({"type": "text"}, {}),
    (None, {}),
    ({"guided_regex": "a("}, {}),
    ({"guided_choice": []}, {}),
    ({"type": "grammar", "grammar": "root ::= a"}, {}),
    (TAGS[2][0], {}),
    ({"type": "structural_tag", "format": TAGS[4][0]}, {}),
    (3, {}),
]


@pytest.mark.parametrize(("kind", "cases"), [("structural_tag", TAGS), ("tools", TOOLS), ("response_format", FORMATS)])
def test_requests(kind: str, cases: list[tuple[Any, dict[str, Any]]], byte_vocabulary: interlock.Vocabulary) -> None:
    refused = 0
    for source, options in cases:
        given = {"format": "hermes", **options} if kind == "tools" else options
        checked = outcome(lambda: getattr(interlock, f"check_{kind}")(source, **given))
        compiled = outcome(lambda: getattr(interlock.Index, f"from_{kind}")(source, byte_vocabulary, **given))
        assert checked == compiled, source
        refused += bool(checked) and isinstance(checked[0], type)
    assert 4 <= refused < len(cases)


def test_checks_are_asked_for_what_the_methods_are() -> None:
    """Each constructor of a source has a check of its name, with its options but for the vocabulary's own."""
    for name in ("regex", "json_schema", "choices", "grammar", "structural_tag", "tools", "response_format"):
        check, make = (
            [parameter for parameter in inspect.signature(function).parameters if parameter != "cls"]
            for function in (getattr(interlock, f"check_{name}"), getattr(interlock.Index, f"from_{name}"))
        )
        # A tag's own special tokens are the program's choice; what clients send may name fewer.
        left_out = {"vocabulary", "allowed_tokens"} if name == "structural_tag" else {"vocabulary"}
        assert check == [parameter for parameter in make if parameter not in left_out], name


def test_defaults_of_a_request_are_those_of_the_method() -> None:
    """A store makes the tag of a request itself, for its key."""
    from interlock.tools.tags.tag_index import REQUEST

    for function in (interlock.Index.from_tools, interlock.check_tools):
        parameters = inspect.signature(function).parameters
        assert {name: parameters[name].default for name in REQUEST} == REQUEST
        assert set(parameters) - set(REQUEST) == {
            "tools",
            "closed",
            "allowed_tokens",
            "limits",
            "cancel",
            "unknown_keywords",
            "whitespace",
            "spelling",
            "regex_flags",
        } | ({"vocabulary"} if function != interlock.check_tools else set())
