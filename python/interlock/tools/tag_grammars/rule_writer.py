"""Writes rules and terminals of a grammar in Lark's notation, and the texts and special tokens in them.

What a structural tag looks like is told in ``tag_grammar`` and ``tag_sequences``; here is what they write with.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Literal

from interlock._core import Limits, UnsupportedError, Vocabulary
from interlock.tools.errors import StructuralTagError
from interlock.tools.notations.json_writing import JsonWriting
from interlock.tools.requests.source_size import most_bytes, too_long_already
from interlock.tools.spec import nodes
from interlock.tools.tag_grammars.grammar_text import ANY, literal, pattern, without
from interlock.tools.tokens.allowed_tokens import (
    AllowedNames,
    AllowedTokens,
    allowed_tokens,
    special_ids,
    special_names,
)

__all__ = ["RuleWriter", "Stop", "Stops", "any_of", "special_names"]

Stop = str | nodes.Token | nodes.Regex
Stops = tuple[Stop, ...]
"""What ends the text of a format, and may not stand in it."""


@functools.lru_cache(maxsize=4)
def any_of(texts: tuple[str, ...]) -> re.Pattern[str] | None:
    """Finds the texts that are not empty, the longest of those that begin at one place."""
    known = sorted((text for text in texts if text), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, known))) if known else None


class RuleWriter:
    """The lines of a grammar that is being written, each with the place in the structural tag that it comes from."""

    def __init__(
        self,
        tag: nodes.StructuralTag,
        vocabulary: Vocabulary,
        closed: bool,
        json: JsonWriting | None = None,
        spellable: str = "",
        allowed: Iterable[int | str] | None = None,
        limits: Limits | Mapping[str, int] | None = None,
    ) -> None:
        self.tag, self.closed, self.json, self.spellable = tag, closed, json or JsonWriting(), spellable
        self.ids = special_names(vocabulary)
        self.allowed: AllowedTokens | AllowedNames | None = (
            None if allowed is None else allowed_tokens(tuple(allowed), vocabulary)
        )
        self.special_ids: Set[int] = special_ids(vocabulary)
        self.stop_ids = set(vocabulary.eos_token_ids)
        self.size = vocabulary.size
        self.delimiters = any_of(tuple(text for text in tag.special_tokens if text in self.ids))
        self.lines: list[tuple[str, str]] = []
        self.most_bytes = most_bytes(limits)
        self._counted = self._characters = 0
        self.known: dict[Any, str] = {}
        self.kept: list[Any] = []
        self.count = itertools.count(1)
        self.terminals: dict[str, str] = {}
        self.rules: dict[tuple[str, str], str] = {}
        self.literals: dict[str, str] = {}
        #: What the place is inside of: "" at the top, where text is text.
        self.inside: Literal["", "tag", "call", "arguments"] = ""

    def rule(self, body: str, pointer: str, event: str = "") -> str:
        """The name of the rule for ``body``, which is written once: two readings of one text are twice the work, in
        masks and in budgets. ``event`` is what its text is reported as.
        """
        key = (event, body)
        if key not in self.rules:
            name = self.rules[key] = f"r{next(self.count)}"
            reported = f'[event="{event}"]' if event else ""
            self.lines.append((f"{name}{reported}: {body}", pointer))
        return self.rules[key]

    def event(self, name: str, body: str, pointer: str) -> str:
        """A rule whose text is reported: ``name`` says as what."""
        return self.rule(body, pointer, name)

    def plain(self, body: str, pointer: str) -> str:
        """What is text, unless it is inside of something else."""
        return body if self.inside else self.event("text", body, pointer)

    def within(self, place: Literal["", "tag", "call", "arguments"], node: Any, stops: Stops, pointer: str) -> str:
        """The rule of a format inside of something."""
        before, self.inside = self.inside, place
        try:
            return self.format(node, stops, pointer)
        finally:
            self.inside = before

    def reserve(self) -> str:
        """A name for a rule that ``define`` writes later, such as one that contains itself."""
        return f"r{next(self.count)}"

    def define(self, name: str, body: str, pointer: str) -> None:
        """Write the rule of a name that was reserved."""
        self.lines.append((f"{name}: {body}", pointer))

    def terminal(self, body: str, pointer: str) -> str:
        """The name of the terminal for ``body``, which is written once. It holds only what the vocabulary can spell."""
        if body not in self.terminals:
            self.terminals[body] = f"T{len(self.terminals) + 1}"
            written = f"({body}) & {self.spellable}" if self.spellable else body
            self.lines.append((f"{self.terminals[body]}: {written}", pointer))
        return self.terminals[body]

    def choice(self, parts: Iterable[str], pointer: str) -> str:
        """The rule of one of ``parts``; the part itself where all are equal."""
        distinct = list(dict.fromkeys(parts))
        return distinct[0] if len(distinct) == 1 else self.rule(" | ".join(distinct), pointer)

    def check_length(self) -> None:
        """``LimitError`` where the lines so far are already more than a source may have. A server need not write the
        rest of what it refuses.
        """
        self._characters += sum(len(line) + 1 for line, _ in self.lines[self._counted :])
        self._counted = len(self.lines)
        if self._characters > self.most_bytes:
            raise too_long_already(self._characters, self.most_bytes)

    def format(self, node: Any, stops: Stops, pointer: str) -> str:
        """The rule of a format whose texts hold nothing of ``stops``."""
        raise NotImplementedError

    # --- texts and tokens ---------------------------------------------------------------------------------------

    def pieces(self, text: str) -> list[str | int]:
        """``text`` as texts and ids of special tokens."""
        if self.delimiters is None:
            return [text] if text else []
        found: list[str | int] = []
        at = 0
        for token in self.delimiters.finditer(text):
            if self.allowed is not None:
                self.allowed.check(self.ids[token[0]], token[0], "/format")
            found += [text[at : token.start()], self.ids[token[0]]]
            at = token.end()
        return [piece for piece in (*found, text[at:]) if piece != ""]

    def literal(self, text: str) -> str:
        """A delimiter. ``""`` for one without characters."""
        if text not in self.literals:
            pieces = [literal(one) if isinstance(one, str) else f"<[{one}]>" for one in self.pieces(text)]
            self.literals[text] = " ".join(pieces)
        return self.literals[text]

    def id_of(self, token: int | str, pointer: str) -> int:
        """The id of a token that is given by its id or text. ``StructuralTagError`` if the vocabulary does not have it,
        and for a token that may not be named.
        """
        if isinstance(token, int):
            if token >= self.size:
                raise StructuralTagError(f"the vocabulary has no token {token}: it has {self.size}", pointer)
        elif token not in self.ids:
            raise StructuralTagError(f"the vocabulary has no special token {token!r}", pointer)
        number = token if isinstance(token, int) else self.ids[token]
        if self.allowed is not None:
            self.allowed.check(number, token, pointer)
        return number

    def any_but(self, excluded: Sequence[int]) -> str:
        """Any token but these, and but those that may not be named."""
        return _other([*excluded, *(self.allowed.refused() if self.allowed is not None else ())])

    def ids_of(self, tokens: Iterable[int | str], pointer: str) -> list[int]:
        """The ids of tokens, as ``id_of`` finds each."""
        return [self.id_of(token, f"{pointer}/{index}") for index, token in enumerate(tokens)]

    def excluded_ids(self, tokens: Iterable[int | str], pointer: str) -> list[int]:
        """Ids of tokens that may not come. Those that may not be named either can be named here."""
        with self.naming_any():
            return self.ids_of(tokens, pointer)

    @contextlib.contextmanager
    def naming_any(self) -> Iterator[None]:
        """Any special token may be named meanwhile."""
        allowed, self.allowed = self.allowed, None
        try:
            yield
        finally:
            self.allowed = allowed

    def text(self, taboo: Iterable[Stop], pointer: str, most: int | None = None) -> str:
        """Any text in which nothing of ``taboo`` stands."""
        inside = ANY if most is None else f"/.{{0,{most}}}/s"
        # Where a token is to be kept out, its bytes are too: whoever reads the output may see bytes only.
        taboo = tuple(taboo)
        body = without((one for one in taboo if isinstance(one, str)), inside)
        patterns = dict.fromkeys(one.pattern for one in taboo if isinstance(one, nodes.Regex))
        anywhere = (one for one in patterns if not one.startswith("^"))
        body += "".join(f" & ~({ANY} {pattern(one)} {ANY})" for one in anywhere)
        body += "".join(f" & ~({pattern(one)} {ANY})" for one in patterns if one.startswith("^"))
        return self.terminal(body, pointer)

    def bounded(self, text: str, most: int, pointer: str) -> str:
        """A text of which at most so many tokens hold a part."""
        name = self.reserve()
        self.lines.append((f"{name}[max_tokens={most}]: {text}", f"{pointer}/max_tokens"))
        return name

    def between(self, excluded: Sequence[int], stops: Stops, pointer: str, excludes: Stops = ()) -> str:
        """Any tokens but the excluded ones, and no text of ``stops`` or ``excludes``."""
        odd = next((number for number in excluded if number not in self.special_ids), None)
        if odd is not None:
            raise UnsupportedError(
                f"at {pointer}: token {odd} is no special token of the vocabulary, and tokens of plain text cannot be "
                "told apart from their text here"
            )
        out = set(excluded) | {self.id_of(one.token, pointer) for one in stops if isinstance(one, nodes.Token)}
        first = text = self.text((*stops, *excludes), pointer)
        begins = [one for one in excludes if isinstance(one, nodes.Regex) and one.pattern.startswith("^")]
        if begins:
            text = self.text((*stops, *(one for one in excludes if one not in begins)), pointer)
        single = [one for stop in stops if isinstance(stop, str) and len(one := self.pieces(stop)) == 1]
        out |= {number for (number,) in single if isinstance(number, int)}
        out |= set(self.allowed.refused()) if self.allowed is not None else set()
        allowed = sorted(self.special_ids - self.stop_ids - out)
        if not allowed:
            return first
        return self.rule(f"{first} (<[{','.join(map(str, allowed))}]> {text})*", pointer)


def _other(excluded: Sequence[int]) -> str:
    return f"<[^{','.join(map(str, sorted(set(excluded))))}]>" if excluded else "<[*]>"
