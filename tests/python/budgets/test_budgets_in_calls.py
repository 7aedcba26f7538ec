"""Budgets inside of the arguments of a call: what a mask allows can be completed in time, and little that could is
left out.
"""

from __future__ import annotations

import random

import pytest

import interlock

WORDS = [
    b'{"',
    b'"}',
    b'":',
    b'","',
    b'": "',
    b'"}}',
    b"}}\n",
    b"</tool",
    b"_call>",
    b"true",
    b"null",
    b"ab",
    b"a\n",
    b"\\n",
    b"  ",
]
VOCABULARY = interlock.Vocabulary([*(bytes([b]) for b in range(256)), *WORDS, b""], eos_token_ids=[256 + len(WORDS)])
STOP = VOCABULARY.eos_token_ids[0]
OPEN = {"type": "object", "properties": {"q": {"type": "string"}, "n": {"type": "integer"}}, "required": ["q"]}
CLOSED = {
    "type": "object",
    "properties": {
        "mode": {"enum": ["fast", "slow"]},
        "on": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 4}},
    },
    "required": ["mode", "tags"],
    "additionalProperties": False,
}
SLACK = 3
"""Tokens between the document and what follows could save so many."""


def tool(name, parameters):
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def index(tools, **options):
    return interlock.Index.from_tools(tools, VOCABULARY, format="hermes", tool_choice="required", **options)


@pytest.mark.parametrize("spelling", ["plain", "any"])
@pytest.mark.parametrize("schema", [OPEN, CLOSED], ids=["open", "closed"])
def test_masks_allow_what_fits(schema, spelling):
    calls = index([tool("search", schema)], whitespace="compact", spelling=spelling)
    least = calls.guide().min_tokens_to_finish()
    rng = random.Random(7)
    for room in (least, least + 1, least + 3, least + 8, least + 25):
        guide, free = calls.guide(max_tokens=room), calls.guide()
        for left in range(room, 0, -1):
            allowed = {token for token in guide.allowed_token_ids().tolist() if token != STOP}
            without = [token for token in free.allowed_token_ids().tolist() if token != STOP]
            assert allowed <= set(without)
            asked = [token for token in without if token in allowed or rng.random() < 0.2]
            for token in asked[:120]:
                behind = free.fork()
                behind.advance(token)
                needed = behind.min_tokens_to_finish()
                # It is the fewest bytes that are spelled, so other ways may take a token less.
                assert token not in allowed or needed <= left - 1 + SLACK, (left, token, needed)
                assert token in allowed or needed > left - 1 - SLACK, (left, token, needed)
            if not allowed:
                assert guide.is_accepting
                break
            token = rng.choice(sorted(allowed))
            guide.advance(token)
            free.advance(token)
        assert guide.is_accepting


def test_a_call_is_read_in_one_way():
    """Two rules of equal text are two readings of each call, and every mask is made twice."""
    source = str(index([tool("search", OPEN)]).source)
    assert source.count("%json") == 1, source
    rules = [line.partition(":")[2] for line in source.splitlines()]
    assert len(rules) == len(set(rules)), source
