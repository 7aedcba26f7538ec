"""Pieces of Lark's notation: texts, patterns, and texts in which others do not stand, written so that they mean
themselves."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from interlock.tools.errors import StructuralTagError
from interlock.tools.spec.fields import is_unicode

__all__ = ["ANY", "holding", "literal", "pattern", "quoted_pattern", "without", "written_json"]

#: A terminal of any text.
ANY = "/.*/s"


def literal(text: str) -> str:
    """``text`` as a literal of a grammar.

    >>> literal('a"b')
    '"a\\\\"b"'
    """
    if '"' in text or not text.isprintable() or "\\" in text:
        text = text.translate(_NAMED)
        if not text.isprintable():
            if not is_unicode(text):
                raise StructuralTagError("a text holds a lone surrogate, which is not text", "/format")
            text = "".join(char if char.isprintable() else f"\\U{ord(char):08x}" for char in text)
    return f'"{text}"'


#: What has an escape of its own in a literal.
_NAMED = str.maketrans({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def quoted_pattern(text: str) -> str:
    """``text`` inside of a pattern between slashes, standing for itself.

    >>> quoted_pattern("</a>")
    '\\\\x{3c}\\\\x{2f}a\\\\x{3e}'
    """
    return _NO_WORD.sub(lambda found: f"\\x{{{ord(found[0]):x}}}", text)


_NO_WORD = re.compile(r"\W")


def holding(texts: Iterable[str]) -> str:
    """The pattern of all texts in which one of ``texts`` stands."""
    return f"/.*(?:{'|'.join(map(quoted_pattern, texts))}).*/s"


def without(texts: Iterable[str], inside: str = ANY) -> str:
    """The texts of the terminal ``inside`` in which none of ``texts`` stands.

    >>> without(["<a"])
    '/.*/s & ~/.*(?:\\\\x{3c}a).*/s'
    """
    distinct = sorted(set(texts))
    # A text in which another one stands says nothing more. Of many texts every pair would be looked at.
    needed = distinct
    if len(distinct) <= _FEW_TEXTS:
        needed = [text for text in distinct if not any(other != text and other in text for other in distinct)]
    return f"{inside} & ~{holding(needed)}" if needed else inside


_FEW_TEXTS = 300


def pattern(source: str, flags: str = "") -> str:
    """A pattern between slashes that matches what ``source`` matches as a whole.

    Anchors at its two ends say nothing there, and are left out. Escapes that Lark would read before the pattern is
    read are written in braces, where they keep their meaning. ``flags`` are letters of Python's flags.

    >>> pattern("^a/b\\\\x2e$")
    '/a\\\\/b\\\\x{2e}/'
    """
    body = source.removeprefix("^")
    if body.endswith("$") and (len(body) - len(body[:-1].rstrip("\\"))) % 2 == 1:
        body = body[:-1]
    written, at = [], 0
    while at < len(body):
        char = body[at]
        if char == "\\" and at + 1 < len(body):
            kind = body[at + 1]
            digits = {"x": 2, "u": 4, "U": 8}.get(kind, 0)
            code = body[at + 2 : at + 2 + digits]
            if digits and len(code) == digits and all(one in "0123456789abcdefABCDEF" for one in code):
                written.append(f"\\x{{{int(code, 16):x}}}")
                at += 2 + digits
                continue
            written.append(body[at : at + 2].replace("\n", "n"))
            at += 2
            continue
        written.append({"/": "\\/", "\n": "\\n", "\r": "\\r"}.get(char, char))
        at += 1
    # Lark's own flags behind a pattern are fewer.
    return "/" + (f"(?{flags})" if flags else "") + "".join(written) + "/"


def written_json(value: Any) -> str:
    """A JSON value as it stands in a grammar, on one line."""
    text = _WRITE_JSON(value)
    return text if text.isprintable() else json.dumps(value)


#: ``json.dumps`` makes an encoder of its own with each call where it is given an option.
_WRITE_JSON = json.JSONEncoder(ensure_ascii=False).encode
