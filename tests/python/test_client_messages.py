"""What a server sends to clients: messages in words of the source, without names of the package."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import pytest

import interlock
from interlock import Index

#: What a client does not know: functions, classes, arguments and types of the package or of Python.
PACKAGE = re.compile(
    r"\bIndex\b|\binterlock\b|\bLimits\b|\bVocabulary\b|`(documents|imports|grammars|start)`|on_unsupported|allowed_tokens|"
    r"read_text|\bpathlib\b|\bfrom_\w+|\bcheck_\w+|\b(str|dict|bytes|NoneType)\b|\w+=[\"\'\d]|\bcancel\b|re\.compile"
)
TAG = {"type": "structural_tag"}
DEEP: Any = {}
for _ in range(60):
    DEEP = {"items": DEEP}

#: A call whose source a client wrote, and whether its error has a hint for the program.
SOURCES: list[tuple[str, Any, bool]] = [
    ("json_schema", {"$ref": "http://x/y"}, True),
    ("json_schema", {"$ref": "#/$defs/a"}, False),
    ("json_schema", {"type": "strnig"}, False),
    ("json_schema", "{", False),
    ("json_schema", "order.json", True),
    ("json_schema", {"name": "a", "strict": True, "schema": {}}, False),
    ("json_schema", {"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}, True),
    ("json_schema", {"type": "function", "function": {"name": "f", "parameters": {}}}, True),
    ("json_schema", {"pattern": "(?i)a"}, False),
    ("json_schema", {"pattern": r"^(a)\1$"}, True),
    ("json_schema", {"minimum": 3, "maximum": 1, "type": "integer"}, False),
    ("json_schema", {"not": {"pattern": "a", "multipleOf": 0.1}, "unevaluatedItems": {"not": {}}, "format": 5}, False),
    ("json_schema", {"$schema": "http://json-schema.org/draft-03/schema#"}, False),
    ("json_schema", DEEP, True),
    ("regex", "a(b", False),
    ("regex", r"(a)\1", False),
    (
        "regex",
        "(((((((((((((((((((((((((((((((((((((((((((((((((((a)))))))))))))))))))))))))))))))))))))))))))))))))))",
        True,
    ),
    ("regex", "[^\\s\\S]", False),
    ("grammar", "start: %import x.y", False),
    ("grammar", "%import nothing.WORD\nstart: WORD", True),
    ("grammar", "start: @other", True),
    ("grammar", "start: a", False),
    ("grammar", "start: start", False),
    ("grammar", 'begin: "a"', True),
    ("choices", [], False),
    ("structural_tag", {"type": "tagg"}, False),
    ("structural_tag", TAG, False),
    ("structural_tag", {"type": "json_schema", "json_schema": {"$ref": "http://x/y"}}, True),
    ("structural_tag", {"type": "regex", "pattern": "a("}, False),
    ("response_format", {"type": "json_schema"}, False),
    ("response_format", {"type": "json"}, False),
    ("response_format", {"regex": "a", "json": {}}, False),
    ("response_format", 5, False),
    ("response_format", [1, 2], False),
    ("response_format", [], False),
    ("response_format", "no json", False),
    ("response_format", {"type": "json_schema", "json_schema": {"name": "a", "schema": {"$ref": "x.json"}}}, True),
    ("tools", [{"name": "f", "parameters": {"type": "objekt"}}], False),
    ("tools", [{"type": "function"}], False),
    ("tools", {"name": "f"}, False),
]
LIMITS = {"max_depth": 50}


@pytest.mark.parametrize(("kind", "source", "hinted"), SOURCES, ids=[f"{k}-{i}" for i, (k, *_) in enumerate(SOURCES)])
def test_messages_for_clients(kind, source, hinted, byte_vocabulary):
    options = {"format": "hermes"} if kind == "tools" else {}
    with pytest.raises(interlock.InterlockError) as caught:
        getattr(Index, f"from_{kind}")(source, byte_vocabulary, limits=LIMITS, **options)
    error = caught.value
    assert not PACKAGE.search(error.client_message), error.client_message
    assert (error.hint is not None) == hinted, str(error)
    assert (error.client_message == str(error)) == (error.hint is None)
    if error.hint is not None:
        assert error.hint in str(error) and error.hint not in error.client_message
    with pytest.raises(type(error)) as checked:
        getattr(interlock, f"check_{kind}")(source, limits=LIMITS, **options)
    assert (str(checked.value), checked.value.client_message) == (str(error), error.client_message)
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (str(again), again.client_message, again.hint) == (str(error), error.client_message, error.hint)


def test_every_error_has_one():
    error = interlock.InvalidOutputError("the text is no User", "x")
    assert (error.client_message, error.hint) == ("the text is no User", None)


def test_budgets_and_limits(byte_vocabulary):
    index = Index.from_choices(["abcdef"], byte_vocabulary)
    with pytest.raises(interlock.BudgetError) as caught:
        index.guide(max_tokens=2)
    assert caught.value.client_message == "max_tokens is 2, but a complete output needs 6 tokens"
    with pytest.raises(interlock.LimitError) as limited:
        Index.from_regex("(?=.*[0-9])(?=.*[a-z]).{8,64}", byte_vocabulary, limits={"max_explored_states": 10})
    assert limited.value.client_message == "explored states exceeds its limit: 11 > 10"
    assert limited.value.hint == "Limits.max_explored_states sets it" and limited.value.field == "max_explored_states"


def test_tokens_of_roles():
    vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b"<|im_start|>", b""], 257, [256])
    tag = {"type": "token", "token": "<|im_start|>"}
    with pytest.raises(interlock.StructuralTagError) as caught:
        Index.from_structural_tag(tag, vocabulary, allowed_tokens=[])
    error = caught.value
    assert error.client_message == "at /format/token: the special token '<|im_start|>' may not be named"
    assert error.hint == "allowed_tokens does not have it" and str(error).endswith("; " + error.hint)
    assert pickle.loads(pickle.dumps(error)).client_message == error.client_message
