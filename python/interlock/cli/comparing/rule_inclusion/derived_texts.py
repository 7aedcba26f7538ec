"""Short texts of a grammar, one through each alternative, repetition and terminal in which it differs from another.

Examples seldom go through the one alternative that was added or removed. Here the shortest way from the start to a rule
is written down, then each of the rule's own ways, and the shortest text of all that stands beside them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

import interlock
from interlock.cli.comparing.rule_inclusion.expressions import Choice, Expression, Repeat, Sequence, Symbol, Unclear
from interlock.cli.comparing.rule_inclusion.grammar import Grammar
from interlock.cli.comparing.rule_inclusion.terminal_languages import Terminals
from interlock.cli.sources.source_arguments import Source
from interlock.samples.grammar_samples import example_of_grammar
from interlock.string_formats.everyday_words import WORDS

__all__ = ["derived_texts"]

MOST_WAYS = 400
"""Ways through the rules of one grammar that are written down."""
LONGEST = 200
"""Symbols of a way."""
MOST_COPIES = 40
"""Copies of what is repeated up to a bound."""

Way = tuple[Symbol, ...]
"""Terminals one after the other."""


def derived_texts(first: Source, second: Source, vocabulary: interlock.Vocabulary) -> Iterator[bytes]:
    """Texts of each grammar through what the other one does not have, and then through all that it has. Empty for
    other sources, and where a grammar is not understood. Costs some milliseconds for each terminal.
    """
    sources = (first, second)
    if any(source.kind != "grammar" or source.compiled is not None for source in sources):
        return
    if first.options["syntax"] != second.options["syntax"]:
        return
    try:
        one, other = (Grammar(source.text, source.options, vocabulary) for source in sources)
        for changed in (True, False):
            for grammar, beside in ((one, other), (other, one)):
                derivation = _Derivation(grammar, beside)
                for way in islice(derivation.ways(changed), MOST_WAYS):
                    yield from derivation.written(way)
    except (Unclear, RecursionError):
        return


@dataclass
class _Derivation:
    """Derives texts of ``grammar`` that show how it differs from ``other``."""

    grammar: Grammar
    other: Grammar
    shortest: dict[str, Way] = field(default_factory=dict)
    """For each rule its shortest way."""
    around: dict[str, tuple[Way, Way]] = field(default_factory=dict)
    """For each rule what stands before it and behind it on the shortest way from the start."""
    texts: dict[Symbol, list[bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        changed = True
        while changed:
            changed = False
            for name, body in self.grammar.rules.items():
                way = self.least(body)
                if way is not None and (name not in self.shortest or len(way) < len(self.shortest[name])):
                    self.shortest[name], changed = way, True
        self.around[self.grammar.start] = ((), ())
        waiting = [self.grammar.start]
        while waiting:
            name = waiting.pop(0)
            before, behind = self.around[name]
            for left, symbol, right in self.places(self.grammar.rules.get(name, Sequence(()))):
                if not self.grammar.is_rule(symbol):
                    continue
                new = (before + left, right + behind)
                old = self.around.get(symbol.text)
                if old is None or sum(map(len, new)) < sum(map(len, old)):
                    self.around[symbol.text] = new
                    waiting.append(symbol.text)

    def least(self, body: Expression) -> Way | None:
        """The shortest way through an expression; ``None`` where none is known."""
        if isinstance(body, Symbol):
            return self.shortest.get(body.text) if self.grammar.is_rule(body) else (body,)
        if isinstance(body, Repeat):
            way = self.least(body.body) if body.least else ()
            return None if way is None or len(way) * body.least > LONGEST else way * body.least
        ways = [self.least(part) for part in body.parts]
        if isinstance(body, Choice):
            return min((way for way in ways if way is not None), key=len, default=None)
        return _joined(ways)

    def beside(self, body: Sequence, at: int) -> tuple[Way | None, Way | None]:
        """The shortest of what stands before a part of a sequence, and of what stands behind it."""
        ways = [self.least(part) for part in body.parts]
        return _joined(ways[:at]), _joined(ways[at + 1 :])

    def places(self, body: Expression) -> Iterator[tuple[Way, Symbol, Way]]:
        """Each symbol of an expression, with the shortest of what must stand before it and behind it."""
        if isinstance(body, Symbol):
            yield (), body, ()
        elif isinstance(body, Repeat):
            rest = self.least(Repeat(body.body, max(body.least - 1, 0), None))
            if rest is not None and body.most != 0:
                yield from ((left, symbol, right + rest) for left, symbol, right in self.places(body.body))
        elif isinstance(body, Choice):
            for part in body.parts:
                yield from self.places(part)
        else:
            for at, part in enumerate(body.parts):
                before, behind = (
                    _joined([self.least(p) for p in ps]) for ps in (body.parts[:at], body.parts[at + 1 :])
                )
                if before is not None and behind is not None:
                    for left, symbol, right in self.places(part):
                        yield before + left, symbol, right + behind

    def counts(self, body: Expression) -> Iterator[Way]:
        """The ways on which a part is repeated as often as it may be, or once more than it must."""
        if isinstance(body, Repeat):
            way = self.least(body.body)
            for count in {body.least, body.least + 1, body.least + 2, body.most or 0}:
                if way is not None and count <= min(MOST_COPIES, body.most or MOST_COPIES):
                    yield way * count
            return
        if isinstance(body, Choice):
            for part in body.parts:
                yield from self.counts(part)
        elif isinstance(body, Sequence):
            for at, part in enumerate(body.parts):
                before, behind = (
                    _joined([self.least(p) for p in ps]) for ps in (body.parts[:at], body.parts[at + 1 :])
                )
                if before is not None and behind is not None:
                    yield from (before + way + behind for way in self.counts(part))

    def ways(self, changed: bool) -> Iterator[Way]:
        """A way through each symbol of the rules that differ, or of those that do not, and through each empty
        alternative and repetition. Those come first whose symbol the rule of the other grammar does not have.
        """
        for name, (before, behind) in self.around.items():
            body = self.grammar.rules.get(name)
            theirs = self.other.rules.get(name)
            if body is None or len(before) + len(behind) > LONGEST:
                continue
            known = {symbol for _, symbol, _ in self.places(body)} if body == theirs else set[Symbol]()
            if theirs is not None and body != theirs:
                known = {symbol for _, symbol, _ in self.places(theirs)}
            places = [place for place in self.places(body) if (body != theirs or self.differs(place[1])) == changed]
            inner = [(place, self.least(place[1])) for place in sorted(places, key=lambda place: place[1] in known)]
            for (left, _, right), way in inner:
                if way is not None:
                    yield before + left + way + right + behind
            if (body != theirs) == changed:
                yield from (before + way + behind for way in self.counts(body))

    def differs(self, symbol: Symbol) -> bool:
        """Whether a symbol is a terminal of which the other grammar says something else."""
        if self.grammar.is_rule(symbol):
            return False
        return self.grammar.terminals.meaning(symbol) != self.other.terminals.meaning(symbol)

    def written(self, way: Way) -> Iterator[bytes]:
        """The texts of a way: the terminals side by side, and with blanks between them where these are ignored."""
        if len(way) > LONGEST:
            return
        texts = [self.texts_of(symbol) for symbol in way]
        if not all(texts):
            return
        for number in range(max(map(len, texts), default=1)):
            parts = [known[min(number, len(known) - 1)] for known in texts]
            if self.grammar.ignored:
                yield b" ".join(parts)
            yield b"".join(parts)

    def texts_of(self, symbol: Symbol) -> list[bytes]:
        """A few texts of a terminal: first one that the terminal of the same name in the other grammar refuses."""
        if symbol not in self.texts:
            found = [self.text_of_it_alone(symbol), *_examples(self.grammar.terminals, symbol)]
            self.texts[symbol] = list(dict.fromkeys(text for text in found if text is not None))
        return self.texts[symbol]

    def text_of_it_alone(self, symbol: Symbol) -> bytes | None:
        """A text of a terminal that the terminal of the same name in the other grammar refuses."""
        if symbol.kind != "name" or not self.differs(symbol):
            return None
        ours, theirs = (terminals.index("{0}", symbol) for terminals in (self.grammar.terminals, self.other.terminals))
        if ours is None or theirs is None:
            return None
        try:
            return ours.witness_not_in(theirs)
        except interlock.InterlockError:
            return None


def _joined(ways: list[Way | None]) -> Way | None:
    """Ways one after the other; ``None`` where one is not known."""
    out: Way = ()
    for way in ways:
        if way is None or len(out) + len(way) > LONGEST:
            return None
        out += way
    return out


def _examples(terminals: Terminals, symbol: Symbol) -> Iterator[bytes | None]:
    """Plausible texts of a terminal."""
    literal = symbol.text
    if symbol.kind == "text" and literal[:1] == literal[-1:] == '"' and "\\" not in literal and len(literal) > 2:
        yield literal[1:-1].encode()
    elif (index := terminals.index("{0}", symbol)) is not None:
        for number in range(2):
            yield example_of_grammar(index, random.Random(f"{literal}/{number}"), WORDS)
