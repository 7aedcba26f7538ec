"""Rules of UUIDs, JSON Pointers and patterns."""

from __future__ import annotations

import random
import re

import interlock
from interlock.string_formats.everyday_words import WORDS
from interlock.string_formats.string_format import StringFormat
from interlock.string_formats.wording import may_not_stand, part
from interlock.util.plurals import counted

HYPHENS = (8, 13, 18, 23)
"""Where the hyphens of a UUID are."""


def uuid(text: str) -> str:
    """The rule of ``uuid`` that a text breaks."""
    if wrong := re.search("[^0-9A-Fa-f-]", text):
        return f"{part(wrong[0])} is no hexadecimal digit"
    digits = len(text.replace("-", ""))
    if digits != 32:
        return f"it has {counted(digits, 'hexadecimal digit')}; a UUID has 32"
    if tuple(match.start() for match in re.finditer("-", text)) != HYPHENS:
        return "hyphens stand behind the digits 8, 12, 16 and 20, and nowhere else"
    return ""


def json_pointer(text: str) -> str:
    """The rule of ``json-pointer`` that a text breaks."""
    if text.startswith("#"):
        return "a pointer begins with /; # is for a reference, which is a URI"
    if text and not text.startswith("/"):
        return "a pointer that is not empty begins with /"
    if re.search("~(?![01])", text):
        return "neither 0 nor 1 follows a ~: a key with ~ has ~0, and one with / has ~1"
    return ""


def relative_json_pointer(text: str) -> str:
    """The rule of ``relative-json-pointer`` that a text breaks, by its latest draft."""
    number = re.match("[0-9]+", text)
    if number is None:
        return "it begins with a number: how many levels to go up"
    if number[0] != "0" and number[0].startswith("0"):
        return f"the number {part(number[0])} has a 0 in front"
    rest = text[number.end() :]
    if index := re.match("[+-][1-9][0-9]*", rest):  # The engine leaves this out.
        rest = rest[index.end() :]
    if rest in ("", "#") or rest[0] == "/":
        return "" if rest == "#" else json_pointer(rest)
    return may_not_stand(rest[0], "behind the number: # does, or a JSON Pointer")


def regex(text: str) -> str:
    """What the engine says of a text that is no pattern of ECMA-262; nothing where it cannot tell."""
    try:
        interlock.check_regex(text, dialect="ecma")
    except interlock.PatternError as error:
        return str(error).partition("\n")[0]
    except interlock.InterlockError:
        pass
    return ""


def _random_uuid(rng: random.Random) -> str:
    return "-".join(f"{rng.getrandbits(4 * digits):0{digits}x}" for digits in (8, 4, 4, 4, 12))


FORMATS = {
    "uuid": StringFormat(uuid, "2eb8aa08-aa98-11ea-b4aa-73b441d16380", varied=_random_uuid, is_short=True),
    "json-pointer": StringFormat(json_pointer, "/a/0", varied=lambda r: f"/{r.choice(WORDS)}/0", holds_delimiters=True),
    "relative-json-pointer": StringFormat(
        relative_json_pointer, "1/a", varied=lambda r: f"1/{r.choice(WORDS)}", holds_delimiters=True
    ),
    "regex": StringFormat(regex, "^[a-z]+$", holds_delimiters=True),
}
