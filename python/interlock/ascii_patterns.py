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
    return all(_permits(str(name), argument, ignore_case) for name, argument in tree)


def _permits(name: str, argument: Any, ignore_case: bool) -> bool:
    match name:
        case "LITERAL" | "ANY":
            return True
        case "NOT_LITERAL":
            return not ignore_case
        case "AT":
            return "BOUNDARY" not in str(argument)
        case "IN":
            kinds = {str(kind) for kind, _ in argument}
            fine = not any("NOT" in str(value) for kind, value in argument if str(kind) == "CATEGORY")
            return fine and not ("NEGATE" in kinds and (ignore_case or "CATEGORY" in kinds))
        case "BRANCH" | "SUBPATTERN" | "MAX_REPEAT" | "MIN_REPEAT" | "ASSERT":
            ignored = ignore_case or name == "SUBPATTERN" and bool(argument[1] & re.IGNORECASE)
            return all(_only_permits(part, ignored) for part in _inside(name, argument))
    return False  # Where less matches inside of the other groups, more may match behind them.


def _writes_ascii(tree: Any, consumes: bool = True) -> bool:
    """Whether all texts of a pattern with ``re.ASCII`` are ASCII. On those the two readings agree in everything, word
    boundaries and what looks around included. Characters beyond ASCII may stand nowhere in it.
    """
    return all(_is_ascii(str(name), argument, consumes) for name, argument in tree)


def _is_ascii(name: str, argument: Any, consumes: bool) -> bool:
    match name:
        case "LITERAL" | "NOT_LITERAL":
            return bool(argument < 128) and (name == "LITERAL" or not consumes)
        case "ANY":
            return not consumes
        case "AT":
            return True
        case "IN":
            return all(_is_ascii_item(str(kind), value, consumes) for kind, value in argument)
    inside = _inside(name, argument)
    consumes = consumes and not name.startswith("ASSERT")
    return bool(inside) and all(_writes_ascii(part, consumes) for part in inside)


def _inside(name: str, argument: Any) -> list[Any]:
    """The patterns in a group; none for a part that is no group, or one that is not known here."""
    match name:
        case "BRANCH":
            return list(argument[1])
        case "SUBPATTERN":
            return [argument[3]]
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return [argument[2]]
        case "ATOMIC_GROUP":
            return [argument]
        case "ASSERT" | "ASSERT_NOT":
            return [argument[1]]
    return []


def _is_ascii_item(kind: str, value: Any, consumes: bool) -> bool:
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
