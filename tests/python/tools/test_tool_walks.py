"""Random walks under the masks of every format of tool calls: whatever comes out is read as calls whose arguments
follow their schemas, and nothing leads to a dead end.

``python tests/python/tools/test_tool_walks.py 200`` takes more of them.
"""

from __future__ import annotations

import random
import sys

import pytest

import interlock
from interlock import events as ev
from interlock.tools import format_names, tool_format

jsonschema_rs = pytest.importorskip("jsonschema_rs", reason="jsonschema_rs is not installed")

EOS = 256
STRANGE = "<|strange|>"
TOOLS = [
    {
        "name": "look",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "maxLength": 6},
                "days": {"type": "integer", "minimum": -5, "maximum": 20},
                "unit": {"enum": ["C", "F"]},
                "exact": {"type": "boolean"},
                "rates": {"type": "array", "items": {"type": "integer", "maximum": 99, "minimum": 0}, "maxItems": 3},
            },
            "required": ["city", "unit"],
            "additionalProperties": False,
        },
    },
    {"name": "now", "parameters": {"type": "object", "properties": {}, "additionalProperties": False}},
    {
        "name": "lookup",
        "parameters": {
            "type": "object",
            "properties": {
                "key": {"type": "string", "pattern": "^[a-c]{2}$"},
                "more": {
                    "type": "object",
                    "properties": {"deep": {"type": ["integer", "null"]}},
                    "additionalProperties": False,
                },
            },
            "required": ["key"],
            "additionalProperties": False,
        },
    },
]


def vocabulary_of(name):
    """Single bytes, some pieces of the delimiters, the format's special tokens and one that is not the format's."""
    form = tool_format(name)
    special = [text.encode() for text in (*form.special_tokens, STRANGE)]
    pieces = {b'{"', b'": ', b"></", b">\n", b"ab", b"\n</", b"tool", b"<t", b"', ", b'"}', b"]}"}
    texts = [bytes([i]) for i in range(256)] + [b""] + sorted(pieces) + special
    first = len(texts) - len(special)
    return interlock.Vocabulary(texts, eos_token_ids=[EOS], special_token_ids=range(first, len(texts)))


def plausible(rng, vocabulary, allowed):
    """A token, rather one that goes on than another letter of a string."""
    few = [token for token in allowed if token >= 256 or chr(token) in "<>{}[]\"',:=|/ \nabcdRome12trueCF-"]
    return rng.choice(few or allowed)


def walk(rng, index, vocabulary, most=900):
    """A whole output, or None if it did not end in time. There is always a token to take."""
    guide, given = index.guide(), []
    for step in range(most):
        allowed = guide.allowed_token_ids().tolist()
        assert allowed, ("a dead end", vocabulary.decode(guide.tokens))
        assert vocabulary.size - 1 not in allowed, "a special token of another format"
        run = guide.forced_tokens() or ([allowed[0]] if len(allowed) == 1 else [])
        if EOS in allowed and (len(allowed) == 1 or rng.random() < 0.2 or step > most // 2):
            guide.advance(EOS)
            return guide.tokens, given + guide.events()
        # Out of long strings, by the token that the shortest way has.
        choice = run[0] if run else plausible(rng, vocabulary, [token for token in allowed if token != EOS])
        guide.advance(choice)
        if rng.random() < 0.3:
            given += guide.events()
    return None


def strings_of(value):
    """All texts inside of a value."""
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings_of(inner)


def check(name, count, seed=0):
    rng = random.Random(f"{name} {seed}")
    vocabulary = vocabulary_of(name)
    form = tool_format(name)
    validators = {tool["name"]: jsonschema_rs.validator_for(tool["parameters"]) for tool in TOOLS}
    ended = calls = 0
    indexes = [
        interlock.Index.from_tools(TOOLS, vocabulary, format=name, tool_choice="required", max_calls=2),
        interlock.Index.from_tools(
            TOOLS, vocabulary, format=name, reasoning="optional" if form.reasoning else "none", max_calls=2
        ),
    ]
    if form.reasoning:
        bounded = {"reasoning": "optional", "max_reasoning_tokens": 10, "max_calls": 2}
        indexes.append(interlock.Index.from_tools(TOOLS, vocabulary, format=name, tool_choice="required", **bounded))
    for number in range(count):
        which = number % len(indexes)
        found = walk(rng, indexes[which], vocabulary)
        if found is None:
            continue
        ended += 1
        tokens, events = found
        whole = indexes[which].parse(tokens)
        made = [event.call for event in whole if isinstance(event, ev.CallEnded)]
        assert [event.call for event in events if isinstance(event, ev.CallEnded)] == made
        assert made or which == 1, "calls were required"
        for call in made:
            validators[call.name].validate(call.arguments)
            calls += 1
            for text in strings_of(call.arguments):
                assert not any(token in text for token in form.special_tokens), ("a special token in a string", text)
    return ended, calls


@pytest.mark.slow
@pytest.mark.parametrize("name", format_names())
def test_walks(name):
    check(name, 6)


if __name__ == "__main__":
    for name in sys.argv[2:] or format_names():
        print(name, *check(name, int(sys.argv[1])), flush=True)
