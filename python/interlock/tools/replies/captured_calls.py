"""A call from its text and the captures in it: its name, its arguments as values, its identifier.

The grammar says where each part stands and what it is, so nothing is guessed here: a value that the grammar read as a
string is a string, whatever it looks like.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from interlock.tools.errors import ToolFormatError
from interlock.tools.notations.argument_parsing import PYTHON_WORDS, read_arguments
from interlock.tools.notations.escapes import unescape
from interlock.tools.notations.render import Call
from interlock.tools.tag_grammars.event_names import MARK, read_event, style_of

__all__ = ["read_call"]


@dataclass
class _Part:
    """A captured part of a call, with those inside."""

    words: tuple[str, ...]
    start: int
    end: int = 0
    parts: list[_Part] = field(default_factory=list)


def read_call(data: bytes, markers: Sequence[tuple[int, bool, str]]) -> Call:
    """The call that is ``data``. ``markers`` say where captures inside begin and end, and their names.

    ``ToolFormatError`` for arguments that are no object.
    """
    whole = _Part(("call",), 0, len(data))
    path = [whole]
    for at, begins, name in markers:
        if begins:
            words = read_event(name.removeprefix(MARK)) if name.startswith(MARK) else ("captured", name)
            part = _Part(words, at)
            path[-1].parts.append(part)
            path.append(part)
        else:
            path.pop().end = at
    name, identifier, arguments = "", "", {}
    named = next((part for part in whole.parts if part.words[0] == "named"), whole)
    if named is not whole:
        name = named.words[1]
    for part in named.parts:
        if part.words[0] == "id":
            identifier = "".join(part.words[1:]) + data[part.start : part.end].decode()
        elif part.words[0] == "arguments":
            arguments = _arguments(data, part)
        elif part.words[0] == "member":
            arguments = {**arguments, **_members(data, [part])}
    return Call(name, arguments, identifier)


def _arguments(data: bytes, part: _Part) -> dict[str, Any]:
    encoding = part.words[1]
    text = data[part.start : part.end].decode()
    if encoding == "tagged":
        return _members(data, part.parts)
    if encoding == "any":
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return {"input": text}
        return found if isinstance(found, dict) else {"input": found}
    if encoding == "json":
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ToolFormatError(f"the arguments cannot be read as JSON: {error}") from error
        # A schema may allow more than objects.
        return found if isinstance(found, dict) else {"input": found}
    return read_arguments(style_of(part.words[1:]), text)


def _members(data: bytes, parts: Sequence[_Part]) -> dict[str, Any]:
    """The members of an object between delimiters."""
    found: dict[str, Any] = {}
    for part in parts:
        if part.words[0] != "member":
            continue
        if len(part.words) > 2:
            key = part.words[2]
        else:
            own = next(one for one in part.parts if one.words[0] == "key")
            key = unescape(data[own.start : own.end].decode(), own.words[1])
        found[key] = _value(data, part)
    return found


_EMPTY: dict[str, Any] = {"string": "", "null": None}


def _value(data: bytes, part: _Part) -> Any:
    """The value inside a parameter or an item."""
    for one in part.parts:
        text = data[one.start : one.end].decode()
        kind = one.words[0]
        if kind == "string":
            return text
        if kind == "json":
            return json.loads(text)
        if kind == "word":
            return PYTHON_WORDS[text]
        if kind == "any":
            try:
                found = json.loads(text)
            except (ValueError, RecursionError):
                return text
            return text if isinstance(found, str) else found
        if kind == "object":
            return _members(data, one.parts)
        if kind == "array":
            return [_value(data, item) for item in one.parts if item.words[0] == "item"]
    # Nothing was written: what that is, the schema decided.
    empty = part.words[1]
    return {"object": {}, "array": []}[empty] if empty in ("object", "array") else _EMPTY[empty]
