"""``interlock diff OLD NEW`` of two folders: the files of one name are compared, and each has a line, with the first of
the places below it in which its versions differ.
"""

from __future__ import annotations

import argparse
import os
import shlex
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import interlock
from interlock.cli.sources import kind_options
from interlock.cli.sources import source_arguments as sources
from interlock.cli.sources.source_words import KINDS, SUFFIXES
from interlock.cli.terminal import atomic_files, exits
from interlock.cli.terminal.named_files import in_folder
from interlock.cli.terminal.output import Output, plain_text_of, table_rows
from interlock.cli.terminal.style import BAD, GOOD, NAME, NOTE, Line
from interlock.util.plurals import counted

__all__ = ["Answer", "are_given", "run"]


@dataclass
class Answer:
    """What is said of two sources, for machines and for people, and the exit code."""

    machine: dict[str, Any]
    people: list[Line]
    code: int
    reasons: list[Line] = field(default_factory=list)
    """Of the lines for people, those with the places in which the two differ."""


class File(NamedTuple):
    """A file that one or both of the folders have: what became of it, whether that is a yes, a no, not known or an
    error (as exit codes), why, what is said of the two sources alone, and the places in which they differ.
    """

    name: str
    result: str
    code: int
    reason: str = ""
    machine: dict[str, Any] | None = None
    places: tuple[Line, ...] = ()

    def line(self, allow: str | None) -> list[str | Line]:
        """Its line for people; ``allow`` is what ``--allow`` says."""
        colour = {exits.OK: GOOD, exits.UNDECIDED: NOTE}.get(self.code, BAD)
        marks = [self.verdict] if allow is not None and self.verdict else []
        return [Line((self.result, colour)), Line((self.name, NAME)), ": ".join(filter(None, [*marks, self.reason]))]

    @property
    def verdict(self) -> str:
        """What ``--allow`` makes of a difference that it does not take; empty where it does, or nothing is compared."""
        return {exits.NO: "not allowed", exits.UNDECIDED: "open whether allowed"}.get(self.code, "")

    def below(self, tops: tuple[str, str]) -> list[Line]:
        """The first of the places in which the two versions differ, for people."""
        most = MOST_PLACES if len(self.places) > MOST_PLACES + 1 else len(self.places)
        lines = [Line("  ") + line for line in self.places[:most]]
        if most < len(self.places):
            both = " ".join(shlex.quote(os.path.join(top, self.name)) for top in tops)
            lines.append(Line(f"    and more, which interlock diff {both} lists"))
        return lines

    def told(self) -> dict[str, Any]:
        """It for machines."""
        out = {"name": self.name, "result": self.result, "ok": self.code == exits.OK}
        return out | ({"reason": self.reason} if self.reason else {}) | (self.machine or {})


RESULTS = {
    "equal": "same",
    "the first accepts less": "wider",
    "the second accepts less": "narrower",
    "different": "different",
    "not decided": "undecided",
}
"""What is said of a file, by what is said of its two versions as sources."""
MOST_PLACES = 3
"""How many places in which two versions differ stand below a file; one more is shown in the place of saying so."""
WORST = (exits.BUG, exits.INPUT, exits.SOURCE, exits.USAGE, exits.NO, exits.UNDECIDED)
"""Exit codes, the worst first."""


def are_given(first: str, second: str) -> bool:
    """Whether two words are folders. ``InputError`` where only one is."""
    is_folder = [os.path.isdir(word) for word in (first, second)]
    if any(is_folder) and not all(is_folder):
        folder, other = (first, second) if is_folder[0] else (second, first)
        if ":" not in other and not os.path.lexists(other):
            raise exits.InputError(f"{other}: No such file or directory", f"name a folder beside {folder}")
        raise exits.InputError(
            f"{folder} is a folder, and {other} is none", "name two folders, or two sources, as a file in the folder"
        )
    return all(is_folder)


def run(args: argparse.Namespace, output: Output, compare: Callable[[list[sources.Source]], Answer]) -> int:
    """Compare the files of two folders that have the same names; ``compare`` compares two sources."""
    tops = (args.first, args.second)
    names = [{str(path.relative_to(top)) for path in in_folder(top, tuple(SUFFIXES))} for top in tops]
    every = sorted(names[0] | names[1])
    if not every:
        raise exits.InputError(
            f"neither of the folders {args.first} and {args.second} has a source in it",
            f"files whose names end in {', '.join(SUFFIXES)} are sources",
        )
    kinds = {KINDS[SUFFIXES[Path(name).suffix.lower()]] for name in every}
    kind_options.refuse_others(args, kinds | ({"tools"} if "json_schema" in kinds else set()), "what the folders have")
    found = []
    for name in every:
        if name in names[0] & names[1]:
            found.append(_compared(name, args, compare))
        else:
            is_added = name in names[1]
            is_allowed = args.allow == ("wider" if is_added else "narrower")
            found.append(File(name, "added" if is_added else "removed", exits.OK if is_allowed else exits.NO))
    counts = Counter(file.result for file in found)
    code = next((code for code in WORST if any(file.code == code for file in found)), exits.OK)
    rows = table_rows([file.line(args.allow) for file in found])
    lines = [line for file, row in zip(found, rows, strict=True) for line in (*row, *file.below(tops))]
    said = ", ".join(f"{number} {result}" for result, number in counts.most_common())
    machine = {"ok": code == exits.OK, "counts": dict(counts), "files": [file.told() for file in found]}
    last = f"{counted(len(found), 'file')}: {said}"
    if args.allow is not None and (verdicts := Counter(file.verdict for file in found if file.verdict)):
        by = ", ".join(f"{number} {verdict}" for verdict, number in verdicts.most_common())
        last += f"; {by} by --allow {args.allow}"
    output.answer(machine, [*lines, Line(last)])
    return code


def _compared(name: str, args: argparse.Namespace, compare: Callable[[list[sources.Source]], Answer]) -> File:
    """What became of a file that both folders have."""
    tops = (args.first, args.second)
    paths = [os.path.join(top, name) for top in tops]
    read: list[sources.Source] = []
    errors: dict[int, Exception] = {}
    for side, (top, other, path) in enumerate(zip(tops, tops[::-1], paths)):
        shared = [word for word in args.document if not (os.path.isdir(word) and os.path.samefile(word, other))]
        own = argparse.Namespace(**vars(args) | {"document": [*shared, top]})
        try:
            read.append(sources.read(path, own, alone=False))
        except REFUSALS as error:
            errors[side] = error
    if not errors:
        if _are_alike(*read):  # Also what no index can be made of.
            return File(name, "same", exits.OK, machine={"equal": True, "relation": "equal"})
        try:
            answer = compare(read)
        except REFUSALS as error:
            errors = getattr(error, "refused_sides", {})
            if not errors:  # It is about the comparison, and not about one of the two.
                told = exits.describe(error)
                return File(name, "refused", exits.code_of(error), told["message"], {"error": told})
        else:
            result, places = RESULTS[answer.machine["relation"]], tuple(answer.reasons)
            return File(name, result, answer.code, _reason(answer.machine), answer.machine, places)
    elif _says_the_same(paths):
        return File(name, "same", exits.OK, machine={"equal": True, "relation": "equal"})
    return _refused(name, errors)


REFUSALS = (interlock.InterlockError, exits.UsageError, exits.InputError, OSError)
"""What is said of one file of two folders, and ends nothing."""


def _says_the_same(paths: list[str]) -> bool:
    """Whether two files that cannot be read as sources are alike to the last byte."""
    try:
        return atomic_files.read(paths[0]) == atomic_files.read(paths[1])
    except (exits.InputError, OSError):
        return False


def _refused(name: str, errors: dict[int, Exception]) -> File:
    """A file of which one version is refused, or both are: which of them, and why."""
    told = {SIDES[side]: exits.describe(error) for side, error in errors.items()}
    reasons = {side: one["message"] for side, one in told.items()}
    if len(reasons) > 1 and len(set(reasons.values())) == 1:
        reasons = {"both": reasons[SIDES[0]]}
    said = "; ".join(f"in {side if side == 'both' else 'the ' + side}: {reason}" for side, reason in reasons.items())
    code = min(map(exits.code_of, errors.values()), key=WORST.index)
    machine = {"error": next(iter(told.values())), "side": "both" if len(told) > 1 else next(iter(told))}
    return File(name, "refused", code, said, machine)


SIDES = ("first", "second")


def _are_alike(first: sources.Source, second: sources.Source) -> bool:
    return first.kind == second.kind and first.text == second.text and first.options == second.options


def _reason(machine: dict[str, Any]) -> str:
    """A text that tells two versions apart, in one line."""
    texts = [
        f"only the {side} accepts {plain_text_of(text.encode())}"
        for side in ("first", "second")
        if (text := machine[f"only_{side}"]) is not None
    ]
    return "; ".join([*texts, *machine.get("notes", ())]) or machine.get("cause", "")
