"""Events as ``tool_calls``, deltas and ``finish_reason`` of OpenAI's chat completions."""

from __future__ import annotations

import doctest
import json

import pytest

import interlock
from interlock import events as ev
from interlock.tools import Call, ChatCompletionDeltas, chat_completion_choice, format_names, render, tool_format
from interlock.tools.replies import chat_completions

VOCABULARY = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
TOOLS = [
    {
        "name": name,
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
            "required": ["a", "b"],
            "additionalProperties": False,
        },
    }
    for name in ("add", "join")
]
CALLS = [Call("add", {"a": 1, "b": 'x "ü"'}, ""), Call("join", {"a": -2, "b": ""}, "")]


def numbered():
    numbers = iter(range(100))
    return lambda: f"call_{next(numbers)}"


def merged(deltas):
    """What a client makes of deltas, as OpenAI's own does."""
    message = {"content": None}
    calls = []
    for delta in deltas:
        for key in ("role", "content", "reasoning_content"):
            if delta.get(key) is not None:
                message[key] = delta[key] if key == "role" else (message.get(key) or "") + delta[key]
        for one in delta.get("tool_calls", ()):
            if one["index"] == len(calls):
                calls.append({"id": one["id"], "type": one["type"], "function": {"name": one["function"]["name"]}})
                calls[-1]["function"]["arguments"] = ""
            assert one["index"] == len(calls) - 1
            calls[one["index"]]["function"]["arguments"] += one["function"]["arguments"]
    return message, calls


def streamed(index, data, **options):
    """The deltas of an output, asked for behind every token."""
    guide = index.guide()
    made = ChatCompletionDeltas(new_id=numbered(), **options)
    deltas = []
    for token in [*data, 256]:
        guide.advance(token)
        deltas += made.take(guide.events())
    return deltas, made.finish_reason


@pytest.mark.parametrize("form", [name for name in format_names() if name != "kimi_k3"])
@pytest.mark.parametrize("known", [True, False])
def test_parallel_calls_of_every_format(form, known):
    index = interlock.Index.from_tools(TOOLS, VOCABULARY, format=form)
    data = render(form, CALLS).encode()
    try:
        index.parse(data)
    except interlock.TokenRejected:
        pytest.skip("the format has one call in a turn")
    options = {"format": form} if known else {}
    deltas, reason = streamed(index, data, **options)
    message, calls = merged(deltas)
    assert deltas[0]["role"] == "assistant" and all("role" not in delta for delta in deltas[1:])
    assert reason == "tool_calls"
    # Between the calls of this format stands a semicolon; who does not name the format gets it as text.
    assert message["content"] == (";" if form == "llama3_json" and not known else None) or message["content"] == ""
    assert [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls] == [
        (call.name, call.arguments) for call in CALLS
    ]
    ended = [event.call for event in index.parse(data) if isinstance(event, ev.CallEnded)]
    has_own = any("${id}" in notation.begin for notation in tool_format(form).notations)
    ids = [call.id if has_own else f"call_{at}" for at, call in enumerate(ended)]
    assert all(ids) and [call["id"] for call in calls] == ids

    choice = chat_completion_choice(index.parse(data), new_id=numbered(), **options)
    whole = choice["message"]
    assert choice["finish_reason"] == "tool_calls" and choice["index"] == 0
    assert whole["content"] == (message["content"] or None) and whole["role"] == "assistant"
    assert [call["function"] for call in whole["tool_calls"]] == [call["function"] for call in calls]
    assert [call["id"] for call in whole["tool_calls"]] == ids


def test_json_arguments_come_in_fragments():
    index = interlock.Index.from_tools(TOOLS, VOCABULARY, format="hermes")
    data = render("hermes", CALLS[:1]).encode()
    pieces = [
        one["function"]["arguments"]
        for delta in streamed(index, data, format="hermes")[0]
        for one in delta.get("tool_calls", ())
    ]
    assert len(pieces) > 10 and "".join(pieces) == json.dumps(CALLS[0].arguments, ensure_ascii=False)
    # Another notation is sent once it can be written as JSON.
    tagged = interlock.Index.from_tools(TOOLS, VOCABULARY, format="glm_4_7")
    data = render("glm_4_7", CALLS[:1]).encode()
    deltas = streamed(tagged, data, format="glm_4_7")[0]
    assert [json.loads(one["function"]["arguments"] or "null") for d in deltas for one in d.get("tool_calls", ())] == [
        None,
        CALLS[0].arguments,
    ]


def test_reasoning_text_and_calls():
    index = interlock.Index.from_tools(TOOLS, VOCABULARY, format="hermes", reasoning="required")
    data = ("<think>\nLet me add.\n</think>\n\nOne  moment.\n\n" + render("hermes", CALLS[:1])).encode()
    deltas, reason = streamed(index, data, format="hermes")
    message, calls = merged(deltas)
    assert "Let me add." in message["reasoning_content"]
    assert message["content"].strip() == "One  moment." and message["content"] == message["content"].rstrip()
    assert len(calls) == 1 and reason == "tool_calls"
    renamed = chat_completion_choice(index.parse(data), format="hermes", reasoning_field="reasoning")["message"]
    assert renamed["reasoning"] == message["reasoning_content"] and renamed["content"] == message["content"]
    without = chat_completion_choice(index.parse(data), reasoning_field=None)["message"]
    assert set(without) == {"role", "content", "tool_calls"}


@pytest.mark.parametrize("text", ["Hello, world.", "two\n\nlines\n", "", "  \n"])
def test_text_alone_is_kept_to_the_last_blank(text):
    index = interlock.Index.from_tools(TOOLS, VOCABULARY, format="hermes")
    deltas, reason = streamed(index, text.encode(), format="hermes")
    assert (merged(deltas)[0]["content"] or "") == text and reason == "stop"
    choice = chat_completion_choice(index.parse(text))
    assert choice == {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}


def test_an_output_that_was_cut_off():
    index = interlock.Index.from_tools(TOOLS, VOCABULARY, format="hermes")
    data = render("hermes", CALLS[:1]).encode()[:-20]
    choice = chat_completion_choice(index.parse(data, partial=True), format="hermes")
    (call,) = choice["message"]["tool_calls"]
    assert choice["finish_reason"] == "length" and call["function"]["name"] == "add"
    assert json.dumps(CALLS[0].arguments, ensure_ascii=False).startswith(call["function"]["arguments"])
    assert ChatCompletionDeltas().finish_reason == "length"


def test_a_call_without_arguments_has_an_empty_object():
    index = interlock.Index.from_tools([{"name": "now"}], VOCABULARY, format="glm_4_7")
    data = render("glm_4_7", [Call("now", {}, "")])
    (call,) = chat_completion_choice(index.parse(data), format="glm_4_7")["message"]["tool_calls"]
    assert call["function"] == {"name": "now", "arguments": "{}"}


def test_identifiers_look_like_openais():
    found = chat_completion_choice([ev.CallBegun(0), ev.CallEnded(0, CALLS[0]), ev.CallBegun(1), ev.End()])
    (call,) = found["message"]["tool_calls"]
    assert call["id"].startswith("call_") and len(call["id"]) == 29


def test_what_cannot_be_sent():
    with pytest.raises(interlock.ArgumentError, match="taken back"):
        ChatCompletionDeltas().take([ev.TakenBack(1)])
    with pytest.raises(interlock.ToolFormatError, match="did you mean 'hermes'"):
        ChatCompletionDeltas(format="hermse")


def test_an_event_of_a_call_that_did_not_begin_is_refused():
    for event in (ev.NameKnown(3, "f"), ev.ArgumentBytes(3, b"{}"), ev.CallEnded(3, Call("f", {}))):
        with pytest.raises(
            interlock.ArgumentError, match=f"{type(event).__name__} came before CallBegun of its call 3"
        ):
            ChatCompletionDeltas(format="hermes").take([event])


def test_nothing_comes_behind_the_end():
    deltas = ChatCompletionDeltas()
    assert [delta["content"] for delta in deltas.take([ev.Text("a"), ev.End()])] == ["", "a"]
    assert deltas.take([]) == [] and deltas.finish_reason == "stop"
    for late in (ev.Text("b"), ev.End(), ev.CallBegun(0)):
        with pytest.raises(interlock.ArgumentError, match=f"^{type(late).__name__} came behind End: make a new"):
            deltas.take([late])
    with pytest.raises(interlock.ArgumentError, match="taken back"):
        deltas.take([ev.TakenBack(1)])
    assert deltas.finish_reason == "stop"
    with pytest.raises(interlock.ArgumentError, match="Text came behind End"):
        chat_completion_choice([ev.End(), ev.Text("b")])


def test_the_examples_of_the_module():
    assert doctest.testmod(chat_completions).failed == 0
