"""How values, types and lists are written in an explanation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from interlock.explain.document import Node
from interlock.util.json_pointer import unescaped
from interlock.util.quoting import LONGEST, shortened

LONGEST_LITERAL = 200
"""Characters of a value of a schema."""
ARTICLES = {
    "null": "null",
    "boolean": "a boolean",
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "array": "an array",
    "object": "an object",
}


def path(pointer: str) -> str:
    """A JSON Pointer as one writes it in code: ``items[2].count``; empty for the document itself."""
    out = ""
    for part in pointer.split("/")[1:]:
        part = unescaped(part)
        if part.isdecimal():
            out += f"[{part}]"
        elif part.isidentifier():
            out += f".{part}" if out else part
        else:
            out += f"[{json.dumps(part, ensure_ascii=False)}]"
    return out


def subject(pointer: str) -> str:
    """The value at ``pointer`` as the subject of a sentence."""
    return f"`{path(pointer)}`" if pointer else "the document"


def literal(value: Any) -> str:
    """A value of a schema, as JSON."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k, ensure_ascii=False)}: {literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def brief_literal(value: Any) -> str:
    """A value of a schema, as JSON; of a long one the beginning.

    >>> brief_literal("no"), len(brief_literal("a" * 5_000))
    ('"no"', 200)
    """
    return shortened(literal(value), LONGEST_LITERAL)


def shown(text: str, node: Node, longest: int = LONGEST) -> str:
    """A value of the document as it is written there, shortened."""
    return shortened(" ".join(text[node.start : node.end].split()), longest)


def listed(words: Sequence[str], most: int = 12) -> str:
    """``a, b, c``, or the first ones and how many there are besides."""
    more = len(words) - most
    return ", ".join(words[:most]) + (f" and {more} more" if more > 0 else "")


def either(words: Sequence[str]) -> str:
    """``a``, ``a or b``, ``a, b or c``."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]
