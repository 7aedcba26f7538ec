"""Delimiters of a tool format as regular expressions that also match what models write without masks: white space
between words and signs may differ from the format's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from interlock.tools.notations import template
from interlock.tools.notations.escapes import escape
from interlock.tools.notations.tool_format import ToolFormat

__all__ = ["loose_literal", "opening_of"]

_LONGEST_NAME = 512
_NAME = r"[\w.:/-]"
_IDENTIFIER = r"[\w.:/-]{0,128}?"


def loose_literal(text: str) -> str:
    r"""A pattern of ``text`` with any white space, or none, around its words and signs.

    >>> re.fullmatch(loose_literal("}\n</tool_call>"), "} </tool_call>") is not None
    True
    """
    words = re.findall(r"\w+|[^\w\s]", text)
    if not words:
        return r"\s*"
    inner = r"\s*".join(re.escape(word) for word in words)
    return rf"{_blank(text[0])}{inner}{_blank(text[-1])}"


def _blank(char: str) -> str:
    return r"\s*" if char.isspace() else ""


def opening_of(form: ToolFormat, names: Iterable[str] | None, *parts: str) -> re.Pattern[str]:
    """What begins a section and its first call, or a call alone: ``parts`` one behind the other, without white space at
    the beginning. Groups are ``name`` and ``id``. Only calls of ``names`` match, or those of any name (``None``).
    """
    named = None if names is None else _any_of(form, names)
    written: list[str] = []
    pieces = [piece for part in parts for piece in (*template.pieces(part), ("text", " ")) if part]
    around = r"\s*" if form.name_escape == "none" else ""
    for at, (kind, text) in enumerate(pieces):
        if kind == "text":
            written.append(loose_literal(text))
        elif text == "id":
            written.append(f"(?P<id>{_IDENTIFIER})")
        elif named is not None:
            written.append(f"{around}(?P<name>{named}){around}")
        else:
            after = pieces[at + 1][1].strip() if at + 1 < len(pieces) else ""
            written.append(f"{around}(?P<name>{_name(form, after[:1])}){around}")
    pattern = re.sub(r"(?:\\s\*){2,}", lambda _: r"\s*", "".join(written))
    return re.compile(pattern.removeprefix(r"\s*"))


def _any_of(form: ToolFormat, names: Iterable[str]) -> str:
    found = sorted({escape(name, form.name_escape) for name in names}, key=lambda name: (-len(name), name))
    # A name that begins another name is no call of it.
    return rf"(?:{'|'.join(map(re.escape, found))})(?!\w)" if found else r"(?!)"


def _name(form: ToolFormat, after: str) -> str:
    if form.name_escape == "json":
        return rf'(?:[^"\\]|\\.){{1,{_LONGEST_NAME}}}+'
    if form.name_escape != "none":
        return rf'[^"<>]{{1,{_LONGEST_NAME}}}+'
    # A name ends before the delimiter, which may begin with a sign that names may have.
    is_of_name = bool(after) and re.match(_NAME, after) is not None
    return rf"{_NAME}{{1,{_LONGEST_NAME}}}{'?' if is_of_name else '+'}"
