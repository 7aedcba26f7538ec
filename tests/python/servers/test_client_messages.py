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
    ("regex", "a(b", True),
    ("regex", r"(a)\1", True),
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
    # What to write instead in a pattern is no name of the package.
    is_for_clients = isinstance(error, interlock.PatternError)
    assert (error.client_message == str(error)) == (error.hint is None or is_for_clients)
    if error.hint is not None:
        assert error.hint in str(error) and (error.hint in error.client_message) == is_for_clients
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
    assert limited.value.client_message.startswith(
        "explored states exceeds its limit: 11 > 10; simplify its patterns: "
    )
    assert limited.value.hint == "Limits.max_explored_states sets it" and limited.value.field == "max_explored_states"


def test_tokens_of_roles():
    vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b"<|im_start|>", b""], 257, [256])
    tag = {"type": "token", "token": "<|im_start|>"}
    with pytest.raises(interlock.StructuralTagError) as caught:
        Index.from_structural_tag(tag, vocabulary, allowed_tokens=[])
    error = caught.value
    assert error.client_message == "at /token: the special token '<|im_start|>' may not be named"
    assert error.hint == 'allowed_tokens must have it, or be "all"' and str(error).endswith("; " + error.hint)
    assert pickle.loads(pickle.dumps(error)).client_message == error.client_message


def test_no_line_of_a_log_is_forged(byte_vocabulary):
    with pytest.raises(interlock.SchemaError) as caught:
        Index.from_json_schema({"properties": {"a\n\x1b[31mFAKE\u202e": {"type": "x"}}}, byte_vocabulary)
    error = caught.value
    shown = '(at "/properties/a\\n\\u001b[31mFAKE\\u202e", keyword "type")'
    assert error.client_message.endswith(shown) and str(error).endswith(shown) and shown[1:-1] == error.place
    assert error.pointer == "/properties/a\n\x1b[31mFAKE\u202e"


LONG = "a" * 1_000_000


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        ("json_schema", {"type": LONG}),
        ("json_schema", {"$ref": "#/" + LONG}),
        ("json_schema", {"$ref": LONG}),
        ("json_schema", {"const": LONG, "type": "integer"}),
        ("json_schema", {"enum": [LONG], "type": "integer"}),
        ("json_schema", {"properties": {LONG: {"type": "x"}}}),
        ("json_schema", {"minimum": LONG}),
        ("json_schema", {"$dynamicRef": LONG}),
        ("json_schema", {"pattern": "(" + LONG}),
        ("json_schema", {"format": 5, LONG: 1}),
        ("regex", "(" + LONG),
        ("regex", f"(?P<{LONG}>a)(?P<{LONG}>a)"),
        ("grammar", f"start: {LONG}"),
        ("grammar", f"%import {LONG}\nstart: A"),
        ("grammar", f'start: "{LONG}'),
        ("structural_tag", {"type": LONG}),
        ("structural_tag", {"type": "json_schema", "json_schema": {"type": LONG}}),
        ("structural_tag", {"type": "token", "token": LONG}),
        ("response_format", {"type": LONG}),
        ("tools", [{"name": "f", "parameters": {"type": LONG}}]),
        ("tools", [{"name": LONG}, {"name": LONG}]),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 20 else "",
)
def test_messages_are_bounded(kind, source, byte_vocabulary):
    options = {"format": "hermes"} if kind == "tools" else {}
    with pytest.raises(interlock.InterlockError) as caught:
        getattr(Index, f"from_{kind}")(source, byte_vocabulary, **options)
    assert len(caught.value.client_message) < 2_000, caught.value.client_message[:200]
    assert len(str(caught.value)) < 2_500


def test_one_line(byte_vocabulary):
    for kind, source, line in (
        ("regex", "a\n(b", "missing ), unterminated subpattern (at offset 2)"),
        ("grammar", "start: a", 'line 1, column 8: "a" is used, but not defined'),
        ("json_schema", {"type": "x"}, None),
    ):
        with pytest.raises(interlock.InterlockError) as caught:
            getattr(Index, f"from_{kind}")(source, byte_vocabulary)
        error = caught.value
        assert "\n" not in error.client_line and error.client_message.startswith(error.client_line)
        assert error.client_line == (line or error.client_message)


def test_what_python_says_is_not_sent(byte_vocabulary):
    circle: dict[str, Any] = {}
    circle["items"] = circle
    for source, message, pointer in (
        ({"a": {"b/c": [1, {"minimum": float("nan")}]}}, "NaN and infinities are no JSON numbers", "/a/b~1c/1/minimum"),
        ({"maximum": float("-inf")}, "the number is beyond the largest double, 1.8e308, or is infinite", "/maximum"),
        (circle, "the schema contains itself", None),
        ({"enum": [{1}]}, "the schema cannot be written as JSON: Object of type set is not JSON serializable", None),
    ):
        with pytest.raises(interlock.SchemaError) as caught:
            Index.from_json_schema(source, byte_vocabulary)
        assert caught.value.client_message.startswith(message) and "Error" not in caught.value.client_message
        assert caught.value.pointer == pointer


def test_another_notation(byte_vocabulary):
    with pytest.raises(interlock.GrammarError) as caught:
        Index.from_grammar('root ::= "a"', byte_vocabulary)
    assert "is read as Lark's notation" in caught.value.client_line and "syntax=" not in caught.value.client_message
    assert caught.value.hint.startswith('pass syntax="gbnf"')


TOOL = {"type": "object", "properties": {"x": {"type": "string"}}}
BAD = {"type": "object", "properties": {"x": {"type": "strnig"}}}


@pytest.mark.parametrize(
    ("tools", "pointer"),
    [
        (
            [{"type": "function", "function": {"name": n, "parameters": p}} for n, p in (("a", TOOL), ("b", BAD))],
            "/tools/1/function/parameters/properties/x",
        ),
        (
            [{"name": "b", "input_schema": BAD}, {"name": "a", "input_schema": TOOL}],
            "/tools/0/input_schema/properties/x",
        ),
        ([{"type": "function", "name": "b", "parameters": BAD}], "/tools/0/parameters/properties/x"),
    ],
)
@pytest.mark.parametrize("format", ["hermes", "mistral", "qwen3_coder", "llama3_json"])
def test_errors_of_tools_lie_where_the_client_wrote_them(tools, pointer, format, byte_vocabulary):
    for given in (tools, iter(tools)):
        with pytest.raises(interlock.RequestError) as caught:
            Index.from_tools(given, byte_vocabulary, format=format)
        assert caught.value.pointer == pointer
        assert caught.value.client_message.startswith(f"at {pointer}: ")
    with pytest.raises(interlock.RequestError) as checked:
        interlock.check_tools(tools, format=format)
    assert str(checked.value) == str(caught.value)


@pytest.mark.parametrize("format", ["hermes", "qwen3_coder", "glm_4_7", "harmony"])
def test_parameters_that_accept_nothing_say_which_keywords_contradict(format, byte_vocabulary):
    odd = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 5, "maximum": 3}}, "required": ["n"]}
    tools = [{"name": "a", "parameters": TOOL}, {"type": "function", "function": {"name": "b", "parameters": odd}}]
    place = "/tools/1/function/parameters/properties/n"
    reason = "no value satisfies the schema: this part of it accepts nothing: minimum 5 contradicts maximum 3"
    for make in (
        lambda: Index.from_tools(tools, byte_vocabulary, format=format),
        lambda: interlock.check_tools(tools, format=format),
    ):
        with pytest.raises(interlock.UnsatisfiableError) as caught:
            make()
        assert (caught.value.pointer, caught.value.client_message) == (place, f"at {place}: {reason}")
    tag = {"type": "tag", "begin": "<a>", "content": {"type": "json_schema", "json_schema": odd}, "end": "</a>"}
    with pytest.raises(interlock.UnsatisfiableError) as caught:
        Index.from_structural_tag(tag, byte_vocabulary)
    assert caught.value.client_message == f"at /content/json_schema/properties/n: {reason}"


PLACES = [
    ({"minLength": -1}, "RequestError", "a whole number that is not negative is expected (keyword minLength)"),
    (
        {"allOf": [{"const": 1}, {"const": 2}]},
        "UnsatisfiableError",
        "no value satisfies the schema: this part of it accepts nothing: const 1 (at "
        '"/tools/0/parameters/properties/n/allOf/0") contradicts const 2 (at "/tools/0/parameters/properties/n/allOf/'
        '1")',
    ),
    (
        {"pattern": r"^(a)\1$"},
        "UnsupportedError",
        '"pattern" cannot be enforced here: a backreference cannot be enforced exactly',
    ),
]


@pytest.mark.parametrize("format", ["hermes", "qwen3_coder", "lfm2"])
@pytest.mark.parametrize(("part", "kind", "reason"), PLACES, ids=lambda value: str(value)[:12])
def test_one_place_in_one_form_whatever_the_notation(part, kind, reason, format, byte_vocabulary):
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"n": part}, "required": ["n"]}}]
    with pytest.raises(getattr(interlock, kind)) as caught:
        Index.from_tools(tools, byte_vocabulary, format=format)
    assert caught.value.client_message == f"at /tools/0/parameters/properties/n: {reason}"
    assert caught.value.pointer == "/tools/0/parameters/properties/n"
    assert ("strict=False" in str(caught.value)) == (kind == "UnsupportedError")


def test_a_limit_of_depth_names_the_tool(byte_vocabulary):
    tools = [{"name": "f"}, {"name": "g", "parameters": {"properties": {"n": {"items": {"items": {}}}}}}]
    with pytest.raises(interlock.LimitError) as caught:
        Index.from_tools(tools, byte_vocabulary, format="hermes", limits={"max_depth": 2})
    assert caught.value.client_message.startswith("at /tools/1/parameters: depth of schema exceeds its limit")


def test_unsupported_parts_of_tools_lie_there_too(byte_vocabulary):
    tools = [{"name": "f", "parameters": {"properties": {"x": {"pattern": r"^(a)\1$"}}}}]
    with pytest.raises(interlock.UnsupportedError) as caught:
        Index.from_tools(tools, byte_vocabulary, format="hermes")
    assert caught.value.pointer == "/tools/0/parameters/properties/x" and "/format" not in caught.value.client_message


def test_no_tools(byte_vocabulary):
    with pytest.raises(interlock.RequestError, match="the list of tools is empty"):
        Index.from_tools([], byte_vocabulary, format="hermes")


@pytest.mark.parametrize("pattern", ["(", "[", "\\"])
def test_a_mistake_in_a_pattern_for_blanks_is_not_shown_in_the_schema(pattern):
    with pytest.raises(interlock.PatternError) as caught:
        interlock.check_json_schema('{"type": "object"}', whitespace=pattern)
    error = caught.value
    assert error.client_line.startswith("whitespace pattern: ") and "object" not in error.client_message
    assert error.excerpt is not None and error.excerpt.startswith(pattern)


def test_a_client_learns_nothing_of_the_batch(byte_vocabulary):
    many = "start: " + " | ".join(f'/.*a.{{{i}}}/ "x"' for i in range(24))
    guide = Index.from_grammar(many, byte_vocabulary, limits={"max_mask_steps": 1_000}).guide()
    guide.advance(ord("a"))
    with pytest.raises(interlock.LimitError, match="^guide 1 of the batch: steps of the masks") as caught:
        interlock.fill_bitmasks([None, guide], interlock.allocate_bitmask(2, byte_vocabulary))
    assert caught.value.client_message.startswith("steps of the masks of a grammar exceeds its limit: ")
    assert caught.value.is_client_error


def test_a_batch_that_does_not_fit_is_no_clients_fault(byte_vocabulary):
    guide = Index.from_regex("a", byte_vocabulary).guide()
    for guides, rows in (([guide, None], None), ([guide, None], [0]), ([guide, None], [0, 5])):
        with pytest.raises(interlock.ArgumentError) as caught:
            interlock.fill_bitmasks(guides, interlock.allocate_bitmask(1, byte_vocabulary), rows)
        assert interlock.refusal(caught.value).status == 500


@pytest.mark.parametrize(
    ("grammar", "syntax", "excerpt"),
    [
        ('start: "a"\n  | "b" <nope>', "lark", '2 |   | "b" <nope>\n  |         ^'),
        ('start: "a"\n  | "b" <[999]>', "lark", '2 |   | "b" <[999]>\n  |         ^'),
        ('root ::= "a" |\n  "b" <nope>', "gbnf", '2 |   "b" <nope>\n  |       ^'),
        ('root ::= "a" | Token("<nope>")', "ebnf", '1 | root ::= "a" | Token("<nope>")\n  |                ^'),
    ],
)
def test_a_token_that_the_vocabulary_has_not_is_shown_in_its_line(byte_vocabulary, grammar, syntax, excerpt):
    with pytest.raises(interlock.VocabularyError) as caught:
        Index.from_grammar(grammar, byte_vocabulary, syntax=syntax)
    line, column = excerpt[0], excerpt.split("\n")[1].index("^") - 3
    assert re.match(f"line {line}, column {column}: .*(no special token|out of range)", str(caught.value))
    assert caught.value.client_message.endswith("\n" + excerpt) and "at byte" not in str(caught.value)
