"""Characters and parts of a text in a sentence."""

from __future__ import annotations

import json

from interlock.util.quoting import shortened

LONGEST = 30
"""Characters of a part of a text in a sentence."""


def part(text: str) -> str:
    """A part of a text in quotes, of a long one the beginning."""
    return json.dumps(shortened(text, LONGEST), ensure_ascii=False)


def may_not_stand(char: str, where: str, way: str = "") -> str:
    """That a character is not allowed somewhere, and perhaps what to write instead."""
    return f"{part(char)} may not stand {where}" + (f"; {way}" if way else "")
