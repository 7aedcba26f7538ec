"""Formats whose calls end with a token that is a stop token of the model: gpt-oss stops at ``<|call|>``."""

from __future__ import annotations

from typing import Any

import pytest

import interlock
from interlock.serving import RequestCompiler

NAMES = [
    "<|start|>",
    "<|channel|>",
    "<|message|>",
    "<|constrain|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|endoftext|>",
]
TOKENS = [bytes([byte]) for byte in range(256)] + [name.encode() for name in NAMES]
TOOL = {
    "type": "function",
    "function": {
        "name": "f",
        "parameters": {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]},
    },
}
CALL = '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a":false}<|call|>'


def vocabulary(*stops: str) -> interlock.Vocabulary:
    specials = [256 + n for n in range(len(NAMES))]
    return interlock.Vocabulary(TOKENS, [256 + NAMES.index(stop) for stop in stops], special_token_ids=specials)


def ids_of(text: str) -> list[int]:
    ids: list[int] = []
    while text:
        name = next((n for n, name in enumerate(NAMES) if text.startswith(name)), None)
        ids.append(ord(text[0]) if name is None else 256 + name)
        text = text[1:] if name is None else text[len(NAMES[name]) :]
    return ids


@pytest.mark.parametrize("reasoning", ["none", "required"])
@pytest.mark.parametrize("choice", ["required", "auto"])
def test_a_call_ends_the_turn(choice: str, reasoning: Any) -> None:
    compiler = RequestCompiler(vocabulary("<|return|>", "<|endoftext|>", "<|call|>"), format="harmony")
    request = compiler.compile({"tools": [TOOL], "tool_choice": choice, "max_tokens": 350}, reasoning=reasoning)
    thought = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant" if reasoning == "required" else ""
    ids = ids_of(thought + CALL)
    assert request.guide.advance_many(ids) == len(ids)
    assert request.guide.is_terminated
    reply = request.reply()
    reply.deltas(ids)
    message = reply.choice()["message"]
    assert reply.finish_reason == "tool_calls"
    assert [call["function"] for call in message["tool_calls"]] == [{"name": "f", "arguments": '{"a":false}'}]
    # One token back, the call can still end, and nothing else can come.
    request.guide.rollback(1)
    assert request.guide.allowed_token_ids().tolist() == [ids[-1]]
    assert request.guide.forced_tokens() == [ids[-1]]


def test_a_token_that_must_go_on_is_refused_before_the_request_runs() -> None:
    compiler = RequestCompiler(vocabulary("<|return|>", "<|end|>"))
    bodies: list[tuple[dict[str, Any], str]] = [
        ({"guided_grammar": 'root ::= "a" Token(260) "b"'}, "/guided_grammar"),
        (
            {
                "response_format": {
                    "type": "structural_tag",
                    "format": {
                        "type": "sequence",
                        "elements": [{"type": "token", "token": "<|end|>"}, {"type": "const_string", "value": "b"}],
                    },
                }
            },
            "/response_format/format/elements/0",
        ),
    ]
    for body, pointer in bodies:
        with pytest.raises(interlock.VocabularyError, match="is a stop token of the vocabulary") as caught:
            compiler.compile(body)
        assert caught.value.pointer == pointer
        assert compiler.refusal(caught.value).status == 400


def test_a_request_may_name_the_last_token_as_its_stop_token() -> None:
    request = RequestCompiler(vocabulary("<|return|>"), format="harmony").compile(
        {"tools": [TOOL], "tool_choice": "required", "stop_token_ids": [262], "max_tokens": 200}
    )
    ids = ids_of(CALL)
    assert request.guide.advance_many(ids) == len(ids)
    assert request.guide.is_terminated
