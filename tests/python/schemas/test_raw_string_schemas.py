"""Strings without quotes in calls of tools: they take exactly the texts that the JSON string of the same schema has."""

import json
import random

import pytest
from engine_lists import assert_core_knows

import interlock
from interlock._recipe import byte_vocabulary
from interlock.string_formats import FORMATS
from interlock.tools import render
from interlock.tools.tag_grammars.string_grammar import may_hold

FORMS = ("qwen3_coder", "gemma_4", "deepseek_v3_2")
CASES = [
    ({"format": "email"}, ["a" * 64 + "@b.org", "a" * 65 + "@b.org", "a@[1.2.3.4]", '"a b"@c.de', "a", "a@-b"]),
    ({"format": "ipv6"}, ["::1", "1::2::3"]),
    ({"format": "time"}, ["23:59:60Z", "12:59:60Z", "10:00:00Z"]),
    ({"format": "hostname"}, ["a.b.c.d.e.f", "a" * 63, "a" * 64, "xn--a"]),
    ({"format": "date", "pattern": "^20"}, ["2024-02-29", "2023-02-29", "1999-01-01"]),
    ({"pattern": r"\d+$"}, ["a1", "a\u0661"]),
    ({"pattern": r"^\s$"}, ["\u2028", "\ufeff", "\u001f"]),
    ({"pattern": "a|b"}, ["xbx", "c"]),
    ({"pattern": "^(?=.*a)[a-c]+$"}, ["cab", "cb"]),
    ({"pattern": r"\bfoo\b"}, ["a foo b", "afoo"]),
    ({"minLength": 2, "maxLength": 3}, ["\u00e9", "\u00e9\u00e9", "\U0001f600" * 3, "\u00e9" * 4]),
    ({"maxLength": 2.0}, ["ab", "abc"]),
]


def _takes(index, text):
    guide = index.guide()
    return guide.advance_many(list(text.encode())) == len(text.encode()) and guide.is_accepting


def _written(takes, text):
    """Whether a text can be written as a string in a call, and is taken."""
    try:
        return takes(text)
    except interlock.InterlockError:
        return False


def _both(schema, form):
    """Whether the JSON string, and whether the string in a call, takes a text."""
    parameters = {"properties": {"a": schema}, "required": ["a"], "additionalProperties": False}
    tools = [{"name": "f", "parameters": {"type": "object", **parameters}}]
    document = interlock.Index.from_json_schema(schema, byte_vocabulary())
    calls = interlock.Index.from_tools(tools, byte_vocabulary(), format=form, tool_choice="required")
    return (
        lambda text: _takes(document, json.dumps(text, ensure_ascii=False)),
        lambda text: _takes(calls, render(form, [{"name": "f", "arguments": {"a": text}}])),
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("schema", "texts"), CASES, ids=str)
def test_the_texts_are_those_of_json(schema, texts, form):
    in_json, in_call = _both({"type": "string", **schema}, form)
    answers = [in_json(text) for text in texts]
    assert [in_call(text) for text in texts] == answers
    assert True in answers


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_format_of_json_schema_is_enforced(name):
    assert_core_knows(name)
    in_json, in_call = _both({"type": "string", "format": name}, "qwen3_coder")
    for seed in range(5):
        text = FORMATS[name].sample(random.Random(seed))
        assert in_json(text) and in_call(text), text
    assert in_json("{ (") is in_call("{ (") is False


@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize("text", ["<", "\n"])
def test_what_no_text_of_a_format_holds(name, text):
    if not may_hold({"format": name}, text) and not name.startswith("idn-"):
        assert not holds(name, text), (
            f"a {name} may hold {text!r}: its row in python/interlock/string_formats needs holds_delimiters"
        )


def holds(name, text):
    """Whether some text of a format holds ``text``."""
    assert_core_knows(name)
    mark = {"<": "[<]", "\n": "\\n"}[text]
    grammar = f'start: T\nT: %json_text {{"format": "{name}"}} & /.*{mark}.*/s'
    try:
        interlock.Index.from_grammar(grammar, byte_vocabulary(), limits={"max_compile_steps": 100_000_000})
    except interlock.UnsatisfiableError:
        return False
    return True


def test_a_core_that_is_older_than_a_format_is_named():
    with pytest.raises(AssertionError, match="does not know the format mac: run make dev"):
        holds("mac", "<")


def test_a_format_that_may_hold_a_delimiter_is_found():
    assert holds("regex", "<") and not holds("date", "\n")


@pytest.mark.parametrize("name", ["email", "idn-email"])
def test_an_address_holds_no_end_of_its_parameter(name):
    """A quoted local part holds no <, so that no delimiter stands in it."""
    in_json, in_call = _both({"type": "string", "format": name}, "qwen3_coder")
    for inside in ("a", "a b", r"\"", r"\\", "/parameter>", "<", r"\<", r"\</b>", r"\\</b>", r"\"\</parameter"):
        assert _written(in_call, f'"{inside}"@b.org') is in_json(f'"{inside}"@b.org') is ("<" not in inside), inside


@pytest.mark.parametrize("form", FORMS + ("lfm2",))
def test_a_format_that_json_schema_does_not_know_asserts_nothing(form):
    in_json, in_call = _both({"type": "string", "format": "phone", "maxLength": 4}, form)
    for text in ("", "x y", "+49", "12345"):
        assert in_call(text) is in_json(text) is (len(text) <= 4)
    schema = {"type": "object", "properties": {"a": {"type": "string", "format": "phone"}}}
    interlock.check_tools([{"name": "f", "parameters": schema}], format=form)


@pytest.mark.parametrize("form", FORMS)
def test_an_international_address(form):
    in_json, in_call = _both({"type": "string", "format": "idn-email"}, form)
    for text in ("ada@example.org", "\u00e9@\u00fc.de", "\u4e00" * 21 + "@b", "\u4e00" * 22 + "@b", "@\u00e9", "a@@b"):
        assert in_call(text) is in_json(text)
