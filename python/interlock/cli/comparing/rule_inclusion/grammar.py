"""A grammar as expressions of its rules, with what can be read off them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cached_property
from typing import Any

import interlock
from interlock.cli.comparing.rule_inclusion.expressions import (
    Choice,
    Expression,
    Repeat,
    Symbol,
    Unclear,
    expression,
)
from interlock.cli.comparing.rule_inclusion.terminal_languages import Terminals
from interlock.drawing.grammar_outline import Statement, statements

__all__ = ["Grammar", "symbols_of"]

_HEAD = re.compile(r"[?!]*\w[\w-]*(\.-?[0-9]+)?(\{[\w, ]*\})?")
"""What may stand before the colon: nothing that bounds or cuts a text."""


class Grammar:
    """The rules of a grammar by name. One whose body is not surely understood has none, and is compared by its text."""

    def __init__(self, text: str, options: dict[str, Any], vocabulary: interlock.Vocabulary) -> None:
        self.text, self.options, self.syntax = text, options, options["syntax"]
        self.statements = statements(text, self.syntax)
        self.terminals = Terminals(self.statements, options, vocabulary)
        self.start = options.get("start") or ("start" if self.syntax == "lark" else "root")
        self.rules: dict[str, Expression] = {}
        self.unclear: dict[str, str] = {}
        """For a rule without an expression what is not understood of it."""
        self.ignored: list[Symbol] = []
        names = [s.name for s in self.statements if s.name]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise Unclear(f"two definitions of {twice}")
        for statement in self.statements:
            self._read(statement)

    def _read(self, statement: Statement) -> None:
        if statement.kind == "directive" and statement.head == "%ignore":
            self.ignored += self._ignored(statement)
        elif statement.kind == "directive" and statement.head not in ("%import", "%declare"):
            raise Unclear(statement.head)
        elif statement.kind == "other" or statement.name and not _HEAD.fullmatch(statement.head):
            raise Unclear(statement.head)
        elif statement.kind == "rule":
            try:
                if "{" in statement.head:
                    raise Unclear(f"the template {statement.name}")
                self.rules[statement.name] = expression(" | ".join(statement.alternatives), self.syntax)
            except Unclear as error:
                self.unclear[statement.name] = str(error)

    def _ignored(self, statement: Statement) -> Iterator[Symbol]:
        body = expression(statement.text.removeprefix("%ignore"), self.syntax)
        for part in body.parts if isinstance(body, Choice) else (body,):
            if not isinstance(part, Symbol):
                raise Unclear(statement.text)
            yield part

    def is_rule(self, symbol: Symbol) -> bool:
        """Whether a symbol is a rule that is understood."""
        return symbol.kind == "name" and symbol.text in self.rules

    @cached_property
    def may_be_empty(self) -> set[str]:
        """Rules that may have no symbols."""
        found = set[str]()
        while new := {n for n, body in self.rules.items() if n not in found and _is_empty(body, found)}:
            found |= new
        return found

    def units(self, symbol: Symbol) -> set[Symbol]:
        """The symbol, and those that a rule may be as a whole, each a text of the rule that is nothing else."""
        found, waiting = {symbol}, [symbol]
        while waiting:
            one = waiting.pop()
            if self.is_rule(one):
                new = _units(self.rules[one.text], self.may_be_empty) - found
                found |= new
                waiting += new
        return found

    def inlined(self, known: Collection[str]) -> dict[str, Expression]:
        """Rules whose names are not known to the other grammar, and that don't lead back to themselves through such."""
        left = {n: body for n, body in self.rules.items() if n not in known and n != self.start}
        names = {n: {s.text for s in symbols_of(body) if s.kind == "name"} for n, body in left.items()}
        done = set[str]()
        while new := {n for n in left if n not in done and names[n] & left.keys() <= done}:
            done |= new
        return {n: left[n] for n in done}


def symbols_of(body: Expression) -> Iterator[Symbol]:
    """All symbols of an expression."""
    if isinstance(body, Symbol):
        yield body
    elif isinstance(body, Repeat):
        yield from symbols_of(body.body)
    else:
        for part in body.parts:
            yield from symbols_of(part)


def _is_empty(body: Expression, empty: set[str]) -> bool:
    if isinstance(body, Symbol):
        return body.kind == "name" and body.text in empty
    if isinstance(body, Repeat):
        return body.least == 0 or _is_empty(body.body, empty)
    some = any if isinstance(body, Choice) else all
    return some(_is_empty(part, empty) for part in body.parts)


def _units(body: Expression, empty: set[str]) -> set[Symbol]:
    if isinstance(body, Symbol):
        return {body}
    if isinstance(body, Repeat):
        may_be_one = body.least <= 1 and body.most != 0 or _is_empty(body.body, empty)
        return _units(body.body, empty) if may_be_one and body.most != 0 else set()
    if isinstance(body, Choice):
        return {s for part in body.parts for s in _units(part, empty)}
    found = set[Symbol]()
    for i, part in enumerate(body.parts):
        if all(_is_empty(other, empty) for j, other in enumerate(body.parts) if j != i):
            found |= _units(part, empty)
    return found
