"""Patterns for strings that Python reads as dates, times, durations and UUIDs.

JSON Schema's formats are not what Python reads: a ``date`` may have the year 0000 and a ``time`` the second 60, which
``datetime`` refuses, and a ``time`` must name its offset, which ``datetime`` does not ask for. These patterns accept
only what Python reads, and times with and without an offset. They use nothing but groups, classes and counts, so
that any server can read them.
"""

from __future__ import annotations

import zoneinfo
from typing import Any

__all__ = [
    "AFTER_SCHEME",
    "BY_FORMAT",
    "DATE",
    "DATETIME",
    "DURATION",
    "INTEGER_KEY",
    "OFFSET",
    "PRINTABLE",
    "TIME",
    "exact",
    "uuid_pattern",
    "whole",
]

_YEAR = "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_DAY = "(?:0[1-9]|1[0-9]|2[0-8])"
_MONTH_AND_DAY = f"(?:(?:0[1-9]|1[0-2])-{_DAY}|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
_FOURTH = "(?:0[48]|[2468][048]|[13579][26])"
_LEAP_YEAR = f"(?:[0-9]{{2}}{_FOURTH}|{_FOURTH}00)"

DATE = f"(?:{_YEAR}-{_MONTH_AND_DAY}|{_LEAP_YEAR}-02-29)"
"""A day of the years 0001 to 9999."""

_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,6})?)?"

OFFSET = "(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
"""A distance from UTC."""

TIME = f"{_CLOCK}{OFFSET}?"
"""A time of day, with or without an offset."""

DATETIME = f"{DATE}T{_CLOCK}{OFFSET}?"
"""A day and a time, with or without an offset."""

_SECONDS = r"[0-9]{1,5}(?:\.[0-9]{1,6})?S"
_MINUTES = f"[0-9]{{1,4}}M(?:{_SECONDS})?"
_CLOCK_TIME = f"T(?:[0-9]{{1,4}}H(?:{_MINUTES}|{_SECONDS})?|{_MINUTES}|{_SECONDS})"

DURATION = f"-?P(?:[0-9]{{1,5}}D(?:{_CLOCK_TIME})?|{_CLOCK_TIME})"
"""Days, hours, minutes and seconds, as ISO 8601 writes them."""

INTEGER_KEY = "-?(?:0|[1-9][0-9]{0,17})"
"""An integer as the name of a property."""

# A host is a name whose last label begins with a letter, so that nobody takes it for a number, or an IPv4 address.
# Labels have no two hyphens side by side: those of other scripts do, and must decode.
_LABEL = "(?:[A-Za-z0-9]|-[A-Za-z0-9]){0,62}"
_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_HOST = rf"(?:(?:[A-Za-z0-9]{_LABEL}\.)*[A-Za-z]{_LABEL}|{_BYTE}(?:\.{_BYTE}){{3}})"
_PORT = "(?::(?:6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3}))"
AFTER_SCHEME = rf"://{_HOST}{_PORT}?(?:[/?#](?:[A-Za-z0-9._~!$&'()*+,;=:@/?#-]|%[0-9A-Fa-f]{{2}})*)?"
"""What follows the scheme of a URL, as every reader of URLs reads it."""

PRINTABLE = "[ -~]*"
"""Characters that are one byte each."""


def uuid_pattern(version: int | None = None) -> str:
    """A UUID in its usual spelling, of one version or of any."""
    kind = "[0-9a-f]" if version is None else format(version, "x")
    variant = "[0-9a-f]" if version is None else "[89ab]"
    return f"[0-9a-f]{{8}}-[0-9a-f]{{4}}-{kind}[0-9a-f]{{3}}-{variant}[0-9a-f]{{3}}-[0-9a-f]{{12}}"


_BASE64 = "(?:{0}{{4}})*(?:{0}{{2}}==|{0}{{3}}=)?"
BY_FORMAT = {
    "base64": _BASE64.format("[A-Za-z0-9+/]"),
    "base64url": _BASE64.format("[A-Za-z0-9_-]"),
    "fraction": "-?[0-9]{1,9}(?:/[1-9][0-9]{0,8})?",
}
"""What Python reads of pydantic's own formats, which say nothing to anybody else."""


def exact(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema of pydantic's with what Python reads in the place of its format.

    >>> exact({"type": "string", "format": "fraction"})
    {'type': 'string', 'pattern': '^(?:-?[0-9]{1,9}(?:/[1-9][0-9]{0,8})?)$'}
    """
    if isinstance(members := schema.get("anyOf"), list):
        schema = {**schema, "anyOf": [exact(member) for member in members]}
    form = schema.get("format")
    if form == "zoneinfo":
        # With ``str`` these are names, and without a time-zone database there are none.
        return {"type": "string", "enum": sorted(zoneinfo.available_timezones())}
    if not isinstance(form, str) or form not in BY_FORMAT:
        return schema
    return {**{key: value for key, value in schema.items() if key != "format"}, **whole(BY_FORMAT[form])}


def whole(pattern: str) -> dict[str, Any]:
    """The schema of strings that match ``pattern`` from their first character to their last."""
    return {"type": "string", "pattern": f"^(?:{pattern})$"}
