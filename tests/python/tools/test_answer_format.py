"""Tools and a ``response_format`` in one request: calls, or an answer of the format."""

from __future__ import annotations

import warnings

import interlock
import pytest
from interlock import Index
from interlock.tools import Call, format_names, render, structural_tag

NOW = {
    "type": "object",
    "properties": {"zone": {"type": "integer"}},
    "required": ["zone"],
    "additionalProperties": False,
}
TOOLS = [{"type": "function", "function": {"name": "now", "parameters": NOW}}]
SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}
ANSWER = '{"ok": true}'
CALL = render("hermes", [Call("now", {"zone": 1})])


def events(index, text):
    """The names of the events of an output; none where it is refused."""
    try:
        return [type(event).__name__ for event in index.parse(text)]
    except interlock.TokenRejected:
        return []


@pytest.mark.parametrize("choice", ["auto", "none", "required", {"name": "now"}])
@pytest.mark.parametrize("format", format_names())
def test_the_format_holds_where_no_tool_is_called(format, choice, byte_vocabulary):
    # Kimi K3 writes text in a block, which its prompt opens where there is no reasoning.
    reasoning = "optional" if format == "kimi_k3" else "none"
    given = {"format": format, "tool_choice": choice, "response_format": FORMAT, "reasoning": reasoning}
    index = Index.from_tools(TOOLS, byte_vocabulary, **given)
    called = events(index, render(format, [Call("now", {"zone": 1})]))
    answered = events(index, render(format, text=ANSWER))
    assert ("CallEnded" in called) == (choice != "none")
    assert answered == (["Text", "End"] if choice in ("auto", "none") else [])
    assert not events(index, render(format, text="It is five."))
    interlock.check_tools(TOOLS, **given)


@pytest.mark.parametrize(
    ("given", "good", "bad"),
    [
        ({"type": "json_object"}, ["{}", '{"a": "<tool_call>"}'], ["[]", "hello"]),
        ({"type": "regex", "pattern": "[0-9]+"}, ["12"], ["x"]),
        (
            {"guided_choice": ["yes", "a\nb", "<tool_call>", "(x", "é"]},
            ["yes", "a\nb", "<tool_call>", "(x", "é"],
            ["no"],
        ),
        ({"type": "grammar", "grammar": 'start: "a"+', "syntax": "lark"}, ["aa"], ["b"]),
        ({"type": "grammar", "grammar": 'root ::= "a"+ [bc]'}, ["aab"], ["aa"]),
        ({"structured_outputs": {"json": {"type": "array"}, "disable_any_whitespace": True}}, ["[1,2]"], ["[1, 2]"]),
    ],
)
def test_kinds_of_formats(given, good, bad, byte_vocabulary):
    index = Index.from_tools(TOOLS, byte_vocabulary, format="hermes", response_format=given)
    assert all(events(index, text) == ["Text", "End"] for text in good)
    assert not any(events(index, text) for text in bad)
    assert "CallEnded" in events(index, CALL)


def test_reasoning_stands_before_an_answer(byte_vocabulary):
    index = Index.from_tools(TOOLS, byte_vocabulary, format="hermes", reasoning="required", response_format=FORMAT)
    thought = render("hermes", reasoning="Well.")
    assert events(index, thought + ANSWER) == ["Reasoning", "Text", "End"]
    assert "CallEnded" in events(index, thought + CALL)
    assert not events(index, ANSWER)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({}, ANSWER),
        ({"close": "<e>"}, ANSWER + "<e>"),
        ({"open": "<t>", "close": "<e>"}, f"<t>{ANSWER}<e>"),
    ],
)
def test_response_templates_have_formats_too(content, text, byte_vocabulary):
    function = {"name": "{name}", "arguments": "{content}"}
    calls = {
        "open_pattern": r"<call (?P<name>\w+)>",
        "close": "</call>",
        "content": "json",
        "transform": {"type": "function", "function": function},
    }
    fields = {"thinking": {"open": "<think>", "close": "</think>"}, "content": content, "tool_calls": calls}
    given = {"format": {"fields": fields}, "reasoning": "optional", "response_format": FORMAT}
    index = Index.from_tools(TOOLS, byte_vocabulary, **given)
    for before in ("", "<think>Well.</think>\n"):
        assert events(index, before + text)[-2:] == ["Text", "End"]
        assert "CallEnded" in events(index, f'{before}<call now>{{"zone": 1}}</call>')
        assert not events(index, before + text.replace(ANSWER, "hello"))
    none = Index.from_tools(TOOLS, byte_vocabulary, **given, tool_choice="none")
    assert events(none, text) == ["Text", "End"] and not events(none, '<call now>{"zone": 1}</call>')


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        (
            {"type": "structural_tag", "format": {"type": "any_text"}},
            "RequestError",
            "at /response_format: a structural",
        ),
        ({"type": "jsn"}, "RequestError", "at /response_format/type: 'jsn' is no type"),
        (5, "RequestError", "at /response_format: a response_format is a JSON object"),
        ("json_object", "RequestError", 'at /response_format: a response_format is a JSON object: write {"type"'),
        (
            {"guided_json": {}, "guided_whitespace_pattern": " "},
            "RequestError",
            "at /guided_whitespace_pattern: a",
        ),
        ({"type": "regex", "pattern": "[0"}, "RequestError", "at /response_format/pattern: unterminated"),
        ({"type": "grammar", "grammar": "start: b"}, "RequestError", "at /response_format/grammar: line 1, column 8"),
        (
            {"type": "grammar", "grammar": "root ::= b"},
            "RequestError",
            "at /response_format/grammar: line 1, column 10",
        ),
        (
            {"type": "json_schema", "json_schema": {"schema": 5}},
            "SchemaError",
            "at /response_format/json_schema/schema",
        ),
        (
            {"type": "json_schema", "json_schema": {"schema": {"type": "objekt"}}},
            "RequestError",
            'at /response_format/json_schema/schema: "objekt" is not a type',
        ),
        (
            {"type": "json_schema", "json_schema": {"schema": {"type": "integer", "minimum": 5, "maximum": 3}}},
            "UnsatisfiableError",
            "at /response_format/json_schema/schema: no value satisfies the schema: this part of it accepts nothing: "
            "minimum 5 contradicts maximum 3",
        ),
    ],
)
def test_mistakes_in_the_format_have_their_place(given, error, said, byte_vocabulary):
    for call in (
        lambda: Index.from_tools(TOOLS, byte_vocabulary, format="hermes", response_format=given),
        lambda: interlock.check_tools(TOOLS, format="hermes", response_format=given),
    ):
        with pytest.raises(getattr(interlock, error)) as caught:
            call()
        assert caught.value.client_message.startswith(said) and "strict=False" not in str(caught.value)


@pytest.mark.parametrize("grammar", ['start: <|im_start|> "a"', 'root ::= <|im_start|> "a"'])
def test_tokens_of_roles_may_not_be_named_in_it(grammar):
    vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b"<|im_start|>", b""], 257, [256])
    given = {"format": "hermes", "response_format": {"type": "grammar", "grammar": grammar}}
    for call in (
        lambda **more: Index.from_tools(TOOLS, vocabulary, **given, **more),
        lambda **more: interlock.check_tools(TOOLS, **given, **more),
    ):
        with pytest.raises(interlock.RequestError, match="may not be named") as caught:
            call()
        assert caught.value.pointer == "/response_format/grammar"
        call(allowed_tokens="all")


def test_a_text_of_the_format_never_becomes_a_special_token():
    tokens = [bytes([i]) for i in range(256)] + [b"<tool_call>", b"</tool_call>", b""]
    vocabulary = interlock.Vocabulary(tokens, 258, [256, 257])
    given = {"guided_choice": ["<tool_call>"]}
    guide = Index.from_tools(TOOLS, vocabulary, format="hermes", tool_choice="none", response_format=given).guide()
    assert guide.allowed_token_ids().tolist() == [ord("<")]


def test_slips_in_its_keywords_are_told(byte_vocabulary):
    given = {"type": "json_schema", "json_schema": {"schema": {"type": "string", "minLenght": 3}}}
    request = {"format": "hermes", "response_format": given, "strict": False}
    with pytest.warns(interlock.UnknownKeywordWarning, match="minLenght` .at /response_format/json_schema/schema"):
        Index.from_tools(TOOLS, byte_vocabulary, **request)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Index.from_tools(TOOLS, byte_vocabulary, **request, unknown_keywords="ignore")


def test_stores_and_tags_know_the_format(tmp_path, byte_vocabulary):
    store = interlock.Store(tmp_path)
    found = [
        store.get_or_compile("tools", TOOLS, byte_vocabulary, format="hermes", response_format=given)
        for given in (FORMAT, None)
    ]
    assert [bool(events(index, ANSWER)) and not events(index, "hello") for index in found] == [True, False]
    tag = structural_tag(TOOLS, format="hermes", response_format=FORMAT)
    assert events(Index.from_structural_tag(tag, byte_vocabulary), ANSWER) == ["Text", "End"]
