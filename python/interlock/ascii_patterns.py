r"""Patterns of Python with ``\d``, ``\w`` and ``\s`` read as ASCII, where every text then matches the original.

In a ``str`` pattern ``\d`` matches the digits of every script. Whoever generates a text with it means ``[0-9]``, nearly
always. Reading it so is only a choice among the texts that match, as long as nothing in the pattern excludes
characters: ``[^\w]`` in ASCII would allow ``é``, which the original refuses.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

__all__ = ["as_ascii"]

_CLASS = re.compile(r"\\[dws]")
_UNICODE = re.compile(r"\(\?[imsx]*u")


def as_ascii(pattern: re.Pattern[str]) -> re.Pattern[str]:
    r"""``pattern`` with ``re.ASCII``, if it has ``\d``, ``\w`` or ``\s`` and every text that matches then matches
    ``pattern`` as well; otherwise ``pattern`` itself, as for one with ``(?u)``, whose author means every script.

    >>> as_ascii(re.compile(r"\d{4}")), as_ascii(re.compile(r"[^\d]"))
    (re.compile('\\d{4}', re.ASCII), re.compile('[^\\d]'))
    """
    if pattern.flags & re.ASCII or not _CLASS.search(pattern.pattern) or _UNICODE.search(pattern.pattern):
        return pattern
    flags = pattern.flags & ~re.UNICODE
    try:
        tree: Any = importlib.import_module("re._parser").parse(pattern.pattern, flags)
        if not (_only_permits(tree, bool(flags & re.IGNORECASE)) or _writes_ascii(tree)):
            return pattern
        return re.compile(pattern.pattern, flags | re.ASCII)
    except (ImportError, AttributeError, re.error, RecursionError):
        return pattern


def _only_permits(tree: Any, ignore_case: bool) -> bool:
    """Whether nothing in a pattern excludes characters: with narrower classes it matches fewer texts, no others.

    Without regard to case letters have partners beyond ASCII, so that each negated set is one of what narrows.
    """
    for name, argument in tree:
        match str(name):
            case "LITERAL" | "ANY":
                fine = True
            case "NOT_LITERAL":
                fine = not ignore_case
            case "AT":
                fine = "BOUNDARY" not in str(argument)
            case "IN":
                kinds = {str(kind) for kind, _ in argument}
                fine = not any("NOT" in str(value) for kind, value in argument if str(kind) == "CATEGORY")
                fine = fine and not ("NEGATE" in kinds and (ignore_case or "CATEGORY" in kinds))
            case "BRANCH":
                fine = all(_only_permits(branch, ignore_case) for branch in argument[1])
            case "SUBPATTERN":
                fine = _only_permits(argument[3], ignore_case or bool(argument[1] & re.IGNORECASE))
            case "MAX_REPEAT" | "MIN_REPEAT":
                fine = _only_permits(argument[2], ignore_case)
            case "ASSERT":
                fine = _only_permits(argument[1], ignore_case)
            case _:
                fine = False
        if not fine:
            return False
    return True


def _writes_ascii(tree: Any, consumes: bool = True) -> bool:
    """Whether all texts of a pattern with ``re.ASCII`` are ASCII. On those the two readings agree in everything, word
    boundaries and what looks around included. Characters beyond ASCII may stand nowhere in it.
    """
    for name, argument in tree:
        match str(name):
            case "LITERAL":
                fine = argument < 128
            case "NOT_LITERAL":
                fine = argument < 128 and not consumes
            case "ANY":
                fine = not consumes
            case "AT":
                fine = True
            case "IN":
                fine = all(_is_ascii(str(kind), value, consumes) for kind, value in argument)
            case "BRANCH":
                fine = all(_writes_ascii(branch, consumes) for branch in argument[1])
            case "SUBPATTERN":
                fine = _writes_ascii(argument[3], consumes)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                fine = _writes_ascii(argument[2], consumes)
            case "ATOMIC_GROUP":
                fine = _writes_ascii(argument, consumes)
            case "ASSERT" | "ASSERT_NOT":
                fine = _writes_ascii(argument[1], False)
            case _:
                fine = False
        if not fine:
            return False
    return True


def _is_ascii(kind: str, value: Any, consumes: bool) -> bool:
    """Whether an item of a set has ASCII characters only, or, in what looks around, names only such."""
    match kind:
        case "LITERAL":
            return bool(value < 128)
        case "RANGE":
            return bool(value[1] < 128)
        case "CATEGORY":
            return not consumes or "NOT" not in str(value)
        case _:
            return not consumes
