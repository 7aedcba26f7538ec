"""The definitions in which two grammars of one notation differ, and whether that decides which accepts more.

A rule with more alternatives accepts more where every terminal takes its text whatever the others would take. That is
so with the lexers ``any`` and ``dynamic``. With ``contextual`` a terminal can take text from another one. Other changes
of rules and terminals are left to `rule_inclusion`. What is not surely understood decides nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from interlock import Vocabulary
from interlock.cli.comparing.group_changes import GroupChange, group_changes
from interlock.cli.comparing.rule_inclusion.inclusion import Verdict, verdict
from interlock.cli.sources.source_arguments import Source
from interlock.cli.terminal.style import BAD, GOOD, NAME, Line
from interlock.drawing.grammar_outline import Statement, statements
from interlock.util.quoting import shortened

LONGEST_GROUP = 60
"""Characters of a group that people see."""
SHOWN = 10
"""Definitions that people see."""
LEXERS = ("any", "dynamic")
"""Lexers under which no terminal takes text from another."""
_HEAD = re.compile(r"[?!]*[a-z_][a-z0-9_]*(\.-?[0-9]+)?(\{[\w, ]*\})?")
"""What may stand before the colon of a rule in Lark's notation: nothing that bounds or cuts its text."""
_MARKS = frozenset("|()[]{}*+?,")
"""Marks under which more of a part is never less of the whole."""
_LARK_MARKS = _MARKS | {"->", "..", "~"}
_CALLS = {"TagDispatch", "ExcludeToken"}
"""Macros of XGrammar's notation that say what must not be."""


@dataclass
class Change:
    """A definition that only one of the grammars has, or the alternatives that only one has."""

    name: str
    kind: str
    in_first: bool
    in_second: bool
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    groups: list[GroupChange] = field(default_factory=list)
    """Where alternatives differ in their groups alone: what differs there. They are among the others as well."""
    others: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))
    """The alternatives, removed and added, that differ in more than their groups."""

    def machine(self) -> dict[str, Any]:
        """For machines."""
        return {
            "name": self.name,
            "kind": self.kind,
            "change": self.change,
            "added": self.added,
            "removed": self.removed,
        } | ({"groups": [asdict(group) for group in self.groups]} if self.groups else {})

    @property
    def change(self) -> str:
        """What became of it."""
        return "changed" if self.in_first and self.in_second else "removed" if self.in_first else "added"

    def lines(self) -> list[Line]:
        """For people: a line for the definition, or one for each alternative."""
        head = f"  {self.kind} "
        if self.change != "changed":
            return [Line(head, (self.name, NAME), f": {self.change}")]
        removed, added = self.others
        if not self.groups and not removed and not added:
            return [Line(head, (self.name, NAME), ": changed")]
        lines = _lines_of(removed, added, "") if removed or added else []
        for group in self.groups:
            lines += _lines_of(group.removed, group.added, f"in {shortened(group.group, LONGEST_GROUP)}, ")
        return [Line(head, (self.name, NAME), ": ") + line for line in lines]


def _lines_of(removed: Sequence[str], added: Sequence[str], where: str) -> list[Line]:
    """A line for each alternative, or one for both of two, with the group that they stand in."""
    if len(removed) == len(added) == 1:
        return [Line(where, "changed from ", (removed[0], BAD), " to ", (added[0], GOOD))]
    parts = [("alternative removed", BAD, text) for text in removed]
    parts += [("alternative added", GOOD, text) for text in added]
    return [Line(where, (word, style), f": {text}") for word, style, text in parts] or [Line(where, "reordered")]


def changes(first: Source, second: Source) -> list[Change]:
    """The definitions that differ, in the order of the first grammar, then those that only the second has. Empty for
    other sources, and for grammars of two notations.
    """
    if not _are_alike(first, second):
        return []
    one, other = (_by_name(source) for source in (first, second))
    out = []
    for name in dict.fromkeys([*one, *other]):
        before, after = one.get(name, []), other.get(name, [])
        if [s.text for s in before] == [s.text for s in after]:
            continue
        old, new = ([text for s in found for text in s.alternatives] for found in (before, after))
        change = Change(name, (before or after)[0].kind, bool(before), bool(after))
        if before and after:
            change.added = list((Counter(new) - Counter(old)).elements())
            change.removed = list((Counter(old) - Counter(new)).elements())
            change.groups, *others = _in_groups(change.removed, change.added, first.options["syntax"])
            change.others = (others[0], others[1])
        out.append(change)
    return out


def _in_groups(removed: list[str], added: list[str], syntax: str) -> tuple[list[GroupChange], list[str], list[str]]:
    """What differs in groups of alternatives that are else the same, and the alternatives that differ in more."""
    groups: list[GroupChange] = []
    left, more = [], list(added)
    for old in removed:
        for new in more:
            if (found := group_changes(old, new, syntax)) is not None:
                groups += found
                more.remove(new)
                break
        else:
            left.append(old)
    return groups, left, more


def lexer_of(source: Source) -> str:
    """The lexer of a grammar, as it is given or by default."""
    return str(source.options.get("lexer") or ("dynamic" if source.options["syntax"] == "lark" else "any"))


def accepts_all(first: Source, second: Source, vocabulary: Vocabulary, lexer: str = "") -> Verdict:
    """Whether the second grammar surely accepts all that the first accepts, with another lexer if one is given; and
    what it fails for.
    """
    if not _are_alike(first, second):
        return Verdict(False)
    if first.options != second.options:
        return Verdict(False, "the two grammars are read with other options")
    if not lexer and only_adds(first, second):
        return Verdict(True)
    return verdict(first, second, vocabulary, lexer or lexer_of(first))


def only_adds(first: Source, second: Source) -> bool:
    """Whether the second grammar has the same statements, but that rules have more alternatives, and that there are
    definitions of names of which the first does not speak. Then it surely accepts all that the first accepts.
    """
    if not _are_alike(first, second) or first.options != second.options:
        return False
    syntax, lexer = first.options["syntax"], lexer_of(first)
    one, other = (statements(source.text, syntax) for source in (first, second))
    if lexer not in LEXERS or not all(_is_plain(statement, syntax) for statement in (*one, *other)):
        return False
    known = {name for statement in one for name in statement.names}
    at = 0
    for statement in other:
        if at < len(one) and _has_all(statement, one[at], syntax):
            at += 1
        elif at == 0 or not statement.name or statement.name in known:
            # A first rule may be where the grammar begins, and a directive is about all of it.
            return False
    return at == len(one)


def lines(found: list[Change]) -> list[Line]:
    """The changes for people."""
    out = [line for change in found[:SHOWN] for line in change.lines()]
    return out + ([Line(f"  and {len(found) - SHOWN} more; --json has all of them")] if len(found) > SHOWN else [])


def _are_alike(first: Source, second: Source) -> bool:
    if first.kind != "grammar" or second.kind != "grammar":
        return False
    return first.compiled is None and second.compiled is None and first.options["syntax"] == second.options["syntax"]


def _by_name(source: Source) -> dict[str, list[Statement]]:
    found: dict[str, list[Statement]] = {}
    for statement in statements(source.text, source.options["syntax"]):
        found.setdefault(statement.name or statement.text, []).append(statement)
    return found


def _has_all(statement: Statement, before: Statement, syntax: str) -> bool:
    """Whether a statement is the same as before, or a rule with more alternatives, of its own or in groups."""
    if statement.text == before.text:
        return True
    if statement.kind != "rule" or before.kind != "rule" or statement.head != before.head:
        return False
    new, old = Counter(statement.alternatives), Counter(before.alternatives)
    groups, left, _ = _in_groups(list((old - new).elements()), list((new - old).elements()), syntax)
    return not left and not any(group.removed for group in groups)


def _is_plain(statement: Statement, syntax: str) -> bool:
    """Whether a statement has no part of which more is less of the whole, and no bound on the text of a rule."""
    if syntax != "lark":
        is_free = "(?" not in statement.text and not statement.names & _CALLS
        return is_free and statement.kind == "rule" and statement.marks <= _MARKS
    if statement.kind == "directive":
        return statement.head in ("%ignore", "%import", "%declare")
    if statement.kind == "rule" and _HEAD.fullmatch(statement.head) is None:
        return False
    # Before a number `~` repeats; before anything else it is the complement.
    is_free = not any(re.search(r"~(?!\s*[0-9])", text) for text in statement.alternatives)
    return statement.kind != "other" and is_free and statement.marks <= _LARK_MARKS
