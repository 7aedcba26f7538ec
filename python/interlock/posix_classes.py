"""POSIX classes in patterns (``[[:alpha:]]``), which are a mistake that no error shows: warnings with their places.

>>> import interlock
>>> posix_classes({"items": {"type": "string", "pattern": "^[[:digit:]]+$"}})
['[:digit:] is no class here, and stands for its single characters; did you mean ^[0-9]+$? (at /items)']
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from interlock._core import PatternError
from interlock.pattern_slips import posix_class
from interlock.schema_hints import is_quiet, place_of_schemas, refuse_slip, refuses_slips
from interlock.schema_hints.schema_keywords import MAPS, VALUES
from interlock.util.caller_warnings import warn_caller
from interlock.util.json_pointer import escaped

__all__ = [
    "PosixClassWarning",
    "patterns_of",
    "posix_class_at",
    "posix_classes",
    "warn_of_pattern",
    "warn_of_patterns",
    "warn_of_schema",
]

_MOST_READ = 1 << 20
"""Bytes of a schema that is read once more for its patterns."""


class PosixClassWarning(UserWarning):
    """A pattern has a POSIX class such as ``[[:alpha:]]``. Neither Python nor ECMA-262 has such classes: there it is
    one of the characters ``[ : a l p h``, and then a ``]``.

    The message has the pattern that was probably meant, and in a schema the place. Write the characters with a
    backslash where they are meant. ``unknown_keywords="error"`` refuses such a pattern.
    """

    __module__ = "interlock"  # Where programs find it, as tracebacks should say.


def patterns_of(schema: Any) -> Iterator[tuple[str, str]]:
    """The patterns in a schema, each behind the JSON Pointer of the object that holds it.

    >>> list(patterns_of({"patternProperties": {"^a": {"pattern": "b"}}, "default": {"pattern": "c"}}))
    [('/patternProperties', '^a'), ('/patternProperties/^a', 'b')]
    """
    todo: list[tuple[str, Any, str]] = [("", schema, "")]
    while todo:
        pointer, value, keyword = todo.pop()
        if isinstance(value, list):
            todo += [(f"{pointer}/{i}", inner, "") for i, inner in reversed(list(enumerate(value)))]
        if not isinstance(value, dict):
            continue
        by_name = keyword in MAPS
        if keyword == "patternProperties":
            yield from ((pointer, name) for name in value)
        elif not by_name and isinstance(value.get("pattern"), str):
            yield pointer, value["pattern"]
        inside = [(key, inner) for key, inner in value.items() if by_name or key not in VALUES]
        todo += [(f"{pointer}/{escaped(key)}", inner, "" if by_name else key) for key, inner in reversed(inside)]


def posix_classes(schema: Any, place: str = "") -> list[str]:
    """What is probably a mistake in the patterns of a schema that stands at ``place``, each with its own place."""
    found = (posix_class_at(pattern, place + pointer) for pointer, pattern in patterns_of(schema))
    return [message for message in found if message]


def posix_class_at(pattern: str, place: str) -> str:
    """What is probably a mistake in a pattern that stands at ``place``, with the place; empty if nothing is."""
    hint = posix_class(pattern)
    return f"{hint} (at {place})" if hint and place else hint


def warn_of_pattern(pattern: str, place: str = "") -> None:
    """Warn (``PosixClassWarning``) of a POSIX class in a pattern, or refuse it (``PatternError``), as ``handling`` of
    ``interlock.schema_hints`` says. Compiling a pattern does it already.
    """
    if refuses_slips():
        if message := posix_class(pattern):
            refuse_slip(f"at {place}: {message}" if place else message, place, None, PatternError)
    elif not is_quiet() and (message := posix_class_at(pattern, place)):
        warn_caller(message, PosixClassWarning)


def warn_of_schema(text: str) -> None:
    """Warn of POSIX classes in the patterns of a schema, or refuse them (``SchemaError``), as ``warn_of_pattern`` does.
    Compiling a schema does it already.
    """
    if (is_quiet() and not refuses_slips()) or len(text) > _MOST_READ:
        return
    try:
        schema = json.loads(text, parse_int=float)
    except (ValueError, RecursionError):
        return
    warn_of_patterns(schema, place_of_schemas())


def warn_of_patterns(schema: Any, place: str) -> None:
    """``warn_of_schema`` of a schema that was read, and stands at ``place``."""
    if is_quiet() and not refuses_slips():
        return
    for pointer, pattern in patterns_of(schema):
        if message := posix_class_at(pattern, place + pointer):
            if refuses_slips():
                refuse_slip(message, place + pointer, "pattern")
            warn_caller(message, PosixClassWarning)
