"""Arguments with hostile values, in every format of tool calls: what the masks let a model write is read as a call that
follows the schema, and the same call, written again, is accepted.

A string of a call of Python once held U+0000, which no reader of Python takes: the mask allowed what reading refused.
"""

from __future__ import annotations

import dataclasses
import random

import pytest

import interlock
from interlock import events as ev
from interlock.tools import format_names, render, tool_format

jsonschema_rs = pytest.importorskip("jsonschema_rs", reason="jsonschema_rs is not installed")

EOS = 256
#: What readers of notations stumble over: quotes, escapes, delimiters, ends of lines, what is not seen, other types.
HOSTILE = [
    *("\0", "\1", "\t", "\n", "\r", "\x1c", "\x7f", "\x85", "\u2028", "\ufeff", "\ufffe", "é", "e\u0301", "😀"),
    *("'", '"', "\\", "\\u00e9", "\\'", "\\x", "\\n", "</", "<", ">", "<|", "]]>", "&amp;", "${key}", "{}", "[", "]"),
    *(")", ",", ":", "=", "#", " ", "0", "1e3", "-0", "true", "True", "None", "null", "nan"),
]
BYTES = [bytes([i]) for i in range(256)]
MORE = [text.encode() for text in HOSTILE if text.encode() not in BYTES]
STRING = {"type": "string", "maxLength": 5}
TOOLS = [
    {
        "name": "say",
        "parameters": {
            "type": "object",
            "properties": {
                "text": STRING,
                "parts": {"type": "array", "items": STRING, "maxItems": 2},
                "nested": {
                    "type": "object",
                    "properties": {"inner": STRING, "maybe": {"type": ["string", "null"], "maxLength": 3}},
                    "required": ["inner"],
                    "additionalProperties": False,
                },
                "count": {"type": ["integer", "boolean"], "minimum": -9, "maximum": 9},
            },
            "required": ["text"],
            "additionalProperties": False,
        },
    }
]
CHECKER = jsonschema_rs.validator_for(TOOLS[0]["parameters"])


def vocabulary_of(form):
    """Single bytes, the end, the special tokens of a format, and the hostile texts."""
    special = [text.encode() for text in form.special_tokens]
    ids = range(EOS + 1, EOS + 1 + len(special))
    return interlock.Vocabulary([*BYTES, b"", *special, *MORE], eos_token_ids=[EOS], special_token_ids=ids)


def walk(rng, index):
    """The tokens of a whole output, hostile where they can be. The budget brings it to its end."""
    rather = {ord(text) for text in HOSTILE if text.encode() in BYTES} | set(range(EOS + 1, index.vocabulary.size))
    guide = index.guide(max_tokens=400)
    while not guide.is_terminated:
        if run := guide.forced_tokens():
            guide.advance_many(run)
            continue
        allowed = guide.allowed_token_ids().tolist()
        chosen = [token for token in allowed if token in rather]
        guide.advance(rng.choice(chosen if chosen and rng.random() < 0.7 else allowed))
    return guide.tokens


def calls_of(index, output):
    return [event.call for event in index.parse(output) if isinstance(event, ev.CallEnded)]


@pytest.mark.parametrize("name", format_names())
def test_hostile_values_are_read_and_written_again(name):
    form, rng = tool_format(name), random.Random(name)
    vocabulary = vocabulary_of(form)
    request = {"format": name, "tool_choice": "required", "max_calls": 1}
    if form.reasoning and form.reasoning.opened_by_prompt and form.layout.kind != "text":
        request |= {"reasoning": "optional", "reasoning_is_open": False}  # Such a prompt opens the block of text, too.
    index = interlock.Index.from_tools(TOOLS, vocabulary, **request)
    for _ in range(16):
        tokens = walk(rng, index)
        (call,) = calls_of(index, tokens)
        CHECKER.validate(call.arguments)
        for notation in form.notations:
            text = render(dataclasses.replace(form, notations=(notation,)), [call])
            assert [again.arguments for again in calls_of(index, text)] == [call.arguments], text
