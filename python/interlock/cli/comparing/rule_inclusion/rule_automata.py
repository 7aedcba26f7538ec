"""The positions of symbols in a rule, and which follow which: Glushkov's automaton of its expression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from interlock.cli.comparing.rule_inclusion.expressions import (
    Choice,
    Expression,
    Repeat,
    Sequence,
    Symbol,
    Unclear,
)

__all__ = ["Automaton", "automaton", "is_included"]

MOST_POSITIONS = 400
"""Of one rule, copies of repetitions counted."""
MOST_PAIRS = 20_000
"""Pairs of a position and a set of positions that are looked at for two rules."""


@dataclass
class Automaton:
    """A word of symbols is one of the rule if it begins at a first position, goes on to what follows each, and ends at
    a last one; or if it is empty and the rule may be.
    """

    symbols: list[Symbol] = field(default_factory=list)
    follow: list[set[int]] = field(default_factory=list)
    first: set[int] = field(default_factory=set)
    last: set[int] = field(default_factory=set)
    may_be_empty: bool = False

    def after(self, position: int | None) -> set[int]:
        """The positions that come next; first ones behind ``None``."""
        return self.first if position is None else self.follow[position]

    def ends_at(self, position: int | None) -> bool:
        """Whether the word may end behind a position."""
        return self.may_be_empty if position is None else position in self.last


@dataclass
class _Edges:
    """The positions at which a part may begin and end, and whether it may be empty."""

    first: set[int]
    last: set[int]
    may_be_empty: bool


def automaton(
    body: Expression, inner: Callable[[Symbol], Expression | None], may_skip: Callable[[Symbol], bool]
) -> Automaton:
    """The automaton of an expression. ``inner`` says what is put in the place of a symbol, and ``may_skip`` which
    symbols may be left out.
    """
    out = Automaton()

    def join(last: set[int], first: set[int]) -> None:
        for position in last:
            out.follow[position] |= first

    def one_after(parts: list[_Edges]) -> _Edges:
        whole = _Edges(set(), set(), True)
        for part in parts:
            join(whole.last, part.first)
            if whole.may_be_empty:
                whole.first |= part.first
            whole.last = part.last | (whole.last if part.may_be_empty else set())
            whole.may_be_empty &= part.may_be_empty
        return whole

    def copies(body: Expression, least: int, most: int | None) -> _Edges:
        if max(least, most or 0) > MOST_POSITIONS:
            raise Unclear("so many copies of a part")
        parts = [read(body) for _ in range(least if most is None else most)]
        for part in parts[least:]:
            part.may_be_empty = True
        if most is None:
            more = read(body) if least == 0 else parts[-1]
            join(more.last, more.first)
            if least == 0:
                more.may_be_empty = True
                parts.append(more)
        return one_after(parts)

    def read(part: Expression) -> _Edges:
        if isinstance(part, Sequence):
            return one_after([read(one) for one in part.parts])
        if isinstance(part, Choice):
            found = [read(one) for one in part.parts]
            first, last = ({p for f in found for p in f.first}, {p for f in found for p in f.last})
            return _Edges(first, last, any(f.may_be_empty for f in found))
        if isinstance(part, Repeat):
            return copies(part.body, part.least, part.most)
        if (within := inner(part)) is not None:
            return read(within)
        if len(out.symbols) == MOST_POSITIONS:
            raise Unclear("so many parts of a rule")
        out.symbols.append(part)
        out.follow.append(set())
        at = {len(out.symbols) - 1}
        return _Edges(at, set(at), may_skip(part))

    edges = read(body)
    out.first, out.last, out.may_be_empty = edges.first, edges.last, edges.may_be_empty
    return out


def is_included(one: Automaton, other: Automaton, stands_for: Callable[[Symbol, Symbol], bool]) -> Symbol | bool | None:
    """True if each word of one is a word of the other, whose symbols each stand for those of the one. Else the symbol
    for which none stands, or ``None`` where it is an end that the other doesn't have, or where that takes too long.
    """
    start: tuple[int | None, frozenset[int | None]] = (None, frozenset({None}))
    seen, waiting = {start}, [start]
    while waiting:
        position, others = waiting.pop()
        if one.ends_at(position) and not any(map(other.ends_at, others)):
            return None
        following = {p for o in others for p in other.after(o)}
        for next_position in one.after(position):
            symbol = one.symbols[next_position]
            reached = frozenset(p for p in following if stands_for(symbol, other.symbols[p]))
            if not reached:
                return symbol
            state: tuple[int | None, frozenset[int | None]] = (next_position, reached)
            if state not in seen:
                if len(seen) == MOST_PAIRS:
                    return None
                seen.add(state)
                waiting.append(state)
    return True
