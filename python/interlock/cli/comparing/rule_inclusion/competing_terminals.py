"""Terminals that may be read at one place, of which one may take the text of the other.

Under the lexer ``contextual`` the longest match of all terminals that may stand at a place is taken. A grammar with
more rules has more terminals at a place. They take no text from others where none of their texts begins with one of
another terminal that the first grammar reads behind the same terminal.
"""

from __future__ import annotations

from collections.abc import Callable

from interlock.cli.comparing.rule_inclusion.expressions import Symbol, Unclear
from interlock.cli.comparing.rule_inclusion.grammar import Grammar, symbols_of
from interlock.cli.comparing.rule_inclusion.rule_automata import automaton
from interlock.cli.comparing.rule_inclusion.terminal_languages import have_common_beginning, is_plain

__all__ = ["competitors", "keys"]


def keys(grammar: Grammar) -> Callable[[Symbol], Symbol]:
    """What names a terminal, however it is written: its name, where a definition is its text and nothing else."""
    names: dict[str, Symbol] = {}
    for name in grammar.terminals.definitions:
        symbol = Symbol("name", name)
        literal = grammar.terminals.literal(symbol)
        if literal is not None and names.setdefault(literal, symbol) != symbol:
            raise Unclear(f"two terminals for {literal}")
    return lambda symbol: names.get(symbol.text, symbol) if symbol.kind == "text" else symbol


def competitors(first: Grammar, second: Grammar) -> tuple[Symbol | None, Symbol, Symbol] | None:
    """A terminal, one that the first grammar reads behind it, and another that the second reads there and that may take
    text of that one. ``None`` for the first of the three is the beginning.
    """
    ours, theirs = _neighbours(first), _neighbours(second)
    known: dict[tuple[Symbol, Symbol], bool] = {}
    for before, following in ours.items():
        for one in sorted(following | set(first.ignored), key=lambda s: s.text):
            for other in sorted(theirs.get(before, set()) | set(second.ignored), key=lambda s: s.text):
                if one == other:
                    continue
                if (one, other) not in known:
                    known[one, other] = have_common_beginning(first.terminals, one, second.terminals, other)
                if known[one, other]:
                    return before, one, other
    return None


def _neighbours(grammar: Grammar) -> dict[Symbol | None, set[Symbol]]:
    """The terminals that may follow each terminal, and ``None`` for the beginning."""
    key = keys(grammar)
    made = {
        name: automaton(body, lambda _: None, lambda s: s.kind == "name" and s.text in grammar.may_be_empty)
        for name, body in grammar.rules.items()
    }
    terminals = {key(s) for body in grammar.rules.values() for s in symbols_of(body) if not grammar.is_rule(s)}
    for symbol in terminals:
        if symbol.kind == "part" or symbol.kind == "name" and symbol.text not in _terminal_names(grammar):
            raise Unclear(symbol.text)
        if not is_plain(grammar.terminals, symbol):
            raise Unclear(f"the terminal {symbol.text}, which may be empty or sees what follows it")
    edges: list[dict[str, set[Symbol]]] = []
    for side in ("first", "last"):
        found: dict[str, set[Symbol]] = {name: set() for name in made}
        grows = True
        while grows:
            grows = False
            for name, one in made.items():
                reached = {s for p in getattr(one, side) for s in _at_the_edge(grammar, one.symbols[p], found, key)}
                grows |= not reached <= found[name]
                found[name] |= reached
        edges.append(found)
    first, last = edges
    out: dict[Symbol | None, set[Symbol]] = {symbol: set() for symbol in terminals}
    out[None] = set(first[grammar.start])
    for one in made.values():
        for position, following in enumerate(one.follow):
            behind = {s for p in following for s in _at_the_edge(grammar, one.symbols[p], first, key)}
            for symbol in _at_the_edge(grammar, one.symbols[position], last, key):
                out[symbol] |= behind
    return out


def _at_the_edge(
    grammar: Grammar, symbol: Symbol, found: dict[str, set[Symbol]], key: Callable[[Symbol], Symbol]
) -> set[Symbol]:
    return found[symbol.text] if grammar.is_rule(symbol) else {key(symbol)}


def _terminal_names(grammar: Grammar) -> set[str]:
    imported = {name for name in grammar.terminals.imported if name.lstrip("_")[:1].isupper()}
    return imported | grammar.terminals.definitions.keys()
