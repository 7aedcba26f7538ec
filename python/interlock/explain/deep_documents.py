"""What is said of a document that is nested too deeply for a reason to be found, though the engine refuses it."""

from __future__ import annotations

import re
import sys

from interlock.explain.validator import DEEPEST, Problem

__all__ = ["too_deep_document", "too_deep_value"]

_HINT = "check an inner value alone, by the schema of its place"
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', re.DOTALL)


def too_deep_value(text: str, at: int) -> Problem:
    """Of a value at a place that lies inside of more schemas than are followed."""
    depth = _depths(text[:at])[1]
    message = f"the value is nested {depth} levels deep here, and reasons are found through at most {DEEPEST} schemas"
    return Problem("", "", "", f"{message} inside each other", at, at + 1, at + 1, _HINT)


def too_deep_document(text: str, at: int) -> Problem:
    """Of a document that is nested more deeply than Python reads."""
    calls = sys.getrecursionlimit()
    message = f"the document is nested {_depths(text)[0]} levels deep, and reasons are found in documents of about"
    return Problem("", "", "", f"{message} {calls * 2 // 5} levels at most", at, at + 1, at + 1, _HINT)


def _depths(text: str) -> tuple[int, int]:
    """How deep objects and arrays nest in a text that need not be whole: at most, and at its end.

    >>> _depths('[[1], {"]": 2')
    (2, 2)
    """
    deepest = depth = 0
    for found in _BRACKETS.finditer(text):
        mark = found[0]
        depth += (mark in "[{") - (mark in "]}") if len(mark) == 1 else 0
        deepest = max(deepest, depth)
    return deepest, depth
