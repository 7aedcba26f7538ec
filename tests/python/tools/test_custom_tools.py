"""Custom tools of OpenAI's interfaces: errors in their definitions, and their calls as clients read them."""

from __future__ import annotations

import interlock
import pytest
from interlock import Index, UnsatisfiableError, UnsupportedError
from interlock.tools import ChatCompletionDeltas, RequestError, chat_completion_choice, format_names

FORMATS = ("hermes", "qwen3_coder", "functiongemma", "gemma_4", "pythonic", "olmo_3", "harmony", "deepseek_v3_1")
JSON_FORMATS = ("hermes", "mistral", "harmony", "deepseek_v3_1")


def nested(definition, syntax="regex", kind="grammar"):
    """A custom tool in the shape of Chat Completions."""
    form = {"type": kind, "grammar": {"syntax": syntax, "definition": definition}}
    return {"type": "custom", "custom": {"name": "dial", "format": form}}


def flat(definition, syntax="regex", kind="grammar"):
    """One in the shape of the Responses API."""
    return {"type": "custom", "name": "dial", "format": {"type": kind, "syntax": syntax, "definition": definition}}


SHAPES = ((nested, "/tools/1/custom/format", "/grammar"), (flat, "/tools/1/format", ""))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("pattern", "error", "said", "at"),
    [
        ("[0-9", RequestError, "unterminated character ", 0),
        ("x" * 3_000 + "[0-9", RequestError, "unterminated character ", 3_000),
        ("ab)(?:c", RequestError, "unbalanced parenthesis", 2),
        (r"(a)\1", UnsupportedError, "a backreference cannot be enforced exactly", 3),
    ],
)
def test_errors_of_patterns_are_at_the_pattern_of_the_client(form, pattern, error, said, at, byte_vocabulary):
    for make, place, inner in SHAPES:
        tools = [{"name": "f"}, make(pattern)]
        for call in (
            lambda: Index.from_tools(tools, byte_vocabulary, format=form),  # noqa: B023
            lambda: interlock.check_tools(tools, format=form),  # noqa: B023
        ):
            with pytest.raises(error) as caught:
                call()
            where = f"{place}{inner}/definition"
            message = caught.value.client_message
            assert caught.value.pointer == where and message.startswith(f"at {where}: {said}")
            assert message.endswith(f"(at character {at} of the pattern)")


@pytest.mark.parametrize("form", JSON_FORMATS)
def test_a_pattern_without_a_text_is_at_its_place(form, byte_vocabulary):
    with pytest.raises(UnsatisfiableError, match="^at /tools/0/custom/format/grammar/definition: the pattern accepts"):
        Index.from_tools([nested(r"a(?!b)[^\s\S]")], byte_vocabulary, format=form)


def test_a_pattern_in_quotes_of_a_structural_tag_is_read_alone(byte_vocabulary):
    tag = {"type": "quoted", "content": {"type": "regex", "pattern": "ab)(?:c"}}
    with pytest.raises(interlock.StructuralTagError, match=r"^at /content: unmatched \)"):
        Index.from_structural_tag(tag, byte_vocabulary)


def test_parentheses_in_classes_and_behind_backslashes_are_characters(byte_vocabulary):
    for form in FORMATS:
        Index.from_tools([nested(r"a[)]\)(b)")], byte_vocabulary, format=form)


def test_a_grammar_that_cannot_be_quoted_is_named_so(byte_vocabulary):
    for definition in ('start: "a"', "start: /[0-9/"):
        with pytest.raises(UnsupportedError, match="custom/format/grammar/definition: a grammar cannot stand inside"):
            Index.from_tools([nested(definition, "lark")], byte_vocabulary, format="hermes")


@pytest.mark.parametrize(("make", "place", "inner"), SHAPES)
def test_places_of_other_fields(make, place, inner, byte_vocabulary):
    for tool, where, said in (
        (make("a", syntax="perl"), f"{inner}/syntax", "the syntax of a custom tool is"),
        (make("a", syntax=None), f"{inner}/syntax", "the syntax of a custom tool is"),
        (make("a", kind="grammr"), "/type", "the format of a custom tool has the type"),
        (make(5), f"{inner}/definition", "the definition of a custom tool is a text"),
        (make("\ud800"), f"{inner}/definition", "the definition holds a lone surrogate"),
    ):
        with pytest.raises(RequestError) as caught:
            Index.from_tools([{"name": "f"}, tool], byte_vocabulary, format="qwen3_coder")
        assert caught.value.pointer == place + where and caught.value.reason.startswith(said)
        assert "None" not in caught.value.reason


TEXT = 'a "b" \\ é\n{1}'


@pytest.mark.parametrize("form", [name for name in format_names() if name != "kimi_k3"])  # As for calls of functions.
def test_calls_of_custom_tools_have_openais_shape(form, byte_vocabulary):
    tools = [{"name": "f", "strict": True}, {"type": "custom", "custom": {"name": "dial"}}]
    index = Index.from_tools(tools, byte_vocabulary, format=form, tool_choice="required", parallel=False)
    called = interlock.tools.render(form, [interlock.tools.Call("dial", {"input": TEXT}, "123456789")])
    options = {"format": form, "tools": tools, "new_id": lambda: "call_1"}
    choice = chat_completion_choice(index.parse(called), **options)
    (call,) = choice["message"]["tool_calls"]
    assert choice["finish_reason"] == "tool_calls" and call.pop("id").endswith(("call_1", "123456789"))
    assert call == {"type": "custom", "custom": {"name": "dial", "input": TEXT}}


@pytest.mark.parametrize("form", ["hermes", "qwen3_coder"])
def test_deltas_of_custom_tools(form, byte_vocabulary):
    tools = [nested("[0-9]{3}"), {"name": "now", "parameters": {"type": "object"}}]
    index = Index.from_tools(tools, byte_vocabulary, format=form, tool_choice="required")
    calls = [interlock.tools.Call("dial", {"input": "123"}), interlock.tools.Call("now", {})]
    deltas = ChatCompletionDeltas(format=form, tools=tools, new_id=lambda: "call_1")
    guide = index.guide()
    taken = []
    for token in interlock.tools.render(form, calls).encode():
        guide.advance(token)
        taken += deltas.take(guide.events())
    taken += deltas.take(guide.events())
    assert taken[:3] == [
        {"role": "assistant", "content": None},
        {"tool_calls": [{"index": 0, "id": "call_1", "type": "custom", "custom": {"name": "dial", "input": ""}}]},
        {"tool_calls": [{"index": 0, "custom": {"input": "123"}}]},
    ]
    function = {"name": "now", "arguments": ""}
    assert taken[3] == {"tool_calls": [{"index": 1, "id": "call_1", "type": "function", "function": function}]}


def test_tools_that_are_none_are_refused():
    with pytest.raises(RequestError, match="^at /tools: tools are a list, not a string"):
        ChatCompletionDeltas(tools="f")
