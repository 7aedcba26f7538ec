"""``check --summary``: how many documents came out how, and the reasons that refuse the most of them.

Reasons are told apart by the keyword of the schema and by the place in the document, whatever the value there: 0 and -3
are below the same minimum. Elements of an array have one place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from interlock.cli.checking.verdict import Verdict, options_of_command
from interlock.cli.terminal.output import facts
from interlock.cli.terminal.style import BAD, GOOD, QUIET, TRY, Line
from interlock.util.plurals import counted

__all__ = ["OrderCounts", "ReasonCounts"]

MOST = 10
"""Reasons that people see."""
_PLACE = re.compile(r"line [0-9]+, column [0-9]+")
_TOOL = re.compile(r"tool \S+: ")


@dataclass
class _Reason:
    """A reason for which documents are refused, the first of them, and their number."""

    message: str
    pointer: str
    schema: str
    first: str
    documents: int = 0

    def machine(self) -> dict[str, Any]:
        """The reason for machines, as an object of JSON."""
        return {
            "documents": self.documents,
            "message": self.message,
            "pointer": self.pointer,
            "schema": self.schema,
            "first": self.first,
        }


class OrderCounts:
    """Counts documents that are refused for nothing but the order of their keys."""

    def __init__(self) -> None:
        self.refused = 0
        self.reordered = 0

    def add(self, verdict: Verdict) -> None:
        """Count the verdict of one document."""
        self.refused += not verdict.accepted
        problems = verdict.machine.get("problems", ())
        self.reordered += bool(problems) and all(problem["keyword"] == "property_order" for problem in problems)

    def hint(self) -> str:
        """What to do, where that is so of most of those that are refused; else empty."""
        if self.reordered * 2 <= self.refused:
            return ""
        whose = f"all {self.refused}" if self.reordered == self.refused else f"{self.reordered} of {self.refused}"
        whose = "the one" if self.refused == 1 else whose
        return f"--property-order any takes every order, which is all that is wrong with {whose} refused"

    def lines(self) -> list[Line]:
        """The hint for people."""
        return [Line(("  try: ", TRY), hint)] if (hint := self.hint()) else []


class ReasonCounts:
    """Counts verdicts. Costs memory for each reason, and none for each document."""

    def __init__(self) -> None:
        self.accepted = 0
        self.refused = 0
        self.ends_early = 0
        self.order = OrderCounts()
        self._reasons: dict[tuple[Any, ...], _Reason] = {}

    def add(self, name: str, verdict: Verdict) -> None:
        """Count the verdict of one document."""
        self.accepted += verdict.accepted
        self.refused += not verdict.accepted
        self.order.add(verdict)
        if verdict.accepted:
            return
        self.ends_early += bool(verdict.machine.get("ends_early"))
        problems = verdict.machine.get("problems") or [{"message": verdict.reason, "pointer": "", "schema": ""}]
        found: dict[tuple[Any, ...], _Reason] = {}
        for problem in problems:
            message, pointer = problem["message"], re.sub(r"/[0-9]+(?=/|$)", "/*", problem["pointer"])
            tool = _TOOL.match(message)
            told = tuple(problem.get("missing", ())) if problem["schema"] else _PLACE.sub("", message)
            key = (pointer, problem["schema"], told, tool and tool[0])
            found.setdefault(key, _Reason(message, pointer, problem["schema"], name))
        for key, reason in found.items():
            self._reasons.setdefault(key, reason).documents += 1

    def _ranked(self) -> list[_Reason]:
        return sorted(self._reasons.values(), key=lambda reason: -reason.documents)

    def machine(self) -> dict[str, Any]:
        """The numbers for machines."""
        counts = {"documents": self.accepted + self.refused, "accepted": self.accepted, "refused": self.refused}
        return {
            "accepted": not self.refused,
            "counts": counts | {"ends_early": self.ends_early},
            "reasons": [reason.machine() for reason in self._ranked()],
        } | ({"hint": hint} if (hint := self.order.hint()) else {})

    def people(self) -> list[Line]:
        """A line for each number, and for each of the most frequent reasons."""
        verb = "ends" if self.ends_early == 1 else "end"
        early = f" ({self.ends_early} of them {verb} too early)" if self.ends_early else ""
        lines = facts(
            [
                ("documents", str(self.accepted + self.refused)),
                ("accepted", Line((str(self.accepted), GOOD if self.accepted else ""))),
                ("refused", Line((str(self.refused), BAD if self.refused else ""), early)),
            ]
        )
        ranked = self._ranked()
        width = max([len(str(reason.documents)) for reason in ranked[:MOST]], default=0)
        for reason in ranked[:MOST]:
            place = f"{reason.pointer}: " if reason.pointer else ""
            said = f" {place}{options_of_command(reason.message)}"
            lines.append(
                Line("  ", (str(reason.documents).rjust(width), BAD), said, (f" (first: {reason.first})", QUIET))
            )
        if len(ranked) > MOST:
            lines.append(Line((f"  and {counted(len(ranked) - MOST, 'more reason')}; --json has all of them", QUIET)))
        return lines + self.order.lines()
