"""The alternatives of a rule as a regular expression over symbols: terminals, and names of rules.

What is not surely understood is refused by `Unclear`, with the words for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from interlock.drawing.grammar_outline import Token, tokens_of

__all__ = ["Choice", "Expression", "Repeat", "Sequence", "Symbol", "Unclear", "expression"]

_CLOSED_BY = {"(": ")", "[": "]", "{": "}"}
_OPAQUE = ("%json", "%json_text", "%regex")
"""Directives of Lark's notation that stand for a terminal, with what follows in braces."""


class Unclear(Exception):
    """Something of which it is not known that more of a part is more of the whole. Its text says what."""


@dataclass(frozen=True)
class Symbol:
    """A piece of a rule: a ``text`` in quotes, brackets or slashes, a ``name``, or another ``part`` that is compared by
    how it is written.
    """

    kind: str
    text: str


@dataclass(frozen=True)
class Sequence:
    """One after the other; nothing where it has no parts."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class Choice:
    """Any one of these."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class Repeat:
    """From ``least`` to ``most`` copies, ``None`` for any number."""

    body: Expression
    least: int
    most: int | None


Expression = Symbol | Sequence | Choice | Repeat


def expression(text: str, syntax: str) -> Expression:
    """What the text of one or more alternatives says.

    >>> expression('"a" x? | B', "lark")
    Choice(parts=(Sequence(parts=(Symbol(kind='text', text='"a"'), Repeat(body=Symbol(kind='name', text='x'), least=0, \
most=1))), Symbol(kind='name', text='B')))
    """
    tokens = [token for token in tokens_of(text, syntax) if token.kind not in ("blank", "line")]
    return _Reader(tokens, syntax).whole()


@dataclass
class _Reader:
    """Reads the tokens of a rule's body from left to right. ``Unclear`` is raised for what has no form here."""

    tokens: list[Token]
    syntax: str
    at: int = 0
    depth: int = 0

    def whole(self) -> Expression:
        """All tokens as one expression. ``Unclear`` names the token that nothing reads."""
        found = self.choice()
        if self.at < len(self.tokens):
            raise Unclear(self.tokens[self.at].text)
        return found

    def peek(self, ahead: int = 0) -> str:
        """The next mark or directive; nothing at the end, and for other tokens."""
        at = self.at + ahead
        is_mark = at < len(self.tokens) and self.tokens[at].kind in ("mark", "directive")
        return self.tokens[at].text if is_mark else ""

    def take(self) -> Token:
        """The next token, which is read by that. ``Unclear`` at the end."""
        if self.at == len(self.tokens):
            raise Unclear("the end of the rule")
        self.at += 1
        return self.tokens[self.at - 1]

    def choice(self) -> Expression:
        """Alternatives with ``|`` between them. ``Unclear`` for groups that are nested a hundred deep."""
        self.depth += 1
        if self.depth > 100:
            raise Unclear("groups that are nested so deeply")
        parts = [self.sequence()]
        while self.peek() == "|":
            self.take()
            parts.append(self.sequence())
        self.depth -= 1
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def sequence(self) -> Expression:
        """The parts of one alternative, up to what ends it."""
        parts: list[Expression] = []
        while self.at < len(self.tokens) and self.peek() not in ("|", ")", "]", "}", ","):
            if self.peek() == "->" and self.syntax == "lark":
                self.take()
                self.take()
                continue
            parts.append(self.repeated(self.atom()))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def atom(self) -> Expression:
        """One part without what says how often it comes: a text, a name, a group."""
        token = self.take()
        if token.kind == "text":
            if self.peek() == "..":
                self.take()
                return Symbol("text", f"{token.text}..{self.take().text}")
            return Sequence(()) if token.text in ('""', '""i') else Symbol("text", token.text)
        if token.kind == "special":
            return Symbol("part", token.text)
        if token.kind == "name":
            return self.name(token.text)
        if token.text == "(":
            return self.closed(")")
        if token.text == "[" and self.syntax == "lark":
            return Repeat(self.closed("]"), 0, 1)
        if token.text == "." and self.syntax != "lark":
            return Symbol("text", ".")
        if token.text in _OPAQUE and self.syntax == "lark" and self.peek() == "{":
            return Symbol("part", f"{token.text} {''.join(self.braces())}")
        raise Unclear(token.text)

    def closed(self, mark: str) -> Expression:
        """The expression up to the closing ``mark``, which is read too."""
        found = self.choice()
        if self.take().text != mark:
            raise Unclear(mark)
        return found

    def braces(self) -> Iterator[str]:
        """The texts of all tokens up to the brace that closes the first one."""
        closers: list[str] = []
        while True:
            token = self.take()
            yield token.text
            if token.kind == "mark" and token.text in _CLOSED_BY:
                closers.append(_CLOSED_BY[token.text])
            elif token.kind == "mark" and closers and token.text == closers[-1]:
                closers.pop()
            if not closers:
                return

    def name(self, text: str) -> Symbol:
        """A name as a symbol. ``Unclear`` for a template, a capture and a macro."""
        if text.startswith("@"):
            return Symbol("part", text)
        if self.syntax == "ebnf" and self.peek() == "(" and text in ("Regex", "Substring"):
            return Symbol("part", text + "".join(self.braces()))
        if self.syntax == "ebnf" and self.peek() == "(" and text[:1].isupper():
            raise Unclear(text)  # A macro that may say what must not be.
        if self.peek() == "{" and not self.is_count():
            raise Unclear(f"the template {text}")
        if self.syntax == "lark" and self.peek() == "[" and self.tokens[self.at + 1].text == "capture":
            raise Unclear(f"{text}[capture]")
        return Symbol("name", text)

    def is_count(self) -> bool:
        """Whether the brace that comes next holds how often something comes."""
        return self.peek(1).isdigit() or self.peek(1) == ","

    def repeated(self, body: Expression) -> Expression:
        """``body`` with what stands behind it and says how often it comes: ``?``, ``*``, ``+``, ``{2,3}``."""
        while True:
            mark = self.peek()
            if mark in ("?", "*", "+"):
                self.take()
                body = Repeat(body, int(mark == "+"), 1 if mark == "?" else None)
            elif mark == "{" and self.is_count():
                self.take()
                body = self.counted(body, ",")
                if self.take().text != "}":
                    raise Unclear("{")
            elif mark == "~" and self.syntax == "lark" and self.peek(1).isdigit():
                self.take()
                body = self.counted(body, "..")
            else:
                return body

    def counted(self, body: Expression, to: str) -> Expression:
        """``body`` with a number, or two with ``to`` between them."""
        least = self.number()
        if self.peek() != to:
            if least is None:
                raise Unclear(to)
            return Repeat(body, least, least)
        self.take()
        most = self.number()
        if most is None and to == "..":
            raise Unclear(to)
        return Repeat(body, least or 0, most)

    def number(self) -> int | None:
        """The number whose digits come next; ``None`` where none comes."""
        digits = ""
        while self.peek().isdigit():
            digits += self.take().text
        return int(digits) if digits else None
