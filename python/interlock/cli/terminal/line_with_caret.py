"""The line of a text that a message is about, with a caret under the place."""

from __future__ import annotations

import unicodedata

from interlock.cli.terminal.style import BAD, QUIET, Line, columns

WIDTH = 88
"""Columns of a line that are shown around the place."""


def excerpt(text: str, start: int, end: int | None = None, gutter: bool = True) -> list[Line]:
    """Two lines: the line with the character ``start``, and marks under it up to ``end`` or the end of the line."""
    from interlock.explain import line_column

    number, column = line_column(text, start)
    begin = start - column + 1
    stop = text.find("\n", start)
    stop = len(text) if stop < 0 else stop
    last = min(max(end if end is not None else start + 1, start + 1), max(stop, start + 1))
    line = text[begin:stop]
    at, to = start - begin, last - begin
    left = 0
    # Beside the line stand a number, and dots where it goes on.
    width = min(WIDTH, max(20, columns() - 18))
    if len(line) > width:
        left = max(0, min(at - width // 2, len(line) - width))
    right = left + width
    shown = line[left:right]
    head, tail = ("..." if left else ""), ("..." if right < len(line) else "")
    label = f"{number:>5} | " if gutter and "\n" in text.rstrip("\n") else "  "
    before = _flat(shown[: at - left])
    marked = _flat(shown[at - left : to - left])
    after = _flat(shown[to - left :])
    under = " " * (len(label) + len(head) + _columns(before))
    marks = "^" + "~" * (min(_columns(marked), width) - 1)
    return [Line((label, QUIET), (head, QUIET), before, (marked, BAD), after, (tail, QUIET)), Line(under, (marks, BAD))]


def _flat(text: str) -> str:
    """One line: what takes more than its columns is escaped, as it is when it is written."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _columns(text: str) -> int:
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
