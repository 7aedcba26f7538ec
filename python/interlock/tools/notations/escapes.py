"""How names and keys are spelled inside delimiters: as they are, as in JSON strings, as in XML attributes."""

from __future__ import annotations

import json

from interlock.tools.errors import ToolFormatError

__all__ = ["escape", "unescape"]

_ENTITIES = {"&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;"}
_ESCAPED = {"attribute": '&"', "xml": '&"<>', "none": ""}


def escape(text: str, kind: str) -> str:
    """``text`` as it stands inside a delimiter.

    >>> escape('say "hi"', "json"), escape('say "hi"', "attribute")
    ('say \\\\"hi\\\\"', 'say &quot;hi&quot;')
    """
    if kind == "json":
        return json.dumps(text, ensure_ascii=False)[1:-1]
    return "".join(_ENTITIES[char] if char in _ESCAPED[kind] else char for char in text)


def unescape(text: str, kind: str) -> str:
    """The name or key whose spelling is ``text``. ``ToolFormatError`` where it is the spelling of none.

    >>> unescape("a&amp;b", "xml")
    'a&b'
    """
    if kind == "json":
        try:
            return str(json.loads(f'"{text}"'))
        except ValueError as error:
            raise ToolFormatError(f"{text!r} is not the inside of a JSON string: {error}") from error
    for char in reversed(_ESCAPED[kind]):
        text = text.replace(_ENTITIES[char], char)
    return text
