"""Tools, vocabularies of bytes with special tokens, and walks through the indexes of structural tags."""

from __future__ import annotations

import functools
import random

import interlock
from interlock.tools import Call, format_names

TOOLS = [
    {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
    {"name": "now", "parameters": {"type": "object", "properties": {}, "additionalProperties": False}},
]
SCHEMAS = {tool["name"]: tool["parameters"] for tool in TOOLS}
ROME = Call("get_weather", {"city": "Rome", "days": 3})
NOW = Call("now")
FORMATS = format_names()


@functools.cache
def vocabulary(*specials):
    tokens = [bytes([byte]) for byte in range(256)] + [text.encode() for text in specials] + [b""]
    first, end = 256, 256 + len(specials)
    return interlock.Vocabulary(tokens, eos_token_ids=[end], special_token_ids=list(range(first, end)))


def ids_of(text, specials=()):
    """The tokens of a text: special tokens wherever they stand, bytes elsewhere."""
    found, at = [], 0
    order = sorted(specials, key=len, reverse=True)
    while at < len(text):
        token = next((one for one in order if text.startswith(one, at)), None)
        found += [256 + specials.index(token)] if token else list(text[at].encode())
        at += len(token or text[at])
    return found


def text_of(ids, specials=()):
    return b"".join(bytes([one]) if one < 256 else specials[one - 256].encode() for one in ids).decode()


def accepts(index, text, specials=()):
    guide, ids = index.guide(), ids_of(text, specials)
    return guide.advance_many(ids) == len(ids) and guide.is_accepting


def index_of(tag, specials=(), **options):
    return interlock.Index.from_structural_tag(tag, vocabulary(*specials), **options)


def walk(index, seed, specials=(), most=160):
    """A random output under the masks, drawn towards an end; ``None`` where it did not come to one."""
    draw, guide, out = random.Random(seed), index.guide(), []
    for count in range(most):
        allowed = [int(one) for one in guide.allowed_token_ids() if one < 256 + len(specials)]
        if guide.is_accepting and (draw.random() < 0.3 or count > most // 2):
            return out
        plain = [one for one in allowed if 32 <= one < 127]
        closing = [one for one in plain if chr(one) in "\"'}])>/<,:"]
        special = [one for one in allowed if one >= 256]
        pool = next(
            (part for part, chance in ((special, 0.4), (closing, 0.5), (plain, 1)) if part and draw.random() < chance),
            allowed,
        )
        if not pool:
            return out if guide.is_accepting else None
        token = draw.choice(pool)
        guide.advance(token)
        out.append(token)
    return out if guide.is_accepting else None
