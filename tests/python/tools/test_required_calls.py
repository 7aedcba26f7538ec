"""``tool_choice`` that asks for a call, in every format: an output that ended has one and no text, also where a stop
text of the client could have ended it before.
"""

from __future__ import annotations

import pytest

from interlock.explain import byte_vocabulary
from interlock.serving import RequestCompiler
from interlock.tools import Call, format_names, render, tool_format

END = 256
TOOLS = [
    {
        "name": name,
        "parameters": {
            "type": "object",
            "properties": {"note": {"type": "string", "maxLength": 8}, "days": {"type": "integer", "maximum": 99}},
            "required": ["note"],
            "additionalProperties": False,
        },
    }
    for name in ("save", "find")
]
NAMED = {"type": "function", "function": {"name": "find"}}


def replied(request, tokens):
    """The reply of an output that is sent token by token, up to its end."""
    guide = request.guide.fork()
    reply = request.reply(guide)
    for token in [*tokens, END]:
        guide.advance(token)
        reply.deltas([token])
        if reply.has_ended:
            break
    return reply


@pytest.mark.parametrize("choice", ["required", NAMED], ids=["required", "named"])
@pytest.mark.parametrize("name", format_names())
def test_an_output_that_ended_has_a_call_and_no_text(name, choice):
    compiler = RequestCompiler(byte_vocabulary(), format=name)
    reasonings = ["none", "optional"] if tool_format(name).reasoning else ["none"]
    for reasoning in reasonings:
        body = {"tools": TOOLS, "tool_choice": choice, "stop": ["e", "a", " ", "\n"], "max_tokens": 400}
        request = compiler.compile(body, reasoning=reasoning)
        for seed in range(4):
            reply = replied(request, request.index.sample(seed, max_tokens=390))
            found = reply.choice()
            calls = found["message"].get("tool_calls", [])
            assert calls and not found["message"]["content"], (reasoning, seed, found)
            assert found["finish_reason"] == "tool_calls" and reply.has_ended
            assert choice == "required" or [call["function"]["name"] for call in calls] == ["find"]


@pytest.mark.parametrize("name", ["harmony", "kimi_k3"])
def test_no_text_stands_before_a_call_that_is_required(name):
    compiler = RequestCompiler(byte_vocabulary(), format=name)
    thinking, talking = (
        render(name, [Call("find", {"note": "a"})], text, "I think.", whitespace="compact") for text in ("", "Well.")
    )
    for choice in ("required", NAMED, "auto"):
        guide = compiler.compile({"tools": TOOLS, "tool_choice": choice, "max_tokens": 400}, reasoning="optional").guide
        assert guide.validate(thinking.encode()) == len(thinking)
        assert (guide.validate(talking.encode()) == len(talking)) == (choice == "auto")
