r"""What surprises in a pattern that is right: ``\d`` of Python has the digits of every script, ``\p{L}`` of ECMA-262 is
a class of Unicode without the flag ``u`` too, and the ``pattern`` of a JSON Schema matches anywhere in a string.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from typing import Any

from interlock.cli.sources.source_arguments import Source
from interlock.cli.terminal.output import Output
from interlock.cli.terminal.style import NOTE, Line
from interlock.pattern_slips import CLASSES, unicode_classes
from interlock.util.json_pointer import escaped
from interlock.util.quoting import shortened

__all__ = ["pattern_notes", "say_pattern_notes"]

ANCHOR, IN_CLASSES = re.compile(r"[$^]|\\[bB]"), re.compile(r"\[(?:\\.|[^\]\\])*\]|\\[^bB]", re.DOTALL)
UNICODE_CLASS = re.compile(r"(?<!\\)(?:\\\\)*(\\[pP]\{[^}]*\})")
HOLDS_VALUES = ("const", "enum", "default", "examples", "example")
"""Keywords in which no schemas are."""


def say_pattern_notes(source: Source, output: Output) -> None:
    """Say what may surprise in the patterns of a source, in one line. A program that reads JSON is not surprised."""
    for note in [] if output.json else pattern_notes(source):
        output.note(Line(("note: ", NOTE), note))


def pattern_notes(source: Source) -> list[str]:
    """At most one note about the patterns of a source."""
    if source.kind == "regex":
        dialect = source.options.get("dialect", "python")
        return (_of_python if dialect == "python" else _of_ecma)(source.text, source.options)
    if source.kind == "json_schema":
        try:
            found = list(_loose(source.document, ""))
        except RecursionError:
            return []
        if found:
            place, pattern = found[0]
            more = f", and {len(found) - 1} more," if len(found) > 1 else ""
            shown = json.dumps(shortened(pattern), ensure_ascii=False)
            verb = "match" if more else "matches"
            return [f"the pattern {shown} at {place}{more} {verb} anywhere in a string; ^(?:...)$ is the whole string"]
    return []


def _of_python(pattern: str, options: dict[str, Any]) -> list[str]:
    if "a" in options.get("flags", ""):
        return []
    try:
        with warnings.catch_warnings(action="ignore"):
            classes = unicode_classes(re.compile(pattern))
    except (re.error, RecursionError, OverflowError):
        return []
    if not classes:
        return []
    what, _ = CLASSES[classes[0][1]]
    return [
        f"{classes[0]} matches {what}; --flags a keeps to ASCII, and (?u) in front of the pattern "
        "says that every script is meant"
    ]


def _of_ecma(pattern: str, options: dict[str, Any]) -> list[str]:
    found = UNICODE_CLASS.search(pattern)
    if found is None or "u" in options.get("flags", ""):
        return []
    return [
        f"{found[1]} is a class of Unicode here, as with JavaScript's flag u; without it {found[1][:2]} is the "
        f"letter {found[1][1]} in JavaScript; --flags u says that the class is meant"
    ]


def _loose(schema: Any, place: str) -> Iterator[tuple[str, str]]:
    """The patterns without an anchor, each with its place; none of one that matches every text."""
    if isinstance(schema, list):
        for number, part in enumerate(schema):
            yield from _loose(part, f"{place}/{number}")
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if key == "pattern" and isinstance(value, str):
            if value.strip(".*+") and not ANCHOR.search(IN_CLASSES.sub("", value)):
                yield f"{place}/pattern", value
        elif key not in HOLDS_VALUES:
            yield from _loose(value, f"{place}/{escaped(key)}")
