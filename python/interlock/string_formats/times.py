"""Rules of dates, times and durations (RFC 3339)."""

from __future__ import annotations

import calendar
import random
import re

from interlock.string_formats.string_format import StringFormat
from interlock.string_formats.wording import part

DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))")
LOCAL_TIME = re.compile(r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(?:\.[0-9]+)?)?")
UNITS = {"Y": "years", "M": "months", "D": "days", "H": "hours", "m": "minutes", "S": "seconds"}
"""The units of a duration but weeks, in their order; ``m`` is the M behind a T."""
DAY = 24 * 60


def date(text: str) -> str:
    """The rule of ``date`` that a text breaks."""
    found = DATE.fullmatch(text)
    if found is None:
        return "a date has four digits, two and two, with hyphens between them"
    year, month, day = map(int, found.groups())
    if not 1 <= month <= 12:
        return f"there is no month {found[2]}"
    if day == 0:
        return "there is no day 00"
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if month == 2 and day == 29 and not is_leap:
        return f"{found[1]} is no leap year, so that February has 28 days"
    most = 28 + is_leap if month == 2 else 30 if month in (4, 6, 9, 11) else 31
    return f"{calendar.month_name[month]} has {most} days, not {day}" if day > most else ""


def time(text: str) -> str:
    """The rule of ``time`` that a text breaks."""
    found = TIME.fullmatch(text)
    if found is None:
        if local := LOCAL_TIME.fullmatch(text):
            return "the offset from UTC is missing" if local[1] else "the seconds are missing"
        return "a time has two digits each for hours, minutes and seconds, with colons between them, and an offset"
    hour, minute, second, hours_off, minutes_off = (int(found[n] or 0) for n in (1, 2, 3, 5, 6))
    for name, value, most in (
        ("hours", hour, 23),
        ("minutes", minute, 59),
        ("seconds", second, 60),
        ("hours of the offset", hours_off, 23),
        ("minutes of the offset", minutes_off, 59),
    ):
        if value > most:
            return f"the {name} are {value}; they go up to {59 if name == 'seconds' else most}"
    offset = (60 * hours_off + minutes_off) * (-1 if found[4] == "-" else 1)
    if second == 60 and (60 * hour + minute - offset) % DAY != DAY - 1:
        return "second 60 is a leap second, which comes at 23:59:60 in UTC alone"
    return ""


def date_time(text: str) -> str:
    """The rule of ``date-time`` that a text breaks."""
    if DATE.fullmatch(text):
        return date(text) or "the time is missing"
    if not DATE.match(text):
        return "a date-time has a date, a T and a time"
    if text[10] not in "Tt":
        return date(text[:10]) or f"T stands between the date and the time, not {part(text[10])}"
    return date(text[:10]) or time(text[11:])


def duration(text: str) -> str:
    """The rule of ``duration`` that a text breaks. Small letters are the standard's, too."""
    if text[:1] not in ("P", "p"):
        return "a duration begins with P"
    if len(text) == 1:
        return f"nothing follows the {text}"
    if re.search(r"[0-9][.,][0-9]", text):
        return "its numbers are whole, without a fraction"
    days, *timed = re.split("[Tt]", text[1:], maxsplit=1)
    hours = "".join(timed)
    if timed and not hours:
        return f"nothing follows the {text[-1]}"
    if re.fullmatch("[0-9]+[Ww]", text[1:]):
        return ""
    for piece, units in ((days, "YMDW"), (hours, "HMS")):
        if problem := _pieces(piece, units):
            return problem
    if "W" in days or "w" in days:
        return "weeks stand alone"
    # Both halves are digits and letters of ASCII by now.
    for piece, order in ((days.upper(), "YMD"), (hours.upper().replace("M", "m"), "HmS")):
        if problem := _in_order(re.findall("[A-Za-z]", piece), order):
            return problem
    return ""


def _capital(char: str) -> str:
    """A letter of ASCII as a capital, and any other character as it is."""
    return char.upper() if char.isascii() else char


def _pieces(text: str, units: str) -> str:
    """What is wrong in one half of a duration, where it is not numbers with a unit each."""
    rest = re.sub(f"^(?:[0-9]+[{units}{units.lower()}])*", "", text)
    if not rest:
        return ""
    number = re.match("[0-9]+", rest)
    if number is None:
        is_unit = _capital(rest[0]) in units
        return f"{part(rest[0])} has no number before it" if is_unit else f"{part(rest[0])} is no unit"
    if number.end() == len(rest):
        return f"{part(number[0])} has no unit behind it"
    written = rest[number.end()]
    unit = _capital(written)
    if unit in "HS":
        return f"{UNITS[unit]} stand behind a T"
    if unit in "YMDW":
        return f"{UNITS.get(unit, 'weeks')} stand before the T"
    return f"{part(written)} is no unit"


def _in_order(names: list[str], order: str) -> str:
    """What is wrong with units that come twice, in another order, or with a gap."""
    for before, after in zip(names, names[1:], strict=False):
        first, second = order.index(before), order.index(after)
        if second <= first:
            return (
                f"{UNITS[after]} stand behind {UNITS[before]}; the order is {', '.join(UNITS[name] for name in order)}"
            )
        if second > first + 1:
            between = order[first + 1]
            return (
                f"{UNITS[between]} are missing between {UNITS[before]} and {UNITS[after]}; "
                f"0{between.upper()} writes that there are none"
            )
    return ""


def _random_date(rng: random.Random) -> str:
    return f"20{rng.randrange(20, 30)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"


def _random_time(rng: random.Random) -> str:
    return f"{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}Z"


FORMATS = {
    "date": StringFormat(date, "2026-03-14", varied=_random_date, is_short=True),
    "time": StringFormat(time, "12:30:00Z", "with an offset", varied=_random_time, is_short=True),
    "date-time": StringFormat(
        date_time,
        "2026-03-14T12:30:00Z",
        "with an offset",
        varied=lambda r: f"{_random_date(r)}T{_random_time(r)}",
        is_short=True,
    ),
    "duration": StringFormat(duration, "P3DT4H", varied=lambda r: f"P{r.randrange(1, 30)}DT{r.randrange(1, 24)}H"),
}
