"""Masks inside the JSON documents of tags and grammars, against stepping each token; known masks against new ones."""

import random

import interlock
import numpy as np
import pytest

PIECES = [
    *('{"', '":', '","', '"}', '"}}', "}}", "}<", '"}<', "}}<", "]}", "]}<", "}</", "/>", "</a>", '"}</a>', "}</a><a>"),
    *("1}", "1}<", "1,", '1,"', "12", "-1", "true", "e}<", '":1}', '":1}<', '":1}x', '":"', '":{}', "{}", "{}<", "[]<"),
    *(
        '","b":1}<',
        ',"a":1}',
        ',"a":1}<',
        ',"a"',
        ',"bb":',
        ',"bb":2}<',
        '"a":',
        '"a":1}<',
        'b":1}',
        'b":{}}<',
        '{"a":1}<',
    ),
    *(
        "a",
        "b",
        "bb",
        "ab",
        "<a",
        "<a>",
        'x"}<a>{"',
        ' "',
        "\n",
        " }",
        "} <",
        "}\n<",
        '\\"',
        "\\u00",
        "]",
        "]]<",
        '"]<',
        "x<",
    ),
]
SCHEMAS = [
    {"type": "object", "properties": {"a": {"type": "integer"}, "bb": {"type": "string"}}, "required": ["a"]},
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "object"}},
        "additionalProperties": False,
    },
    {
        "type": "object",
        "properties": {"a": {"type": "string", "maxLength": 2}, "bb": {"const": 2}},
        "additionalProperties": False,
    },
    {"type": "array", "items": {"type": "array", "items": {"enum": ["a", "ab", 1, 12]}}, "minItems": 1},
    {"type": "integer"},
    {"type": ["string", "null", "boolean"]},
    {
        "type": "object",
        "additionalProperties": {"type": "integer"},
        "maxProperties": 2,
        "propertyNames": {"pattern": "^[ab]+$"},
    },
    {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
    {},
]
ENDS = ["</a>", "}</a>", "<", '"', "]", "1", " <b>", ""]


def vocabulary(seed):
    draw = random.Random(seed)
    pieces = draw.sample(PIECES, draw.randint(len(PIECES) // 3, len(PIECES)))
    tokens = [bytes([byte]) for byte in range(256)] + [piece.encode() for piece in pieces] + [b"<|end|>", b""]
    last = len(tokens) - 1
    return interlock.Vocabulary(tokens, eos_token_ids=[last], special_token_ids=[last - 1])


def tag_of(draw):
    def one(begin):
        content = {"type": "json_schema", "json_schema": draw.choice(SCHEMAS)}
        end = draw.choice(ENDS) if draw.random() < 0.8 else {"type": "token", "token": "<|end|>"}
        return {"type": "tag", "begin": begin, "content": content, "end": end}

    shape = draw.choice(["sequence", "triggered", "or", "star"])
    if shape == "triggered":
        tags = [one("<a>"), one("<ab>")]
        return {"type": "triggered_tags", "triggers": ["<a"], "tags": tags, "stop_after_first": draw.random() < 0.3}
    if shape == "or":
        return {
            "type": "or",
            "elements": [one("<a>"), one("<a>"), {"type": "json_schema", "json_schema": draw.choice(SCHEMAS)}],
        }
    if shape == "star":
        return {"type": "star", "content": one(draw.choice(["<a>", ""]))}
    return {"type": "sequence", "elements": [one(draw.choice(["<a>", ""])), one("x")]}


def allowed(guide, bits):
    guide.fill_bitmask(bits)
    return np.unpackbits(bits.view(np.uint8), bitorder="little").astype(bool)


def stepped(index, guide):
    out = np.zeros(index.vocabulary.size, dtype=bool)
    for token in range(index.vocabulary.size):
        out[token] = guide.validate([token]) == 1
    return out


@pytest.mark.parametrize("seed", range(60))
def test_masks_are_what_steps_say(seed):
    draw = random.Random(seed)
    words = vocabulary(seed % 7)
    tag = {"type": "structural_tag", "format": tag_of(draw)}
    try:
        index = interlock.Index.from_structural_tag(tag, words)
    except interlock.InterlockError as error:
        pytest.skip(f"the tag is refused: {str(error)[:80]}")
    bits = interlock.allocate_bitmask(1, words)
    known = {}
    for _ in range(5):
        guide = index.guide()
        for _ in range(28):
            if guide.is_terminated:
                break
            mask = allowed(guide, bits)[: words.size]
            truth = stepped(index, guide)
            assert np.array_equal(mask, truth), (guide.tokens, np.flatnonzero(mask != truth)[:8])
            assert np.array_equal(allowed(guide, bits)[: words.size], truth)
            known[tuple(guide.tokens)] = truth
            choices = [int(token) for token in np.flatnonzero(truth)]
            if not choices:
                break
            longer = [token for token in choices if token >= 256] or choices
            guide.advance(draw.choice(longer if draw.random() < 0.7 else choices))
            if draw.random() < 0.2 and guide.num_tokens > 2:
                guide.rollback(draw.randint(1, 2))
    # All of these masks are known by now, and some guides come to them by going back.
    guide = index.guide()
    for tokens in draw.sample(sorted(known), len(known)):
        shared = 0
        while shared < min(len(tokens), guide.num_tokens) and guide.tokens[shared] == tokens[shared]:
            shared += 1
        if guide.is_terminated or draw.random() < 0.1:
            guide.reset()
            shared = 0
        guide.rollback(guide.num_tokens - shared)
        for token in tokens[shared:]:
            prefix = tuple(guide.tokens)
            if prefix in known:
                assert np.array_equal(allowed(guide, bits)[: words.size], known[prefix]), prefix
            guide.advance(token)
        assert np.array_equal(allowed(guide, bits)[: words.size], known[tokens]), tokens
        fork = guide.fork()
        assert np.array_equal(allowed(fork, bits)[: words.size], known[tokens]), tokens
