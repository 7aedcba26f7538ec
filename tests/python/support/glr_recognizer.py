"""Whether a grammar that no LALR parser reads accepts a text: Tomita's algorithm on Lark's rules and tokens.

Lark's Earley parser answers the same, and takes a second for three lines of Java.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import lark

END = "$END"


class Recognizer:
    """The states of an SLR(1) automaton, followed on a graph of stacks."""

    def __init__(self, compiled: lark.Lark) -> None:
        self.compiled = compiled
        self.rules = [(rule.origin.name, tuple(symbol.name for symbol in rule.expansion)) for rule in compiled.rules]
        self.rules.append(("", ("start",)))
        self.of: dict[str, list[int]] = defaultdict(list)
        for at, (origin, _) in enumerate(self.rules):
            self.of[origin].append(at)
        self.find_follow()
        self.states: dict[frozenset[tuple[int, int]], int] = {}
        self.kernels: list[frozenset[tuple[int, int]]] = []
        self.moves: list[dict[str, int] | None] = []
        self.reductions: list[list[int]] = []
        self.state(frozenset({(len(self.rules) - 1, 0)}))

    def find_follow(self) -> None:
        nullable: set[str] = set()
        first: dict[str, set[str]] = defaultdict(set)
        self.follow: dict[str, set[str]] = defaultdict(set)
        self.follow[""].add(END)
        size = -1
        while size != (size := len(nullable) + sum(map(len, first.values())) + sum(map(len, self.follow.values()))):
            for origin, expansion in self.rules:
                for symbol in expansion:
                    first[origin] |= first[symbol] if symbol in self.of else {symbol}
                    if symbol not in nullable:
                        break
                else:
                    nullable.add(origin)
                rest = self.follow[origin]
                for symbol in reversed(expansion):
                    if symbol in self.of:
                        self.follow[symbol] |= rest
                        rest = rest | first[symbol] if symbol in nullable else first[symbol]
                    else:
                        rest = {symbol}

    def state(self, kernel: frozenset[tuple[int, int]]) -> int:
        if kernel not in self.states:
            self.states[kernel] = len(self.kernels)
            self.kernels.append(kernel)
            self.moves.append(None)
            closure = set(kernel)
            pending = list(kernel)
            while pending:
                rule, dot = pending.pop()
                expansion = self.rules[rule][1]
                if dot < len(expansion):
                    for at in self.of.get(expansion[dot], ()):
                        if (at, 0) not in closure:
                            closure.add((at, 0))
                            pending.append((at, 0))
            self.reductions.append([rule for rule, dot in closure if dot == len(self.rules[rule][1])])
            self.closures = getattr(self, "closures", [])
            self.closures.append(closure)
        return self.states[kernel]

    def move(self, state: int, symbol: str) -> int | None:
        if self.moves[state] is None:
            kernels: dict[str, set[tuple[int, int]]] = defaultdict(set)
            for rule, dot in self.closures[state]:
                expansion = self.rules[rule][1]
                if dot < len(expansion):
                    kernels[expansion[dot]].add((rule, dot + 1))
            self.moves[state] = {key: self.state(frozenset(kernel)) for key, kernel in kernels.items()}
        return self.moves[state].get(symbol)  # type: ignore[union-attr]

    def refused_at(self, text: str) -> Any:
        """None if the text is accepted; the token that cannot follow otherwise, or the lexer's error."""
        # A node is a dictionary from the nodes below it, by identity, to them, with its state.
        frontier: dict[int, tuple[int, dict[int, Any]]] = {0: (0, {})}
        try:
            tokens = [*self.compiled.lex(text), None]
        except lark.exceptions.UnexpectedInput as error:
            return error
        for token in tokens:
            ahead = END if token is None else token.type
            changed = True
            while changed:
                changed = False
                for state, node in list(frontier.items()):
                    for rule in self.reductions[state]:
                        origin, expansion = self.rules[rule]
                        if ahead not in self.follow[origin] or origin == "":
                            continue
                        bottoms = {id(node): node}
                        for _ in expansion:
                            bottoms = {key: below for top in bottoms.values() for key, below in top[1].items()}
                        for bottom in bottoms.values():
                            target = self.move(bottom[0], origin)
                            if target is None:
                                continue
                            known = frontier.setdefault(target, (target, {}))
                            if id(bottom) not in known[1]:
                                known[1][id(bottom)] = bottom
                                changed = True
            if token is None:
                accepting = self.move(0, "start")
                return None if accepting in frontier else END
            following: dict[int, tuple[int, dict[int, Any]]] = {}
            for state, node in frontier.items():
                target = self.move(state, ahead)
                if target is not None:
                    following.setdefault(target, (target, {}))[1][id(node)] = node
            if not following:
                return token
            frontier = following
        return None
