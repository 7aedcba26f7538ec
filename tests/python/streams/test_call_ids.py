"""Identifiers of calls: a client of a stream gets those that a client of a whole answer gets, in every format."""

from __future__ import annotations

import random
import re

import pytest

from interlock import events as ev
from interlock.explain import byte_vocabulary
from interlock.serving import RequestCompiler
from interlock.tools import (
    Call,
    ChatCompletionDeltas,
    ToolFormatError,
    chat_completion_choice,
    format_names,
    parse_reply,
    render,
    tool_format,
)

END = 256
TOOLS = [
    {
        "name": name,
        "parameters": {
            "type": "object",
            "properties": {"note": {"type": "string"}},
            "required": ["note"],
            "additionalProperties": False,
        },
    }
    for name in ("find", "find_all")
]
CALLS = [Call("find", {"note": "a"}), Call("find_all", {"note": "b"})]
OWN = {
    "cohere_action": ["0", "1"],
    "cohere_xml": ["0", "1"],
    "kimi_k2": ["functions.find:0", "functions.find_all:1"],
    "kimi_k3": ["1", "2"],
    "mistral_call_id": ["call00000", "call00001"],
    "solar_open": ["call00000", "call00001"],
}
"""The formats that write identifiers before the arguments, with those of ``CALLS``."""


def merged(deltas):
    """The message that a client makes of deltas."""
    message = {"role": "assistant", "content": None}
    for delta in deltas:
        for key in ("content", "reasoning_content"):
            if delta.get(key):
                message[key] = (message.get(key) or "") + delta[key]
        for one in delta.get("tool_calls", ()):
            calls = message.setdefault("tool_calls", [])
            if "id" in one:
                assert one["index"] == len(calls)
                calls.append({"id": one["id"], "type": one["type"], "function": dict(one["function"])})
            else:
                calls[one["index"]]["function"]["arguments"] += one["function"]["arguments"]
    if "tool_calls" not in message:
        message["content"] = message["content"] or ""
    return message


def begun(name, choice="auto"):
    """A compiled request, and an output of two calls, or of one where the format has one in a turn."""
    compiler = RequestCompiler(byte_vocabulary(), format=name)
    reasoning = "optional" if name == "kimi_k3" else "none"
    request = compiler.compile({"tools": TOOLS, "tool_choice": choice, "max_tokens": 900}, reasoning=reasoning)
    for calls in (CALLS, CALLS[:1]):
        data = render(name, calls, whitespace="compact").encode()
        if request.guide.validate(data) == len(data):
            return request, data
    raise AssertionError("no call is accepted")


def numbered():
    numbers = iter(range(100))
    return lambda: f"new_{next(numbers)}"


@pytest.mark.parametrize("choice", ["auto", "required"])
@pytest.mark.parametrize("name", format_names())
def test_deltas_have_the_identifiers_of_the_choice(name, choice):
    request, data = begun(name, choice)
    rng = random.Random(name)
    for most in (1, 7, 1000):
        guide, tokens, deltas = request.guide.fork(), [*data, END], []
        reply = request.reply(guide, new_id=numbered())
        while tokens:
            taken, tokens = tokens[: (size := rng.randint(1, most))], tokens[size:]
            guide.advance_many(taken)
            deltas += reply.deltas(taken)
        message = reply.choice()["message"]
        assert merged(deltas) == message and reply.finish_reason == "tool_calls"
        ids = [call["id"] for call in message["tool_calls"]]
        assert ids == OWN.get(name, ["new_0", "new_1"])[: len(ids)]


@pytest.mark.parametrize("name", ["hermes", "mistral_v3", *OWN])
def test_a_call_that_is_cut_off_has_one_identifier(name):
    request, data = begun(name)
    guide = request.guide.fork()
    reply, deltas = request.reply(guide, new_id=numbered()), []
    for token in data:
        guide.advance(token)
        deltas += reply.deltas([token])
        closed = reply.copy()
        whole = deltas + closed.close()
        assert merged(whole) == closed.choice()["message"] and closed.finish_reason in ("length", "tool_calls")
        # The events without the format of the tools have the same identifiers where the notation has them.
        calls = chat_completion_choice(guide.index.parse(guide.tokens, partial=True))["message"].get("tool_calls", [])
        known = [call["id"] for call in merged(deltas).get("tool_calls", []) if not call["id"].startswith("new_")]
        assert [call["id"] for call in calls][: len(known)] == known


def test_a_call_waits_for_its_identifier():
    guide = begun("kimi_k2")[0].guide
    deltas, found = ChatCompletionDeltas(format="kimi_k2"), []
    for piece in (b"<|tool_calls_section_begin|><|tool_call_begin|>functions.find:", b"1", b"2", b"<|tool_call_arg"):
        guide.advance_many(piece)
        found.append(deltas.take(guide.events()))
    assert found[:3] == [[], [], []]
    assert merged(found[3])["tool_calls"][0]["id"] == "functions.find:12" and deltas.close() == []


def test_events_say_when_an_identifier_is_known():
    request, data = begun("kimi_k2")
    known = [event for event in request.index.parse(data) if isinstance(event, (ev.IdKnown, ev.CallEnded))]
    assert [type(event).__name__ for event in known] == ["IdKnown", "CallEnded"] * 2
    assert [event.id for event in known[::2]] == [event.call.id for event in known[1::2]] == OWN["kimi_k2"]


@pytest.mark.parametrize("name", format_names())
def test_replies_without_masks_have_the_same_identifiers(name):
    request, data = begun(name)
    calls = (
        chat_completion_choice(events, format=name, new_id=numbered())["message"]["tool_calls"]
        for events in (parse_reply(data, format=name, tools=TOOLS), request.index.parse(data))
    )
    one, other = ([call["id"] for call in found] for found in calls)
    assert one == other


def test_an_identifier_is_written_as_a_client_knows_it():
    own = render("kimi_k2", [Call("find", {"note": "a"}, "functions.find:7")])
    assert own == render("kimi_k2", [Call("find", {"note": "a"}, "7")]) and "functions.find:7<" in own
    with pytest.raises(ToolFormatError, match=r"id.prefix: it has the placeholder \$\{id\}"):
        tool_format({"name": "mine", "notation": [{"begin": "<${name}:${id}>"}], "id": {"prefix": "${id}:"}})


def test_new_identifiers_are_such_as_the_chat_template_takes():
    for name, pattern in (("mistral_v3", "[a-zA-Z0-9]{9}"), ("hermes", "call_[0-9a-f]{24}")):
        request, data = begun(name)
        for calls in (request.index.parse(data), request.index.parse(data[:-30], partial=True)):
            found = chat_completion_choice(calls, format=name)["message"]["tool_calls"]
            assert found and all(re.fullmatch(pattern, call["id"]) for call in found)
