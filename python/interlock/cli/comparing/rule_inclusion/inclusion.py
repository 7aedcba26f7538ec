"""Whether a grammar accepts all that another accepts, told from the structure of their rules.

Each word of symbols of an old rule must be one of the new rule of the same name, where a new symbol may stand for an
old one: the same rule, a rule that may be as a whole what the old one is, or a terminal. So it goes on from rule to
rule, and a pair of rules counts as proven until it is refuted (a greatest fixpoint). That is sound because each step
goes from a text of an old rule to shorter ones, or to ones that are derived in fewer steps.

When a new terminal may stand for an old one depends on the lexer.

* ``any``: when it has all of its texts.
* ``dynamic``: when, besides, none of its other texts begins with one that the old one has. Such a text could be a
  longer match, which takes what should follow.
* ``contextual``: when both have one name, besides, and no other terminal may take text of it: see
  `competing_terminals`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import interlock
from interlock.cli.comparing.rule_inclusion.competing_terminals import competitors, keys
from interlock.cli.comparing.rule_inclusion.expressions import Expression, Symbol, Unclear
from interlock.cli.comparing.rule_inclusion.grammar import Grammar
from interlock.cli.comparing.rule_inclusion.rule_automata import Automaton, automaton, is_included
from interlock.cli.comparing.rule_inclusion.terminal_languages import LIMITS, takes_no_more, widens
from interlock.cli.sources.source_arguments import Source

__all__ = ["Verdict", "verdict"]

_TEXT = re.compile(r'"(\\.|[^"\\])*"')
MOST_TERMINALS = 2_000
"""Pairs of terminals that are compared as regular languages."""


@dataclass(frozen=True)
class Verdict:
    """Whether the second surely accepts all that the first accepts, and else what it fails for."""

    holds: bool
    why: str = ""


def verdict(first: Source, second: Source, vocabulary: interlock.Vocabulary, lexer: str) -> Verdict:
    """Compare two grammars of one notation with the same options. Costs a walk through the rules, and up to some
    milliseconds for each pair of terminals that differ.
    """
    try:
        one, other = (Grammar(source.text, source.options, vocabulary) for source in (first, second))
        return _Proof(one, other, lexer).verdict()
    except Unclear as error:
        return Verdict(False, f"it is not known what {error} means for the rules around it")
    except RecursionError:
        return Verdict(False, "the rules are nested too deeply")


@dataclass
class _Proof:
    """An attempt to show that the rules of ``second`` accept all that those of ``first`` do."""

    first: Grammar
    second: Grammar
    lexer: str
    refuted: dict[tuple[str, str], Symbol | bool | str | None] = field(default_factory=dict)
    """Pairs of rules for which it fails, and at which symbol of the first."""
    by_languages: set[tuple[str, str]] = field(default_factory=set)
    """Pairs of rules that are regular, and compared as such."""
    terminals: dict[tuple[Symbol, Symbol], bool] = field(default_factory=dict)

    def verdict(self) -> Verdict:
        """Whether it is shown, and what stands in the way if not. ``Unclear`` for what has no form here."""
        if self.lexer == "contextual" and "_INDENT" in self.first.terminals.imported:
            raise Unclear("indentation")
        self.keys = keys(self.first), keys(self.second)
        for symbol in self.first.ignored:
            if not any(self.terminal_stands_for(symbol, other) for other in self.second.ignored):
                return Verdict(False, f"the second does not ignore all that {symbol.text} of the first is")
        start = (self.first.start, self.second.start)
        for name, grammar in zip(start, (self.first, self.second)):
            if name not in grammar.rules:
                raise Unclear(grammar.unclear.get(name, f"the rule {name}"))
        self.find_refuted()
        if start in self.refuted:
            return Verdict(False, self.why(start))
        if self.lexer == "contextual" and (found := competitors(self.first, self.second)) is not None:
            before, one, taker = found
            place = "at the beginning" if before is None else f"behind {before.text}"
            return Verdict(False, f"{place}, {taker.text} of the second may take text of {one.text}")
        return Verdict(True)

    def find_refuted(self) -> None:
        """Refute pairs of rules until no more is refuted."""
        ours = _automata(self.first, self.first.inlined(self.second.rules), set())
        theirs = _automata(self.second, self.second.inlined(self.first.rules), self.second.may_be_empty)
        only = [set(a) - set(b) for a, b in ((ours, theirs), (theirs, ours))]
        pairs = {(name, name) for name in ours if name in theirs}
        pairs |= {(a, b) for a in only[0] for b in only[1]} if len(only[0]) * len(only[1]) <= 100 else set()
        pairs.add((self.first.start, self.second.start))
        self.pairs = pairs
        changed = True
        while changed:
            changed = False
            for pair in sorted(pairs - self.refuted.keys() - self.by_languages):
                found = self.compare(ours[pair[0]], theirs[pair[1]])
                if found is True:
                    continue
                if self.lexer == "any" and self.is_regular(pair):
                    self.by_languages.add(pair)
                    continue
                self.refuted[pair], changed = found, True

    def compare(self, one: Automaton, other: Automaton) -> Symbol | bool | None:
        """``True`` if one automaton is included in the other; otherwise the symbol at which it is not."""
        return is_included(one, other, self.stands_for)

    def stands_for(self, old: Symbol, new: Symbol) -> bool:
        """Whether a new symbol surely has all texts of an old one."""
        for unit in self.second.units(new):
            if self.first.is_rule(old):
                if self.second.is_rule(unit) and self.holds((old.text, unit.text)):
                    return True
            elif not self.second.is_rule(unit) and self.terminal_stands_for(old, unit):
                return True
        return False

    def holds(self, pair: tuple[str, str]) -> bool:
        """Whether a pair of rules is looked at, and is not refuted so far."""
        return pair in self.pairs and pair not in self.refuted

    def terminal_stands_for(self, old: Symbol, new: Symbol) -> bool:
        """Whether a terminal of the second has all texts of one of the first. Found once for each pair."""
        if (old, new) not in self.terminals:
            self.terminals[old, new] = self._terminal_stands_for(old, new)
        return self.terminals[old, new]

    def _terminal_stands_for(self, old: Symbol, new: Symbol) -> bool:
        ours, theirs = self.first.terminals, self.second.terminals
        if self.lexer == "contextual" and self.keys[0](old) != self.keys[1](new):
            return False
        meaning = ours.meaning(old)
        if old == new and meaning is not None and meaning == theirs.meaning(new):
            return True
        literals = ours.literal(old), theirs.literal(new)
        if None not in literals and literals[0] == literals[1]:
            return True
        if all(text is not None and _TEXT.fullmatch(text) for text in literals) or "part" in (old.kind, new.kind):
            return False  # Two texts that are not the same, as far as they are written.
        if len(self.terminals) > MOST_TERMINALS or not widens(ours, old, theirs, new):
            return False
        return self.lexer == "any" or takes_no_more(ours, old, theirs, new)

    def is_regular(self, pair: tuple[str, str]) -> bool:
        """Whether both rules are regular languages, and the engine says that one has all texts of the other."""
        if self.first.ignored or self.second.ignored:
            return False
        indexes = []
        for name, grammar in zip(pair, (self.first, self.second)):
            options = {key: value for key, value in grammar.options.items() if key in ("syntax", "imports", "grammars")}
            try:
                indexes.append(
                    interlock.Index.from_grammar(
                        grammar.text, grammar.terminals.vocabulary, start=name, lexer="any", limits=LIMITS, **options
                    )
                )
            except interlock.InterlockError:
                return False
        try:
            return indexes[0].witness_not_in(indexes[1]) is None
        except interlock.InterlockError:
            return False

    def why(self, pair: tuple[str, str]) -> str:
        """What the pair fails for: in a rule inside of it, where that fails."""
        seen = {pair}
        while isinstance(symbol := self.refuted[pair], Symbol):
            inner = (symbol.text, symbol.text)
            if not self.first.is_rule(symbol) or inner not in self.refuted or inner in seen:
                break
            seen.add(pair := inner)
        if not isinstance(symbol, Symbol):
            return f"the rule {pair[0]} has not surely all that it has in the first"
        for old, new in self.terminals:
            is_wider = (
                old == symbol and self.lexer != "any" and widens(self.first.terminals, old, self.second.terminals, new)
            )
            if is_wider:
                what = f"{new.text} has longer texts in the second, which may be" if old == new else ""
                what = what or f"{new.text} of the second may take"
                return f"in the rule {pair[0]}, {what} what follows {old.text} of the first"
        return f"in the rule {pair[0]}, nothing in the second surely stands for {symbol.text} of the first"


def _automata(grammar: Grammar, inner: dict[str, Expression], may_skip: set[str]) -> dict[str, Automaton]:
    """The automata of all rules; those in ``inner`` are put in the place of their names."""

    def within(symbol: Symbol) -> Expression | None:
        return inner.get(symbol.text) if symbol.kind == "name" else None

    def is_skipped(symbol: Symbol) -> bool:
        return symbol.kind == "name" and symbol.text in may_skip

    return {name: automaton(body, within, is_skipped) for name, body in grammar.rules.items()}
