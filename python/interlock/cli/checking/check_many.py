"""Checking many documents in one run: a line for each, then the numbers.

The lines of documents that are refused alike are held back until one is not: where all are, one line says it. What
comes through a pipe is answered line by line. With ``--lines --json`` the answers are JSON Lines: an object for each
document, written as soon as it is checked.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import interlock
from interlock.cli.checking import text_arguments
from interlock.cli.checking.final_newline import walk_either
from interlock.cli.checking.junit_report import JunitReport
from interlock.cli.checking.reason_counts import OrderCounts, ReasonCounts
from interlock.cli.checking.verdict import Verdict, Walker, options_of_command, refused_at
from interlock.cli.checking.walk import Speller
from interlock.cli.sources import source_arguments as sources
from interlock.cli.sources import source_notes
from interlock.cli.sources.pattern_notes import say_pattern_notes
from interlock.cli.terminal import atomic_files, exits
from interlock.cli.terminal.exits import UsageError
from interlock.cli.terminal.output import Output, Progress
from interlock.cli.terminal.style import BAD, GOOD, NAME, Line
from interlock.util.plurals import counted

LINES = (".jsonl", ".ndjson")
"""How files with a document on each line are called."""
SHOWN = 40
"""Characters of a text of ``--text`` that name it."""


_FIRST = "begins at line 1, column "
"""How the place of a JSON text behind something else begins, where it is on the one line of a document."""


class Document(NamedTuple):
    """One document of many."""

    name: str
    data: bytes
    line: int = 0
    """Its line in the file, where each has a document; 0 where the file is the document."""
    newline: bytes = b""
    """The newline at the end of the file, which is not in ``data``."""
    file: str = ""
    """The file that it is from; empty for a text of ``--text``."""


def asked(args: argparse.Namespace) -> bool:
    """Whether the arguments may give more than one document."""
    return (
        args.many
        or args.summary
        or len(args.given) > 1
        or len(args.text or ()) > 1
        or any(_has_lines(path, args) for path in args.given)
    )


def _has_lines(path: str, args: argparse.Namespace) -> bool:
    return bool(args.lines) or os.path.splitext(path)[1].lower() in LINES


def is_lines(data: bytes) -> bool:
    """Whether a text is JSON Lines: several values of JSON, each on a line of its own."""
    lines = [line for line in data.splitlines() if line.strip()]
    try:
        return len(lines) > 1 and all(isinstance(json.loads(line), dict | list) for line in lines[:2])
    except (ValueError, RecursionError):
        return False


def _is_stream(path: str) -> bool:
    """Whether the documents may still be being written: the standard input, or a pipe."""
    return path == "-" or not os.path.isfile(path)


def run(args: argparse.Namespace, output: Output, source: sources.Source, vocabulary: interlock.Vocabulary) -> int:
    """Walk all of them, and report."""
    for option in ("trace", "bytes"):
        if getattr(args, option):
            without = ", without --junit" if args.junit is not None else ""
            raise UsageError(f"--{option} shows one document: check that one alone{without}")
    junit = JunitReport(args.junit, args.source) if args.junit is not None else None
    for path in args.given:  # What cannot be read is said before anything is.
        text_arguments.require_file(path)
        if os.path.isdir(path) or os.path.isfile(path) or not os.path.exists(path) and path != "-":
            with open(path, "rb"):  # A pipe can be opened once.
                pass
    index = source.compile(vocabulary)
    beside: dict[str, Any] = source_notes.say_notes(source, index, output) | {"left_out": args.left_out}
    say_pattern_notes(source, output)
    walker, speller = Walker(source, index, args.valid), Speller(vocabulary)
    report = _Report(
        output, any(_is_stream(path) for path in args.given), args.only_refused, args.summary, args.all_reasons
    )
    machine: list[dict[str, Any]] = []
    total = 0 if any(_has_lines(path, args) for path in args.given) else len(args.given) + len(args.text or ())
    is_hidden = not total or sys.stdout.isatty() and not args.summary
    with Progress("checking", total, output, hidden=is_hidden) as bar:
        for document in _documents(args):
            verdict = _verdict(document, walker, speller)
            report.add(document, verdict)
            if junit is not None:
                junit.add(document.name, verdict)
            told = _in_file(document, verdict.machine) if document.line else {"name": document.name} | verdict.machine
            if args.summary or args.only_refused and verdict.accepted:
                pass
            elif output.json and args.lines:
                output.result(told, [])
            elif output.json:
                machine.append(told)
            bar.show(report.accepted + report.refused)
    if not report.accepted + report.refused:
        names = ", ".join("the standard input" if path == "-" else path for path in args.given)
        raise exits.InputError(f"there is no document in {names}: every line is blank", "a document on each line")
    if junit is not None:
        junit.write()
    if report.reasons is not None:
        output.answer(report.reasons.machine() | {name: rows for name, rows in beside.items() if rows}, report.end())
    elif output.json and args.lines:
        pass
    else:
        whole: dict[str, Any] = {"accepted": not report.refused, "counts": report.counts(), "documents": machine}
        whole |= {"hint": hint} if (hint := report.order.hint()) else {}
        output.answer(whole | {name: found for name, found in beside.items() if found}, report.end())
    return exits.NO if report.refused else exits.OK


def _documents(args: argparse.Namespace) -> Iterator[Document]:
    for text in args.text or ():
        line = text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."
        yield Document(line, text_arguments.of_text(text))
    for path in args.given:
        if not _has_lines(path, args):
            data, newline = text_arguments.of_file_and_newline(path)
            yield Document(path, data, newline=newline, file=path)
            continue
        for number, raw in enumerate(atomic_files.lines(path), 1):
            if raw.strip():
                yield Document(f"{path}:{number}", raw.removesuffix(b"\n").removesuffix(b"\r"), number, file=path)


def _verdict(document: Document, walker: Walker, speller: Speller) -> Verdict:
    try:
        verdict = walk_either(walker, speller, document.data, document.newline)
    except interlock.VocabularyError as error:
        return Verdict(False, {"accepted": False, "reason": str(error)}, [], str(error), str(error))
    if document.line and verdict.line:
        verdict.line, verdict.said = document.line, verdict.said.replace(_FIRST, "begins at column ")
    return verdict


def _in_file(document: Document, machine: dict[str, Any]) -> dict[str, Any]:
    """What machines are told of a line of a file: its places are those in the file."""
    begins = f"begins at line {document.line}, column "
    problems = [
        problem | {"message": problem["message"].replace(_FIRST, begins), "line": document.line}
        for problem in machine.get("problems", [])
    ]
    moved = {"name": document.name, "accepted": machine["accepted"], "line": document.line}
    return moved | {name: value for name, value in machine.items() if name not in moved} | {"problems": problems}


def _line(document: Document, verdict: Verdict) -> Line:
    """A document's line: of a refused one with the place of its first reason, as editors read it."""
    if verdict.accepted:
        more = f": {verdict.note}" if verdict.note else ""
        return Line((document.name, NAME), ": ", ("accepted", GOOD), more)
    if document.file and verdict.line:
        place = f"{document.file}:{verdict.line}:{verdict.column}"
        return Line((place, NAME), ": ") + refused_at(verdict.pointer) + f": {verdict.said}"
    return Line((document.name, NAME), ": ", ("refused", BAD), f": {verdict.brief}")


def _reasons(document: Document, verdict: Verdict) -> list[Line]:
    """A line for each reason of a document."""
    machine = _in_file(document, verdict.machine) if document.line else verdict.machine
    problems = machine.get("problems", [])
    if len(problems) < 2:
        return [_line(document, verdict)]
    out = []
    for told in problems:
        said, pointer = options_of_command(told["message"]), told["pointer"]
        one = replace(verdict, said=said, line=told["line"], column=told["column"], pointer=pointer)
        out.append(_line(document, one))
    return out


def _first(document: Document, verdict: Verdict) -> str:
    """The first of several documents that are refused alike, with its place and reason."""
    if document.file and verdict.line:
        place = f"{document.file}:{verdict.line}:{verdict.column}"
        return f"{place}{f', at {verdict.pointer}' if verdict.pointer else ''}: {verdict.said}"
    return f"{document.name}: {verdict.brief}"


class _Report:
    """The lines for people, written as soon as it is known that they will not be one."""

    def __init__(self, output: Output, at_once: bool, only_refused: bool, summary: bool, every: bool) -> None:
        self.output = output
        self.every = every
        """Whether each reason has a line."""
        self.reasons = ReasonCounts() if summary else None
        """What is counted instead of lines."""
        self.only_refused = only_refused
        self.accepted = 0
        self.refused = 0
        self.order = OrderCounts()
        self.held: list[Line] | None = None if at_once or every else []
        """Lines of documents that are refused for the same reason; ``None`` once one was not, and where somebody waits
        for each line.
        """
        self.reason = ""
        self.first = ""

    def add(self, document: Document, verdict: Verdict) -> None:
        """Count one, and write its line or hold it back."""
        line = _line(document, verdict)
        if not self.accepted + self.refused:
            self.reason, self.first = verdict.reason, _first(document, verdict)
        self.accepted += verdict.accepted
        self.refused += not verdict.accepted
        self.order.add(verdict)
        if self.reasons is not None:
            self.reasons.add(document.name, verdict)
            return
        if self.every and not verdict.accepted:
            self._write(_reasons(document, verdict))
            return
        if self.held is not None and not verdict.accepted and verdict.reason == self.reason:
            self.held.append(line)
            return
        self._write([*(self.held or ()), *([] if self.only_refused and verdict.accepted else [line])])
        self.held = None

    def counts(self) -> dict[str, int]:
        """The numbers, for machines."""
        return {"documents": self.accepted + self.refused, "accepted": self.accepted, "refused": self.refused}

    def end(self) -> list[Line]:
        """The last lines: the numbers, or the one reason of all."""
        if self.reasons is not None:
            return self.reasons.people()
        if self.held and len(self.held) > 1:
            said = f": all {self.refused}, for the same reason; the first, {self.first}"
            return [Line(("refused", BAD), said), *self.order.lines()]
        self._write(self.held or [])
        numbers = f"{counted(self.accepted + self.refused, 'document')}: {self.accepted} accepted"
        return [Line(numbers + ", ", (f"{self.refused} refused", BAD if self.refused else "")), *self.order.lines()]

    def _write(self, lines: list[Line]) -> None:
        if not self.output.json and not self.output.quiet:
            for line in lines:
                self.output.line(line)
