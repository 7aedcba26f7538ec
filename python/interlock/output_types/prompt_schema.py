"""The schema of a type as one writes it for a reader: with the formats and bounds that stand for the exact patterns.

What is enforced for a date is a long pattern, so that only days of the calendar are written. A model that reads a
prompt knows what a date is, and a pattern only costs it tokens.
"""

from __future__ import annotations

import datetime
import functools
import zoneinfo
from typing import Any

from interlock.output_types.python_types import type_patterns
from interlock.schema_hints.schema_keywords import MAPS, VALUES

__all__ = ["prompt_schema"]

_OF_NUMBERS = frozenset(
    ("type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "description", "default")
)


def prompt_schema(schema: Any) -> Any:
    """``schema`` without titles, and with formats and plain bounds in the place of what enforces them exactly. A
    pattern that a user wrote stays.

    >>> prompt_schema({"title": "When", **type_patterns.whole(type_patterns.DATE)})
    {'type': 'string', 'format': 'date'}
    """
    if isinstance(schema, list):
        return [prompt_schema(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "title" and isinstance(value, str):
            continue
        if key in VALUES:
            made[key] = value
        elif key in MAPS and isinstance(value, dict):
            made[key] = {name: prompt_schema(inner) for name, inner in value.items()}
        elif key == "pattern" and isinstance(value, str):
            made |= _of_pattern(value)
        else:
            made[key] = prompt_schema(value)
    return _without_zones(_plain_number(made))


def _of_pattern(pattern: str) -> dict[str, str]:
    """What to say of a string that has to match ``pattern``."""
    known = _known_patterns().get(pattern)
    if known is None and type_patterns.AFTER_SCHEME in pattern:
        known = {"format": "uri"}
    if known is None and (days := type_patterns.days_of(pattern)) is not None:
        # Words that JSON Schema does not have, and that validators know.
        known = {"format": "date", "formatMinimum": str(days[0]), "formatMaximum": str(days[1])}
        if days[0] == datetime.date.min:
            del known["formatMinimum"]
        if days[1] == datetime.date.max:
            del known["formatMaximum"]
    return {"pattern": pattern} if known is None else known


@functools.cache
def _known_patterns() -> dict[str, dict[str, str]]:
    """What stands for the patterns of this package."""
    words: dict[str, dict[str, str]] = {
        type_patterns.DATE: {"format": "date"},
        type_patterns.DURATION: {"format": "duration"},
        type_patterns.EMAIL: {"format": "email"},
        type_patterns.INTEGER_KEY: {"pattern": "^-?[0-9]+$"},
        type_patterns.PRINTABLE: {},
    }
    for pattern, name in ((type_patterns.TIME, "time"), (type_patterns.DATETIME, "date-time")):
        bare = pattern.removesuffix(f"{type_patterns.OFFSET}?")
        words |= dict.fromkeys((pattern, bare, bare + type_patterns.OFFSET), {"format": name})
    for version in (None, *range(1, 9)):
        words[type_patterns.uuid_pattern(version)] = {"format": "uuid"}
    for name, pattern in type_patterns.BY_FORMAT.items():
        words[pattern] = {"format": name}
    return {type_patterns.whole(pattern)["pattern"]: said for pattern, said in words.items()}


def _plain_number(schema: dict[str, Any]) -> dict[str, Any]:
    """One object for a number whose bounds stand in an ``allOf``, with the narrower of two bounds on a side."""
    parts = schema.get("allOf")
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        return schema
    merged: dict[str, Any] = {}
    for part in (*parts, {key: value for key, value in schema.items() if key != "allOf"}):
        # Two values of one keyword would have to be compared.
        if part.keys() - _OF_NUMBERS or any(merged.get(key, value) != value for key, value in part.items()):
            return schema
        merged |= part
    for inclusive, exclusive, sign in (("maximum", "exclusiveMaximum", 1), ("minimum", "exclusiveMinimum", -1)):
        if inclusive in merged and exclusive in merged:
            del merged[exclusive if sign * merged[inclusive] < sign * merged[exclusive] else inclusive]
    return merged


def _without_zones(schema: dict[str, Any]) -> dict[str, Any]:
    """Time zones are hundreds of names."""
    names = schema.get("enum")
    if isinstance(names, list) and len(names) > 100 and "Etc/UTC" in names:
        if names == sorted(zoneinfo.available_timezones()):
            return {key: value for key, value in schema.items() if key != "enum"} | {"format": "zoneinfo"}
    return schema
