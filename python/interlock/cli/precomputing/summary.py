"""What a run of ``precompute`` did with its sources: taken, refused and why, left out and why."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

from interlock.cli.terminal.output import size
from interlock.cli.terminal.style import BAD, QUIET, TRY, Line

MOST = 5
"""How many of each kind are named."""
ALIKE = 50
"""After so many sources that were refused for one reason, and none that was not, the run says so at once."""


def remedy_of(reason: str) -> str:
    """What to do about sources that are refused for this reason; empty where nothing is known."""
    key = re.search(r'pass what \["([^"]+)"\] holds|its key (\S+) holds a schema', reason)
    if key:
        return f"--schema-key {key[1] or key[2]} takes each schema from inside its file"
    if "asserts something" in reason or "keyword of JSON Schema" in reason:
        return "--take-all takes them as schemas that accept everything"
    if "no key" in reason and "--schema-key" in reason:
        return "leave out --schema-key, or name the key that the files have"
    return ""


def reason_of(row: dict[str, Any]) -> str:
    """Why a source was refused or left out, in one line; empty if it was neither."""
    if "left_out" in row:
        return str(row["left_out"])
    error = row.get("error")
    return f"{error['type']}: {str(error['message']).partition(chr(10))[0]}" if isinstance(error, dict) else ""


def one_reason(rows: list[dict[str, Any]]) -> str:
    """The reason for which all of these were refused or left out; empty if there is no such one.

    Reasons that lead to one remedy are the same, since they name the keys of each file.
    """
    reasons = [reason_of(row) for row in rows]
    if len(reasons) < 2 or not all(reasons):
        return ""
    same = len(set(reasons)) == 1 or len(remedies := {remedy_of(reason) for reason in reasons}) == 1 and any(remedies)
    return reasons[0] if same else ""


class Ignored(NamedTuple):
    """A file that was not looked at: its name in its folder, its path, and the reason."""

    name: str
    path: str
    reason: str


@dataclass
class Summary:
    """The rows of a run, and the files that were not looked at. People read paths, which they can open."""

    rows: list[dict[str, Any]]
    ignored: list[Ignored]
    paths: dict[str, str]
    """Where each source is, by its name in the report."""
    why_none: str = ""
    """Why packs have no tables, where that is the vocabulary's fault."""

    @property
    def taken(self) -> list[dict[str, Any]]:
        """Rows of sources."""
        return [row for row in self.rows if "left_out" not in row]

    @property
    def left_out(self) -> list[tuple[str, str]]:
        """What is no source by its content, and why."""
        return [(row["name"], row["left_out"]) for row in self.rows if "left_out" in row]

    @property
    def refused(self) -> list[dict[str, Any]]:
        """Rows of sources that could not be compiled."""
        return [row for row in self.taken if not row["ok"]]

    @property
    def compiled(self) -> list[dict[str, Any]]:
        """Rows of sources that this run has compiled."""
        return [row for row in self.taken if row["ok"] and not row.get("skipped")]

    @property
    def duplicates(self) -> list[dict[str, Any]]:
        """Rows of sources that were not compiled because an earlier row has the same key: one pack serves both."""
        keys = {row["key"] for row in self.compiled}
        out = []
        for row in self.taken:
            if row["ok"] and row.get("skipped") and row["key"] in keys:
                out.append(row)
            elif row["ok"]:
                keys.add(row["key"])
        return out

    @property
    def packs(self) -> int:
        """Different packs that the store holds for these sources."""
        return len({row["key"] for row in self.taken if row["ok"]})

    @property
    def replaced(self) -> list[tuple[str, str]]:
        """Sources whose pack in the store was damaged and is made again, and what was wrong with it."""
        return [(row["name"], row["replaced"]) for row in self.taken if "replaced" in row]

    @property
    def tables(self) -> dict[str, list[str]]:
        """For each kind of tables the names of the sources whose packs have them, the first source of each pack."""
        kinds: dict[str, list[str]] = {"complete": [], "beginning": [], "none": []}
        firsts: dict[str, dict[str, Any]] = {}
        for row in self.taken:
            if row["ok"]:
                firsts.setdefault(row["key"], row)
        for row in firsts.values():
            if row.get("tables") in kinds:  # Of a pack that was stored behind a URL before, it may not be known.
                kinds[row["tables"]].append(row["name"])
        return kinds

    def counts(self) -> dict[str, Any]:
        """The run in numbers, for machines. ``sources`` is ``compiled`` and ``done_before`` and ``duplicates`` and
        ``refused``; ``packs`` is the first two.
        """
        kinds = Counter(row["error"]["type"] for row in self.refused if "error" in row)
        left_out = [*self.left_out, *((file.name, file.reason) for file in self.ignored)]
        ok, compiled, duplicates = len(self.taken) - len(self.refused), len(self.compiled), len(self.duplicates)
        return {
            "sources": len(self.taken),
            "ok": ok,
            "compiled": compiled,
            "done_before": ok - compiled - duplicates,
            "duplicates": duplicates,
            "packs": self.packs,
            "replaced": len(self.replaced),
            "tables": {kind: len(names) for kind, names in self.tables.items()},
            "refused": len(self.refused),
            "errors": dict(sorted(kinds.items())),
            **self.first_error(),
            "skipped": sum(bool(row.get("skipped")) for row in self.taken),
            "left_out": [{"name": name, "reason": reason} for name, reason in left_out],
            "bytes": self.bytes,
        }

    def first_error(self) -> dict[str, str]:
        """The first source that was refused, why, and where one remedy is known for all of them, that remedy."""
        named = [row for row in self.refused if reason_of(row)]
        if not named:
            return {}
        remedy = remedy_of(one_reason(named) or (reason_of(named[0]) if len(named) == 1 else ""))
        remedy = remedy or (str(named[0]["error"].get("remedy", "")) if len(named) == 1 else "")
        first = f"{self._path(named[0])}: {reason_of(named[0])}"
        return {"first_error": first} | ({"remedy": remedy} if remedy else {})

    def _path(self, row: dict[str, Any]) -> str:
        name = str(row["name"])
        return self.paths.get(name, name)

    def _place(self, row: dict[str, Any]) -> str:
        """The path of a source with the line and the column, as editors read them; a line of a file is in its path. Of
        a fault in a file that the source refers to, that file is named.
        """
        path, error = self._path(row), row.get("error") or {}
        if "line" not in error:
            return path
        if error.get("file", path) != path:
            return f"{path}: in {error['file']}:{error['line']}:{error['column']}"
        is_line = path.endswith(f":{error['line']}")
        return f"{path}:{error['column']}" if is_line else f"{path}:{error['line']}:{error['column']}"

    @property
    def bytes(self) -> int:
        """What the store holds for these sources."""
        return sum({row["key"]: row.get("bytes") or 0 for row in self.taken}.values())

    def lines(self) -> list[tuple[str, str | Line]]:
        """The run in numbers, for people. The parts of a sum stand behind it."""
        counts = self.counts()
        parts = [
            (counts["compiled"], "compiled"),
            (counts["done_before"], "in the store before"),
            (counts["duplicates"], "the same as another"),
            (counts["refused"], "refused"),
        ]
        sources = str(counts["sources"])
        shown = [f"{number} {word}" for number, word in parts if number] or ["0 in this shard"]
        kinds = dict(counts["errors"])
        if earlier := counts["refused"] - sum(kinds.values()):
            kinds["refused in an earlier run"] = earlier
        refused = str(counts["refused"])
        refused += ": " + ", ".join(f"{number} {kind}" for kind, number in kinds.items()) if kinds else ""
        left_out = len(counts["left_out"])
        return [
            (
                "sources",
                f"{sources} = {' + '.join(shown)}" if len(shown) > 1 else f"{sources}, {shown[0].partition(' ')[2]}",
            ),
            ("refused", Line((refused, BAD if self.refused else ""))),
            ("left out", f"{left_out} besides, which are no sources" if left_out else "0"),
            ("packs", f"{self.packs}, one for each different source, {size(self.bytes)}" if self.packs else "0"),
            *([("tables", ", ".join(tables))] if (tables := self._tables()) else []),
        ]

    def _tables(self) -> list[str]:
        names = self.tables
        words = {"complete": "complete", "beginning": "of the first states", "none": "none, compiled again on load"}
        return [f"{len(names[kind])} {word}" for kind, word in words.items() if names[kind]]

    def details(self) -> list[Line]:
        """Which sources were refused or left out, and why; and what looks like a mistake in those that were taken."""
        lines = []
        if len(self.refused) > MOST + 1 and (reason := one_reason(self.refused)):
            number = len(self.refused)
            first = self.refused[0]
            words = f"all {number}, for the same reason; the first, {self._place(first)}: {reason}"
            lines.append(Line(("refused ", BAD), words))
            if remedy := remedy_of(reason) or (first.get("error") or {}).get("remedy", ""):
                lines.append(Line(("  try: ", TRY), remedy))
        else:
            for row in self.refused[: _shown(len(self.refused))]:
                # Errors of grammars show their line below; the report has it.
                why = reason_of(row) or "refused before: see the report"
                lines.append(Line(("refused ", BAD), f"{self._place(row)}: {why}"))
                error = row.get("error") or {}
                lines += [Line(f"  {note}") for note in error.get("notes", [])]
                lines += [Line(("  try: ", TRY), error["remedy"])] if "remedy" in error else []
            lines += _more(len(self.refused), "refused; the report has all of them")
        damaged = self.replaced
        lines += [
            Line(("replaced ", TRY), f"{self.paths.get(name, name)}: {why}")
            for name, why in damaged[: _shown(len(damaged))]
        ]
        lines += _more(len(damaged), "replaced; the report has all of them")
        kinds = self.tables
        several = sum(bool(names) for names in kinds.values()) > 1
        for kind, label in (("beginning", "tables of the first states"), ("none", "no tables")):
            names = kinds[kind]
            some = [self.paths.get(name, name) for name in names[: _shown(len(names))]] if several else []
            left = len(names) - len(some)
            shown = ", ".join(some) + (f" and {left} more, in the report" if left else "")
            if why := self.why_none if kind == "none" and names else "":
                shown = f"{shown}: {why}" if several else why
            if several and names or why:
                lines.append(Line((label + ": ", TRY if kind == "none" else QUIET), shown))
        ignored = [(file.path, file.reason) for file in self.ignored]
        everything = [*((self.paths.get(name, name), reason) for name, reason in self.left_out), *ignored]
        unlike = [row for row in self.rows if "left_out" in row]
        if (reason := one_reason(unlike)) and (remedy := remedy_of(reason)) and len(unlike) > MOST + 1:
            name = self._path(unlike[0])
            lines.append(Line(("left out ", TRY), f"{len(unlike)}, for the same reason; the first, {name}: {reason}"))
            lines.append(Line(("  try: ", TRY), remedy))
            everything = ignored
        lines += [
            Line(("left out ", TRY), f"{name}: {reason}") for name, reason in everything[: _shown(len(everything))]
        ]
        lines += _more(len(everything), "left out; --json has all of them")
        noted = [(self._path(row), note) for row in self.taken for note in row.get("notes", [])]
        if len(noted) > MOST + 1:
            sources = len({name for name, _ in noted})
            return [*lines, Line(("notes ", TRY), f"{len(noted)} on {sources} sources, all of them in the report")]
        return lines + [Line(("note ", TRY), f"{name}: {note}") for name, note in noted]


def _shown(count: int) -> int:
    """How many of so many are named: a line that says that one is left out could as well name it."""
    return count if count <= MOST + 1 else MOST


def _more(count: int, words: str) -> list[Line]:
    return [Line((f"  and {count - MOST} more {words}", QUIET))] if count > _shown(count) else []
