"""Choices as text: one a line in a file, with commas in an argument, or a JSON array of strings in either."""

from __future__ import annotations

import json
import re
from collections import Counter

import interlock
from interlock.cli.terminal.place_in_source import PlaceInSource


def read(text: str, from_file: bool) -> list[str]:
    """The choices. ``SchemaError`` where the text begins as an array does, and is none of strings.

    >>> read("yes\\n\\nno\\n", from_file=True), read("yes,no", from_file=False), read('["a,b", ""]', from_file=False)
    (['yes', 'no'], ['yes', 'no'], ['a,b', ''])
    """
    if _is_array(text):
        try:
            choices = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _refused(f"the choices begin as a JSON array, and are none: {error}") from None
        if not all(isinstance(choice, str) for choice in choices):
            raise _refused("the choices are a JSON array of something else than strings")
        return list(choices)
    if from_file:
        return [line for line in _lines(text) if line.strip()]
    return text.split(",")


def _refused(message: str) -> interlock.SchemaError:
    """The error for an array that does not consist of strings: a ``SchemaError``, as for a malformed schema."""
    error = interlock.SchemaError(message)
    way = """choices:'["1", "2"]', or choices:1,2 without brackets"""
    error.located = PlaceInSource("", 0, 0, way, found=False)  # type: ignore[attr-defined]
    return error


def notes(text: str, from_file: bool) -> tuple[str, ...]:
    """What to know about a text in which something is blank where a choice might be, or a choice is there twice."""
    twice = [choice for choice, times in Counter(read(text, from_file)).items() if times > 1]
    shown = ", ".join(json.dumps(choice, ensure_ascii=False) for choice in twice[:3]) + (", ..." if twice[3:] else "")
    verb = "is" if len(twice) == 1 else "are"
    repeated = (f"{shown} {verb} there more than once, which changes nothing",) if twice else ()
    return _blank(text, from_file) + repeated + _escaped(text, from_file)


def _escaped(text: str, from_file: bool) -> tuple[str, ...]:
    """That a choice has the two characters that were perhaps meant to divide choices."""
    if from_file or _is_array(text) or r"\n" not in text or "," in text:
        return ()
    return (r"\n is part of the one choice: commas divide choices, and lines those of a file (choices:@FILE)",)


def _blank(text: str, from_file: bool) -> tuple[str, ...]:
    if _is_array(text):
        return ()
    if not from_file:
        return ("one of the choices is empty, so the output may be, too",) if "" in text.split(",") else ()
    blank = [str(number) for number, line in enumerate(_lines(text.rstrip("\r\n")), 1) if not line.strip()]
    if not blank or not text.strip():
        return ()
    which = f"line {blank[0]} is" if len(blank) == 1 else f"{len(blank)} lines are"
    return (f'{which} blank, and no choice; a JSON array, ["yes", ""], may have an empty one',)


def _is_array(text: str) -> bool:
    return text.lstrip().startswith("[")


def _lines(text: str) -> list[str]:
    """The lines of a file. ``str.splitlines`` would cut at characters of a choice, too."""
    return re.split(r"\r\n|\n|\r", text)
