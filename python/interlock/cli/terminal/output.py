"""What a command prints: lines for people, or one JSON object for machines.

The standard output holds results only, so that it can be piped. With ``--json`` it holds exactly one JSON object,
also after a failure (``{"error": {...}}``). Progress and notes go to the standard error; a bar is drawn only if
that is a terminal. With ``--quiet`` there are neither, nor what the exit code or a written file says already.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from interlock.cli.terminal import streams, style
from interlock.cli.terminal.style import NAME, Line, printable
from interlock.util.plurals import counted

SHOWN = 60
"""Bytes of a text that people are shown; ``--json`` has all of them."""
CONTROL = {0x09: r"\t", 0x0A: r"\n", 0x0D: r"\r", 0x22: '"', 0x5C: r"\\"}


class Output:
    """Where a command says its results. ``json`` chooses the form."""

    def __init__(self, json: bool, quiet: bool = False) -> None:
        self.json = json
        self.quiet = quiet

    def result(self, machine: dict[str, Any], people: Iterable[str | Line]) -> None:
        """The result of the command, in the form that was asked for."""
        if self.json:
            streams.write(json.dumps(machine, ensure_ascii=True, sort_keys=False, allow_nan=False) + "\n")
        else:
            colours = style.wanted(sys.stdout)
            streams.write("".join(style.painted(line, colours) + "\n" for line in people))

    def answer(self, machine: dict[str, Any], people: Iterable[str | Line]) -> None:
        """A result that the exit code or a written file says already: with ``--quiet``, people are told nothing."""
        if self.json or not self.quiet:
            self.result(machine, people)

    def line(self, line: str | Line) -> None:
        """A line of a result that is written while the command works. With ``--json`` there are none."""
        streams.write(style.painted(line, style.wanted(sys.stdout)) + "\n")

    def note(self, line: str | Line) -> None:
        """A line beside the result, for people."""
        if not self.quiet:
            self.fault(line)

    def fault(self, line: str | Line) -> None:
        """A line on the standard error that ``--quiet`` does not leave out: what a failed exit code is about."""
        streams.say(style.painted(line, style.wanted(sys.stderr)) + "\n")


class Progress:
    """A bar on the standard error, redrawn at most ten times a second; nothing where that is not a terminal.

    ``with Progress("compiling", 500, output) as bar: bar.show(done, "12 refused")``
    """

    WIDTH = 30

    def __init__(self, title: str, total: int, output: Output, hidden: bool = False, even: bool = True) -> None:
        self.title = title
        self.even = even
        """Whether all steps take about as long, so that the time that is left can be told."""
        self.total = total
        self.drawn = 0
        self.next = 0.0
        self.began = time.monotonic()
        self.first: int | None = None
        self.shown = sys.stderr.isatty() and not output.quiet and not hidden

    def __enter__(self) -> Progress:
        self.show(0)  # The first step may take long.
        return self

    def __exit__(self, *_: object) -> None:
        if self.drawn:
            streams.say("\r" + " " * self.drawn + "\r")

    def show(self, done: int, note: str = "") -> None:
        """Say that ``done`` of the total are finished."""
        now = time.monotonic()
        if self.first is None and done:
            self.first = done
        if not self.shown or (now < self.next and done < self.total):
            return
        self.next = now + 0.1
        share = done / self.total if self.total else 1.0
        full = int(share * self.WIDTH)
        line = f"{self.title} [{'#' * full}{'.' * (self.WIDTH - full)}] {done}/{self.total}"
        fresh = done - (self.first or 0)
        if self.even and 0 < fresh and done < self.total:
            line += f", {clock((now - self.began) / fresh * (self.total - done))} left"
        line += f", {note}" if note else ""
        line = printable(line)[: style.columns() - 1]
        streams.say("\r" + line.ljust(self.drawn))
        self.drawn = len(line)


def clock(seconds: float) -> str:
    """A duration in words: ``5 s``, ``3 min``, ``1 h 10 min``."""
    whole = round(seconds)
    if whole < 100:
        return f"{whole} s"
    minutes = round(whole / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def size(count: int) -> str:
    """A number of bytes in words."""
    value = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return counted(count, "byte") if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"


def table(rows: Sequence[Sequence[str | Line]], head: Sequence[str] | None = None) -> list[Line]:
    """Lines with columns of equal width; the last column is not padded, and wraps where the terminal ends."""
    return [line for lines in table_rows(rows, head) for line in lines]


def table_rows(rows: Sequence[Sequence[str | Line]], head: Sequence[str] | None = None) -> list[list[Line]]:
    """The lines of each row of a `table`, those of the head first."""
    everything = [*([[Line((word, NAME)) for word in head]] if head else []), *([_line(c) for c in r] for r in rows)]
    if not everything:
        return []
    width = style.limit(sys.stdout)
    widths = [max(len(row[i]) for row in everything) for i in range(len(everything[0]))]
    out: list[list[Line]] = []
    for row in everything:
        line = Line()
        last = max((i for i, cell in enumerate(row) if len(cell)), default=0)
        for i, cell in enumerate(row[: last + 1]):
            line = line + (cell.ljust(widths[i]) + "  " if i < last else cell)
        if width is None or len(line) <= width or last == 0:
            out.append([line])
            continue
        indent = sum(widths[:last]) + 2 * last
        if width - indent < 20:  # Too narrow for columns: the last one has lines of its own.
            before = Line()
            cells = [cell for cell in row[:last] if len(cell)]
            for place, cell in enumerate(cells):
                before = before + (cell + ("  " if place + 1 < len(cells) else ""))
            below = [Line("    ") + part for part in style.wrapped(row[last], width - 4)]
            out.append([*style.wrapped(before, width), *below])
            continue
        first, *more = style.wrapped(row[last], width - indent)
        before = Line()
        for cell, wide in zip(row[:last], widths):
            before = before + (cell.ljust(wide) + "  ")
        out.append([before + first, *(Line(" " * indent) + part for part in more)])
    return out


def _line(cell: str | Line) -> Line:
    return cell if isinstance(cell, Line) else Line(cell)


def facts(pairs: Iterable[tuple[str, str | Line]]) -> list[Line]:
    """``name: value`` lines, the values aligned."""
    rows = [(Line((name + ":", NAME)), value) for name, value in pairs]
    return table(rows)


def decimal(value: float, digits: int = 3) -> str:
    """A number with at most so many digits that count, without an exponent: ``0.76``, ``12.3``, ``1240``."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def byte_name(byte: int) -> str:
    """A byte as it is written in a label: ``a``, ``\\n``, ``\\xff``, ``space``."""
    if byte == 0x20:
        return "space"
    if byte in CONTROL:
        return CONTROL[byte]
    return chr(byte) if 0x21 <= byte < 0x7F else f"\\x{byte:02x}"


MOST_OF_ASCII = 60
"""Printable characters of ASCII from which on a set of bytes is shorter as ranges of whatever stands side by side."""


def byte_ranges(allowed: Iterable[int]) -> list[tuple[int, int]]:
    """Ascending ``(first, last)`` ranges of a set of bytes."""
    ranges: list[tuple[int, int]] = []
    for byte in sorted(set(allowed)):
        if ranges and ranges[-1][1] == byte - 1:
            ranges[-1] = (ranges[-1][0], byte)
        else:
            ranges.append((byte, byte))
    return ranges


def byte_set(allowed: Iterable[int]) -> str:
    """A set of bytes, ``- 0-9 a-f``. Three or more neighbours are one range where they are all digits, small letters or
    capital letters; marks, where most of ASCII is in the set; and bytes that no line shows.

    >>> byte_set(b")*+,-/0123")
    ') * + , - / 0-3'
    """
    known = set(allowed)
    has_most = sum(0x20 <= byte < 0x7F for byte in known) >= MOST_OF_ASCII
    parts = []
    for low, high in byte_ranges(known):
        for kind, group in groupby(range(low, high + 1), lambda byte: "any" if has_most else _kind_of(byte)):
            found = list(group)
            if len(found) > 2 and kind != "mark":
                parts.append(f"{byte_name(found[0])}-{byte_name(found[-1])}")
            else:
                parts.extend(map(byte_name, found))
    return " ".join(parts)


def _kind_of(byte: int) -> str:
    """What a byte is a range with."""
    character = chr(byte)
    if not 0x20 <= byte < 0x7F:
        return "unseen"
    return next((kind for kind in ("isdigit", "islower", "isupper") if getattr(character, kind)()), "mark")


def text_of(data: bytes) -> str:
    """Bytes as a JSON string, for people: what is not UTF-8 is written as ``\\xff``, where a backslash of the text is
    two, and characters that a terminal would obey or cannot show have JSON's escapes.
    """
    text = json.dumps(data.decode("utf-8", "surrogateescape"), ensure_ascii=False)
    return "".join(_shown(c) for c in text)


def cut_text_of(data: bytes, goes_on: bool = False) -> str:
    """`text_of`, of a long text the beginning up to the end of a character. With ``goes_on``, the text may be longer
    than what is known of it.

    >>> print(cut_text_of(b"a" * 62))
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" and 2 bytes more
    """
    if len(data) <= SHOWN:
        return text_of(data)
    end = next((at for at in range(SHOWN, SHOWN - 4, -1) if data[at] & 0xC0 != 0x80), SHOWN)
    least = "at least " if goes_on else ""
    return f"{text_of(data[:end])} and {least}{counted(len(data) - end, 'byte')} more"


MOST_FORCED = 1 << 16
"""Bytes that ``Guide.forced_bytes`` has at most: what must follow these, it says behind them."""


def plain_text_of(data: bytes) -> str:
    """Bytes for people: a text with quotes or backslashes as it is, where one line shows it and nobody takes its ends
    for something else, as of a document; others as `text_of` has them.

    >>> print(plain_text_of(b'{"n":6}'), plain_text_of(b'"n"'), plain_text_of(b'n'))
    {"n":6} "\\"n\\"" "n"
    """
    quoted, text = text_of(data), data.decode("utf-8", "surrogateescape")
    is_clear = text.isprintable() and text.strip() == text and text[:1] != '"'
    return text if is_clear and quoted != f'"{text}"' else quoted


def _shown(character: str) -> str:
    """A character of a JSON string; a byte that no character has stands there as a lone surrogate."""
    if "\udc80" <= character <= "\udcff":
        return byte_name(ord(character) & 0xFF)
    return character if character.isprintable() else json.dumps(character)[1:-1]
