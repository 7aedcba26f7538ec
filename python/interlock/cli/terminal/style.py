"""Lines in colours, where the reader is a terminal that wants them.

A line is text with styled parts; colours are added when it is written, after characters that a terminal would obey were
escaped. ``NO_COLOR`` turns colours off and ``FORCE_COLOR`` on (https://no-color.org); without either, they are on where
the stream is a terminal and ``TERM`` is not ``dumb``.
"""

from __future__ import annotations

import os
import re
from typing import TextIO

CODES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}
BAD = "red bold"
GOOD = "green bold"
NOTE = "cyan"
NAME = "bold"
QUIET = "dim"
TRY = "yellow"
FORCED = "yellow bold"


class Line:
    """Text with styled parts: ``Line(("refused:", BAD), " line 1")``. ``str()`` of it is the bare text."""

    __slots__ = ("parts",)

    def __init__(self, *parts: str | tuple[str, str]) -> None:
        self.parts = [part if isinstance(part, tuple) else (part, "") for part in parts]

    def __str__(self) -> str:
        return "".join(text for text, _ in self.parts)

    def __len__(self) -> int:
        return sum(len(text) for text, _ in self.parts)

    def __add__(self, other: str | Line) -> Line:
        return Line(*self.parts, *(other.parts if isinstance(other, Line) else [other]))

    def ljust(self, width: int) -> Line:
        """The line with blanks behind it, up to a width."""
        return self + " " * (width - len(self))


def wrapped(line: Line, width: int) -> list[Line]:
    """The line cut between words into lines of at most ``width`` characters; a longer word stays whole, and so does
    what people copy: texts in double quotes and JSON.
    """
    text, out, begin = str(line), [], 0
    cuts = _cuts(text) if len(text) > width else []
    while len(text) - begin > width:
        fitting_cuts = [cut for cut in cuts if begin < cut <= begin + width]
        cut = fitting_cuts[-1] if fitting_cuts else next((cut for cut in cuts if cut > begin), -1)
        if cut < 0:
            break
        out.append(_slice(line, begin, cut))
        begin = cut + 1
    return [*out, _slice(line, begin, len(text))]


def _cuts(text: str) -> list[int]:
    """The blanks at which a text may be cut: those outside of quotes and brackets, where these come in pairs.

    >>> _cuts('only {"a b": [1, 2]} is "c d" now'), _cuts('a "b c')
    ([4, 20, 23, 29], [1, 4])
    """
    blanks: list[int] = []
    outside: list[int] = []
    opened: list[str] = []
    is_quoted = False
    pieces = re.finditer(r'\\.|[ "{}\[\]]', text, re.DOTALL)
    for piece in pieces:
        mark = piece[0]
        if mark == " ":
            blanks.append(piece.start())
            outside += [] if is_quoted or opened else blanks[-1:]
        elif mark == '"':
            is_quoted = not is_quoted
        elif mark in ("{", "[") and not is_quoted:
            opened.append(mark)
        elif mark in ("}", "]") and not is_quoted:
            if not opened or opened.pop() + mark not in ("{}", "[]"):
                return blanks + [at.start() for at in pieces if at[0] == " "]
    return blanks if is_quoted or opened else outside


def fitting(line: Line, stream: TextIO) -> list[Line]:
    """The line, cut where the terminal ends, if the stream is one."""
    width = limit(stream)
    return [line] if width is None else wrapped(line, width)


def _slice(line: Line, begin: int, end: int) -> Line:
    """The characters from ``begin`` to ``end``, in their styles."""
    parts, at = [], 0
    for text, style in line.parts:
        piece = text[max(0, begin - at) : max(0, end - at)]
        if piece:
            parts.append((piece, style))
        at += len(text)
    return Line(*parts)


def painted(line: str | Line, colours: bool) -> str:
    """What to write: every character harmless, and the styles as colours if the stream wants them."""
    if isinstance(line, str):
        return printable(line)
    out = []
    for text, style in line.parts:
        codes = ";".join(CODES[word] for word in style.split())
        out.append(f"\x1b[{codes}m{printable(text)}\x1b[0m" if codes and colours and text else printable(text))
    return "".join(out)


def wanted(stream: TextIO) -> bool:
    """Whether colours belong on a stream."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    try:
        return stream.isatty() and os.environ.get("TERM") != "dumb"
    except ValueError:  # It is closed.
        return False


WIDEST = 120
"""Columns that text is filled to where the terminal has more, or where there is none."""


def columns() -> int:
    """The width to fill text to: that of the terminal, or of COLUMNS."""
    import shutil

    return min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST)


def limit(stream: TextIO) -> int | None:
    """The width that lines should not exceed; ``None`` where nobody asks for one: the stream is no terminal."""
    try:
        asked = stream.isatty() or os.environ.get("COLUMNS", "").isdecimal()
    except ValueError:  # It is closed.
        return None
    return columns() if asked else None


def printable(text: str) -> str:
    """``text`` without characters that a terminal would obey or cannot show."""
    return "".join(c if c.isprintable() or c == "\t" else c.encode("unicode_escape").decode() for c in text)
