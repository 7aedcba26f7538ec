"""POSIX classes in patterns (``[[:alpha:]]``), which are a mistake that no error shows: warnings with their places.

>>> import interlock
>>> posix_classes({"items": {"type": "string", "pattern": "^[[:digit:]]+$"}})
['[:digit:] is no class here, and stands for its single characters; did you mean ^[0-9]+$? (at /items)']
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from interlock.caller_warnings import warn_caller
from interlock.json_pointer import escaped
from interlock.pattern_hints import posix_class
from interlock.schema_hints import is_quiet, place_of_schemas

__all__ = ["PosixClassWarning", "patterns_of", "posix_classes", "warn_of_pattern", "warn_of_schema"]

_VALUES = frozenset(("const", "default", "enum", "examples"))
"""Keywords that hold values, in which ``pattern`` is the name of a field."""
_NAMES = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
"""Keywords that hold schemas by name."""
_MOST_READ = 1 << 20
"""Bytes of a schema that is read once more for its patterns."""


class PosixClassWarning(UserWarning):
    """A pattern has a POSIX class such as ``[[:alpha:]]``. Neither Python nor ECMA-262 has such classes: there it is
    one of the characters ``[ : a l p h``, and then a ``]``.

    The message has the pattern that was probably meant, and in a schema the place. Write the characters with a
    backslash where they are meant.
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
        by_name = keyword in _NAMES
        if keyword == "patternProperties":
            yield from ((pointer, name) for name in value)
        elif not by_name and isinstance(value.get("pattern"), str):
            yield pointer, value["pattern"]
        inside = [(key, inner) for key, inner in value.items() if by_name or key not in _VALUES]
        todo += [(f"{pointer}/{escaped(key)}", inner, "" if by_name else key) for key, inner in reversed(inside)]


def posix_classes(schema: Any, place: str = "") -> list[str]:
    """What is probably a mistake in the patterns of a schema that stands at ``place``, each with its own place."""
    found = ((place + pointer, posix_class(pattern)) for pointer, pattern in patterns_of(schema))
    return [hint + (f" (at {pointer})" if pointer else "") for pointer, hint in found if hint]


def warn_of_pattern(pattern: str, place: str = "") -> None:
    """Warn (``PosixClassWarning``) of a POSIX class in a pattern. Compiling a pattern does it already."""
    if not is_quiet() and (hint := posix_class(pattern)):
        warn_caller(hint + (f" (at {place})" if place else ""), PosixClassWarning)


def warn_of_schema(text: str) -> None:
    """Warn (``PosixClassWarning``) of POSIX classes in the patterns of a schema. Compiling a schema does it already."""
    if is_quiet() or len(text) > _MOST_READ:
        return
    try:
        schema = json.loads(text, parse_int=float)
    except (ValueError, RecursionError):
        return
    for message in posix_classes(schema, place_of_schemas()):
        warn_caller(message, PosixClassWarning)
