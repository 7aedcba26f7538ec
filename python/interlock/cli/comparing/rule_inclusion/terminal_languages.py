"""Terminals of two grammars, compared as regular languages by the engine."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import interlock
from interlock.cli.comparing.rule_inclusion.expressions import Symbol
from interlock.drawing.grammar_outline import Statement

__all__ = ["Terminals", "have_common_beginning", "is_plain", "takes_no_more", "widens"]

LIMITS = {"max_flat_states": 20_000}
"""Of one comparison. What takes more is not known."""
_ITSELF = "{0}"
_NO_LONGER = "~(({0}) /(?s:.)+/) | ({0})"
_BEGINNING = "({0}) /(?s:.)*/"


@dataclass
class Terminals:
    """What a grammar says of its terminals, and how they are compiled."""

    statements: list[Statement]
    options: dict[str, Any]
    vocabulary: interlock.Vocabulary
    compiled: dict[str, interlock.Index | None] = field(default_factory=dict)

    @cached_property
    def definitions(self) -> dict[str, Statement]:
        """Definitions of terminals by name."""
        return {s.name: s for s in self.statements if s.kind == "terminal"}

    @cached_property
    def named(self) -> dict[str, Statement]:
        """Definitions by name."""
        return {s.name: s for s in self.statements if s.name}

    @cached_property
    def imported(self) -> dict[str, Statement]:
        """Directives that bring a name from elsewhere, or declare it."""
        found = [s for s in self.statements if s.kind == "directive" and s.head in ("%import", "%declare")]
        return {name: statement for statement in found for name in statement.names}

    def meaning(self, symbol: Symbol) -> frozenset[str] | None:
        """All that is written about a symbol, a rule's too. ``None`` for a name that nothing is written about."""
        if symbol.kind != "name":
            return frozenset({symbol.text})
        found, waiting = set[str](), [symbol.text]
        while waiting:
            name = waiting.pop()
            statement = self.named.get(name) or self.imported.get(name)
            if statement is None:
                if name == symbol.text:
                    return None
                found.add(name)  # A parameter, a flag or the like.
            elif statement.text not in found:
                found.add(statement.text)
                if statement.kind != "directive":
                    waiting += statement.names
        return frozenset(found)

    def literal(self, symbol: Symbol) -> str | None:
        """The text in quotes or slashes that a symbol is, itself or by its definition; whoever writes the same means
        the same terminal.
        """
        if symbol.kind == "text":
            return symbol.text
        statement = self.definitions.get(symbol.text) if symbol.kind == "name" else None
        if statement is None or len(statement.alternatives) != 1 or len(statement.names) > 1:
            return None
        return statement.alternatives[0] if statement.alternatives[0][:1] in ('"', "/") else None

    def index(self, template: str, symbol: Symbol) -> interlock.Index | None:
        """What ``template`` says of the symbol in the place of ``{0}``. ``None`` where that is no regular language."""
        if symbol.kind == "part":
            return None
        body = template.format(symbol.text)
        if body not in self.compiled:
            self.compiled[body] = self._index(body)
        return self.compiled[body]

    def _index(self, body: str) -> interlock.Index | None:
        syntax = self.options["syntax"]
        if syntax == "lark":
            kept = [s.text for s in self.statements if s.kind == "terminal" or s.text.startswith("%import")]
            name = "COMPARED"
            while any(name in text for text in kept):
                name += "_"
            text = "\n".join([*kept, f"{name}: {body}", f"start: {name}", ""])
        else:
            text = f"root ::= {body}\n"
        known = ("imports", "grammars")
        options = {key: self.options[key] for key in known if key in self.options}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # What they say was said of the whole grammar.
            try:
                return interlock.Index.from_grammar(
                    text, self.vocabulary, syntax=syntax, lexer="any", limits=LIMITS, **options
                )
            except interlock.InterlockError:
                return None


def widens(one: Terminals, symbol: Symbol, other: Terminals, wider: Symbol) -> bool:
    """Whether a terminal surely has all texts of another."""
    return _has_none(one.index(_ITSELF, symbol), other.index(_ITSELF, wider))


def takes_no_more(one: Terminals, symbol: Symbol, other: Terminals, wider: Symbol) -> bool:
    """Whether a wider terminal surely takes no more than the other does, wherever the other takes its longest match: no
    text that only the wider one has begins with one that both have.
    """
    if one.options["syntax"] != "lark":
        return False
    return _has_none(other.index(_ITSELF, wider), one.index(_NO_LONGER, symbol))


def have_common_beginning(one: Terminals, symbol: Symbol, other: Terminals, second: Symbol) -> bool:
    """Whether a text of the second may begin with one of the first, or be it. True where that is not known."""
    if one.options["syntax"] != "lark":
        return True
    first, index = one.index(_BEGINNING, symbol), other.index(_ITSELF, second)
    if first is None or index is None:
        return True
    try:
        return first.witness_in_both(index) is not None
    except interlock.InterlockError:
        return True


def is_plain(one: Terminals, symbol: Symbol) -> bool:
    """Whether a terminal surely is a regular language without the empty text. One that looks ahead beyond its end is
    none.
    """
    index = one.index(_ITSELF, symbol)
    return _has_none(index, index) and index is not None and not index.guide().is_accepting


def _has_none(first: interlock.Index | None, second: interlock.Index | None) -> bool:
    """Whether an index surely accepts nothing that another refuses."""
    if first is None or second is None:
        return False
    try:
        return first.witness_not_in(second) is None
    except interlock.InterlockError:
        return False
