"""Patterns for strings that Python reads as dates, times, durations and UUIDs.

JSON Schema's formats are not what Python reads: a ``date`` may have the year 0000 and a ``time`` the second 60, which
``datetime`` refuses, and a ``time`` must name its offset, which ``datetime`` does not ask for. These patterns accept
only what Python reads, and times with and without an offset. They use nothing but groups, classes and counts, so
that any server can read them.
"""

from __future__ import annotations

import calendar
import datetime
import zoneinfo
from collections.abc import Collection, Mapping
from typing import Any

__all__ = [
    "AFTER_SCHEME",
    "AFTER_SCHEME_AS_IT_IS",
    "BYTE_SIZE",
    "BY_FORMAT",
    "DATE",
    "DATETIME",
    "DURATION",
    "FILE_URL",
    "INTEGER_KEY",
    "OFFSET",
    "PRINTABLE",
    "TIME",
    "date_range",
    "days_of",
    "days_within",
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
_IN_URL = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/?#-]|%[0-9A-Fa-f]{2})"
AFTER_SCHEME = rf"://{_HOST}{_PORT}?(?:[/?#]{_IN_URL}*)?"
"""What follows the scheme of a URL, as every reader of URLs reads it."""

AFTER_SCHEME_AS_IT_IS = rf"://{_HOST}/[A-Za-z0-9_~!$&'()*+,;=:@/-]*"
"""The same of URLs that every reader leaves as they are, save for capital letters in the host."""

FILE_URL = f"file:///(?:[A-Za-z0-9._~!$&'()*+,;=@-]{_IN_URL}*)?"
"""The URL of a file, which has no host."""

# What email-validator takes, which pydantic's EmailStr asks: a domain with a period, whose last label is none of those
# that no mail reaches (arpa, test, local, onion, example, invalid, localhost), and no hyphens side by side.
_WORD = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]"
_MAIL_LABEL = "[A-Za-z0-9]{1,20}(?:-[A-Za-z0-9]{1,20})?"
_LAST_LABELS = (
    "[A-Za-z]{2,3}|[A-Za-z]{6}|[A-Za-z]{8}|aero|asia|blog|club|coop|info|jobs|life|live|mobi|name|news|shop|site|tech|"
    "team|work|cloud|email|media|space|store|world|company|network|community|marketing|solutions"
)
EMAIL = rf"{_WORD}{{1,30}}(?:\.{_WORD}{{1,16}}){{0,2}}@(?:{_MAIL_LABEL}\.){{1,3}}(?:{_LAST_LABELS})"
"""An address of mail, as email-validator reads it."""

NAME_EMAIL = rf"(?:[A-Za-z]{{1,20}}(?: [A-Za-z]{{1,20}}){{0,3}} <{EMAIL}>|{EMAIL})"
"""An address of mail, with a name in front of it or without: pydantic's NameEmail."""

BYTE_SIZE = r"[0-9]{1,12}(?:\.[0-9]{1,6})? ?(?:[KMGTPE]i?)?B"
"""A number of bytes with its unit: pydantic's ByteSize."""

PRINTABLE = "[ -~]*"
"""Characters that are one byte each."""


def uuid_pattern(version: int | None = None) -> str:
    """A UUID in its usual spelling, of one version or of any."""
    kind = "[0-9a-f]" if version is None else format(version, "x")
    variant = "[0-9a-f]" if version is None else "[89ab]"
    return f"[0-9a-f]{{8}}-[0-9a-f]{{4}}-{kind}[0-9a-f]{{3}}-{variant}[0-9a-f]{{3}}-[0-9a-f]{{12}}"


_BASE64 = "(?:{0}{{4}})*(?:{0}{{2}}==|{0}{{3}}=)?"
# Base64 of ASCII: the first bit of each byte is zero, and so is one bit of each of the first three characters of four.
_ZERO_BITS = "[A-Za-f]", "[A-HQ-Xg-nw-z0-3]", "[ABEFIJMNQRUVYZcdghklopstwx014589]"
_ASCII_END = f"{_ZERO_BITS[0]}(?:[AQgw]==|{_ZERO_BITS[1]}[AEIMQUYcgkosw048]=)"


def _ascii_base64(last: str) -> str:
    return f"(?:{''.join(_ZERO_BITS)}{last})*(?:{_ASCII_END})?"


BY_FORMAT = {
    "base64": _BASE64.format("[A-Za-z0-9+/]"),
    "base64url": _BASE64.format("[A-Za-z0-9_-]"),
    "base64-text": _ascii_base64("[A-Za-z0-9+/]"),
    "base64url-text": _ascii_base64("[A-Za-z0-9_-]"),
    "name-email": NAME_EMAIL,
    "fraction": "-?[0-9]{1,9}(?:/[1-9][0-9]{0,8})?",
}
"""What Python reads of pydantic's own formats, which say nothing to anybody else."""


def days_within(bounds: Mapping[str, Any]) -> tuple[datetime.date, datetime.date]:
    """The first and the last day within bounds, by their names ``ge``, ``gt``, ``le`` and ``lt``; other names are not
    looked at. Where no day is left, the last is before the first.
    """
    first, last = datetime.date.min.toordinal(), datetime.date.max.toordinal()
    for name, step in (("ge", 0), ("gt", 1)):
        if (bound := bounds.get(name)) is not None:
            first = max(first, bound.toordinal() + step)
    for name, step in (("le", 0), ("lt", 1)):
        if (bound := bounds.get(name)) is not None:
            last = min(last, bound.toordinal() - step)
    if first > last:
        return datetime.date.max, datetime.date.min
    return datetime.date.fromordinal(first), datetime.date.fromordinal(last)


def date_range(first: datetime.date, last: datetime.date) -> str:
    """The days from ``first`` to ``last``, both of them. ``ValueError`` if there is none.

    Years with the same days are written together: those of 365 days, those of 366, and the first and the last one.

    >>> date_range(datetime.date(2023, 12, 30), datetime.date(2024, 1, 2))
    '(?:2023-12-3[01]|2024-01-0[12])'
    """
    if first > last:
        raise ValueError(f"no day lies between {first} and {last}")
    if (first, last) == (datetime.date.min, datetime.date.max):
        return DATE
    years_of: dict[tuple[str, str, bool], list[str]] = {}
    for year in range(first.year, last.year + 1):
        begin = first.strftime("%m-%d") if year == first.year else "01-01"
        end = last.strftime("%m-%d") if year == last.year else "12-31"
        has_leap_day = calendar.isleap(year) and begin <= "02-29" <= end
        years_of.setdefault((begin, end, has_leap_day), []).append(f"{year:04}")
    ways = []
    for (begin, end, has_leap_day), years in years_of.items():
        days = [day for day in _DAYS if begin <= day <= end and (has_leap_day or day != "02-29")]
        ways.append(f"{_one_of(years)}-{_one_of(days)}")
    pattern = ways[0] if len(ways) == 1 else f"(?:{'|'.join(ways)})"
    _days_of[whole(pattern)["pattern"]] = first, last
    return pattern


_days_of: dict[str, tuple[datetime.date, datetime.date]] = {}


def days_of(pattern: str) -> tuple[datetime.date, datetime.date] | None:
    """The first and the last day of a pattern of a schema that ``date_range`` made."""
    return _days_of.get(pattern)


_DAYS = [str(datetime.date(2024, 1, 1) + datetime.timedelta(i))[5:] for i in range(366)]


def _one_of(texts: Collection[str]) -> str:
    """A pattern for texts of the same length, with hyphens at the same places. Digits that the same texts may follow
    are written as a class.
    """
    if not any(texts):
        return ""
    behind: dict[str, list[str]] = {}
    for text in sorted(texts):
        behind.setdefault(text[0], []).append(text[1:])
    begun: dict[tuple[str, ...], str] = {}
    for char, rests in behind.items():
        begun[tuple(rests)] = begun.get(tuple(rests), "") + char
    ways = [_class(chars) + _one_of(rests) for rests, chars in begun.items()]
    return ways[0] if len(ways) == 1 else f"(?:{'|'.join(ways)})"


def _class(digits: str) -> str:
    if len(digits) > 2 and len(digits) == int(digits[-1]) - int(digits[0]) + 1:
        return f"[{digits[0]}-{digits[-1]}]"
    return digits if len(digits) == 1 else f"[{digits}]"


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
    if form == "email":
        # Also of use to others than Python, so it stays beside what is narrower.
        pattern = whole(EMAIL)
        if schema.get("pattern", pattern["pattern"]) == pattern["pattern"]:
            return {**schema, **pattern}
        return {**schema, "allOf": [*schema.get("allOf", ()), pattern]}
    if not isinstance(form, str) or form not in BY_FORMAT:
        return schema
    return {**{key: value for key, value in schema.items() if key != "format"}, **whole(BY_FORMAT[form])}


def whole(pattern: str) -> dict[str, Any]:
    """The schema of strings that match ``pattern`` from their first character to their last."""
    return {"type": "string", "pattern": f"^(?:{pattern})$"}
