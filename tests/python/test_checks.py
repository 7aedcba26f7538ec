"""Checks without a vocabulary refuse what compiling refuses, with the same errors."""

from __future__ import annotations

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
