"""The structure of a grammar as cards: one for each rule, a row for each of its alternatives, one card of terminals."""

from __future__ import annotations

import json
import re

from interlock.drawing.grammar_outline import Definition, Outline, outline
from interlock.drawing.structure import LONGEST, MOST_CARDS, Card, Cards, Row, Structure
from interlock.util.quoting import shortened

__all__ = ["GrammarStructure"]

_DOCUMENT = "%json "
_LITERAL = re.compile(r'"(?:\\.|[^"\\])*"')


class GrammarStructure(Cards):
    """All cards of a grammar; the first is the rule that the output is. A row leads to the rules that it names."""

    def __init__(self, text: str, syntax: str, start: str | None = None, everything: bool = False) -> None:
        super().__init__(everything)
        self.outline: Outline = outline(text, syntax)
        rules = {rule.name: rule for rule in self.outline.rules}
        first = start or ("start" if syntax == "lark" else "root")
        self._numbers: dict[str, int] = {}
        waiting = [first] if first in rules else []
        while waiting and (everything or len(self._numbers) < MOST_CARDS):
            name = waiting.pop(0)
            if name not in self._numbers:
                self._numbers[name] = len(self._numbers)
                waiting += [n for names in rules[name].names for n in names if n in rules and n not in self._numbers]
        self._drawn = {first}
        for name in self._numbers:
            self.cards.append(self._card(rules[name], first))
        self.left_out = len(self._reachable(rules, first)) - len(self._numbers)
        self._documents()
        self._terminals()
        if not self.cards:
            self.cards.append(Card(first, "rule", ""))

    def _reachable(self, rules: dict[str, Definition], first: str) -> set[str]:
        seen, todo = set[str](), [first] if first in rules else []
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo += [n for names in rules[name].names for n in names if n in rules]
        return seen

    def _card(self, rule: Definition, first: str) -> Card:
        card = Card(rule.name, "the output" if rule.name == first else "rule", rule.name)
        for written, names in zip(shown := self.first_rows(rule.alternatives), rule.names):
            row = Row("", shortened(written, LONGEST) or "(nothing)", forced=_LITERAL.fullmatch(written) is not None)
            row.tip = written
            card.rows.append(row)
            targets = [n for n in dict.fromkeys(names) if n in self._numbers]
            fresh = [n for n in targets if n not in self._drawn]
            self._drawn.update(fresh)
            if targets:
                row.target = self._numbers[(fresh or targets)[0]]
                row.again = not fresh
            for name in fresh[1:]:
                card.rows.append(Row("", f"  {name}", tip=f"the rule {name}", target=self._numbers[name]))
        if len(rule.alternatives) > len(shown):
            card.notes.append(f"and {len(rule.alternatives) - len(shown)} alternatives more")
        return card

    def _documents(self) -> None:
        """The cards of the schemas of ``%json``, to which the rows lead that have them."""
        for card in self.cards[:]:
            for row in card.rows:
                if not row.tip.startswith(_DOCUMENT) or not self.has_room():
                    continue
                try:
                    schema = json.loads(row.tip.removeprefix(_DOCUMENT))
                except (ValueError, RecursionError):  # More than a document.
                    continue
                found, first = Structure(schema, {}, card.title, self.everything), len(self.cards)
                for inner in (row for one in found.cards for row in one.rows):
                    inner.target = None if inner.target is None else inner.target + first
                self.cards += found.cards
                self.left_out += found.left_out
                self.left_out_inside += found.left_out_inside
                row.type, row.target = "a document in JSON", first

    def _terminals(self) -> None:
        terminals = self.outline.terminals
        if not terminals and not self.outline.ignored:
            return
        card = Card("terminals", "", "terminals")
        for terminal in (shown := self.first_rows(terminals)):
            written = " | ".join(terminal.alternatives)
            card.rows.append(
                Row(terminal.name, shortened(written, LONGEST), "string", tip=f"{terminal.name}: {written}")
            )
        if len(terminals) > len(shown):
            card.notes.append(f"and {len(terminals) - len(shown)} terminals more")
        card.notes += [f"ignored between terminals: {shortened(one, LONGEST)}" for one in self.outline.ignored]
        # The rule that the output is leads to it, so that it has a place.
        self.cards.append(card)
        if len(self.cards) > 1:
            self.cards[0].rows.append(Row("", "  terminals", tip="all terminals", target=len(self.cards) - 1))
