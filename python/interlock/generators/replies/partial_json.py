"""The part of a JSON text that is certain while the text is still being written."""

from __future__ import annotations

import json
from typing import Any

from interlock.util.json_pointer import escaped

__all__ = ["open_place", "partial_json"]

_BLANK = " \t\n\r"


def partial_json(text: str) -> Any:
    """The value of a JSON text that is not whole yet, as far as nothing that follows can change it.

    Members and elements that are whole are there, and of a string that is being written what is there of it. A number
    is left out until something follows it, for more digits may come; so are a key without its value, and ``true``,
    ``false`` and ``null`` until they are whole. ``None`` where nothing is certain. Linear in the length of the text.

    >>> partial_json('{"name": "Ada Love')
    {'name': 'Ada Love'}
    >>> partial_json('{"name": "Ada", "ages": [36, 3')
    {'name': 'Ada', 'ages': [36]}
    >>> partial_json('{"na') , partial_json("12")
    ({}, None)
    """
    kept = 0  # How much of the text is certain.
    closers: list[str] = []  # What closes the containers that are open there.
    wants_key = False
    at, end = 0, len(text)
    while at < end:
        char = text[at]
        if char in _BLANK or char == ":":
            at += 1
        elif char == ",":
            wants_key = closers[-1:] == ["}"]
            at += 1
        elif char in "{[":
            closers.append("}" if char == "{" else "]")
            wants_key = char == "{"
            at = kept = at + 1
        elif char in "}]":
            closers.pop()
            at = kept = at + 1
        elif char == '"':
            after = _string_end(text, at)
            if after is None:
                return _closed(text[:kept] if wants_key else _open_string(text, at), closers)
            if not wants_key:
                kept = after
            wants_key = False
            at = after
        else:
            after = at
            while after < end and text[after] not in ",]}" + _BLANK:
                after += 1
            if after == end and char not in "tfn":
                break
            if char in "tfn" and text[at:after] not in ("true", "false", "null"):
                break
            at = kept = after
    return _closed(text[:kept], closers)


def _closed(text: str, closers: list[str]) -> Any:
    whole = text + "".join(reversed(closers))
    return json.loads(whole) if whole.strip() else None


def _string_end(text: str, at: int) -> int | None:
    """Behind the closing quote of the string that begins at ``at``; ``None`` if it is still open."""
    i = at + 1
    while i < len(text):
        if text[i] == "\\":
            i += 2
        elif text[i] == '"':
            return i + 1
        else:
            i += 1
    return None


def _open_string(text: str, at: int) -> str:
    """``text``, whose last string is closed. An escape that is not whole is left out, and half of a surrogate pair."""
    i = at + 1
    whole = i
    while i < len(text):
        width = 1
        if text[i] == "\\":
            width = 6 if text[i + 1 : i + 2] == "u" else 2
            if text[i + 1 : i + 3].lower() in ("ud",) and text[i + 3 : i + 4].lower() in ("8", "9", "a", "b"):
                width = 12
        if i + width > len(text):
            break
        i = whole = i + width
    return text[:whole] + '"'


def open_place(text: str) -> str:
    """The JSON Pointer of the innermost value that a text which is not whole yet is in the middle of. Between two
    members that is the object, and between two elements the array. Linear in the length of the text.

    >>> open_place('{"name": "Ada Lo'), open_place('{"name": "Ada", "ages": [36, 3'), open_place('{"name": "Ada", "a')
    ('/name', '/ages/1', '')
    """
    steps: list[Any] = []  # Of every open container the key or the number of its member, or of its last one.
    begun: list[bool] = []  # Whether that member is open.
    wants_key = False
    at, end = 0, len(text)
    while at < end:
        char = text[at]
        if char in _BLANK or char == ":":
            at += 1
            continue
        if char in ",}]":
            if char != ",":
                steps.pop()
                begun.pop()
            if begun:
                begun[-1] = False
            wants_key = char == "," and bool(steps) and isinstance(steps[-1], str)
            at += 1
            continue
        if char == '"':
            after = _string_end(text, at)
            if wants_key:
                if after is None:
                    break
                steps[-1], wants_key, at = json.loads(text[at:after]), False, after
                continue
        else:
            after = at + 1
            while char not in "{[" and after < end and text[after] not in ",]}" + _BLANK:
                after += 1
        # A value begins.
        if begun:
            begun[-1] = True
            if isinstance(steps[-1], int):
                steps[-1] += 1
        if char in "{[":
            steps.append("" if char == "{" else -1)
            begun.append(False)
            wants_key = char == "{"
        elif after is None or (after == end and char != '"'):
            break
        elif begun:
            begun[-1] = False
        at = after if after is not None else end
    named = [escaped(step) for step, is_open in zip(steps, begun) if is_open]
    return "".join(f"/{name}" for name in named)
