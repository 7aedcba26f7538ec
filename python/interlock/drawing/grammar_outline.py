"""What a grammar's text defines: rules and terminals with their alternatives, as they are written.

This is for readers, of grammars that were compiled: it cuts the text at its definitions and bars, and knows no more of
the three notations than that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = [
    "Definition",
    "Outline",
    "Statement",
    "Token",
    "outline",
    "split_alternatives",
    "statements",
    "tokens_of",
    "written",
]

_LARK = re.compile(
    r"""(?P<comment>//[^\n]*|\#[^\n]*)
    |(?P<text>"(?:\\.|[^"\\\n])*"i?|/(?![/*])(?:\\.|[^/\\\n])+/[a-z]*)
    |(?P<special><[^<>\s][^<>\n]*>)
    |(?P<name>@?[A-Za-z_]\w*)
    |(?P<directive>%[a-z]+)
    |(?P<line>\n)|(?P<blank>[^\S\n]+)|(?P<mark>->|\.\.|.)""",
    re.VERBOSE,
)
_BACKUS = re.compile(
    r"""(?P<comment>\#[^\n]*)
    |(?P<text>"(?:\\.|[^"\\\n])*"|\[(?:\\.|[^\]\\])*\])
    |(?P<special>!?<[^<>\s][^<>\n]*>)
    |(?P<name>[A-Za-z_][\w-]*)
    |(?P<line>\n)|(?P<blank>[^\S\n]+)|(?P<mark>::=|.)""",
    re.VERBOSE,
)


@dataclass
class Definition:
    """A rule or terminal: its name, its alternatives as they are written, and the names in each of them."""

    name: str
    is_terminal: bool
    alternatives: list[str] = field(default_factory=list)
    names: list[list[str]] = field(default_factory=list)


@dataclass
class Outline:
    """The definitions of a grammar in the order of its text, and what is ignored between terminals."""

    definitions: dict[str, Definition]
    ignored: list[str] = field(default_factory=list)

    @property
    def rules(self) -> list[Definition]:
        """Definitions that are no terminals."""
        return [definition for definition in self.definitions.values() if not definition.is_terminal]

    @property
    def terminals(self) -> list[Definition]:
        """Definitions of terminals; there are none but in Lark's notation."""
        return [definition for definition in self.definitions.values() if definition.is_terminal]


@dataclass(frozen=True)
class Token:
    """A piece of a grammar's text: ``text`` in quotes, a ``name``, a ``mark``, a ``blank``, a ``line``, and others."""

    kind: str
    text: str


@dataclass
class Statement:
    """A definition or a directive as it is written, without comments, blanks where lines and blanks were."""

    kind: str
    """``rule``, ``terminal``, ``directive``, or ``other`` for what is not understood."""
    name: str
    """What is defined; empty for others."""
    head: str
    """What stands before the colon, or the word of the directive."""
    text: str
    alternatives: list[str]
    names: set[str]
    """All names in it."""
    marks: set[str]
    """The marks behind the colon, digits aside."""


def tokens_of(text: str, syntax: str) -> list[Token]:
    """The pieces of a grammar, or of a part of one, without comments."""
    pattern = _LARK if syntax == "lark" else _BACKUS
    return [Token(str(m.lastgroup), m[0]) for m in pattern.finditer(text) if m.lastgroup != "comment"]


def statements(text: str, syntax: str) -> list[Statement]:
    """The statements of a grammar in their order. Costs a pass over the text."""
    tokens = tokens_of(text, syntax)
    found = _lark_statements(tokens) if syntax == "lark" else _backus_statements(tokens)
    return [_statement(statement, syntax) for statement in found]


def _statement(tokens: list[Token], syntax: str) -> Statement:
    while tokens[0].kind in ("blank", "line"):
        tokens = tokens[1:]
    define = ":" if syntax == "lark" else "::="
    at = next((i for i, t in enumerate(tokens) if t.kind == "mark" and t.text == define), None)
    name = next((t.text for t in tokens[: at or 0] if t.kind == "name"), "")
    kind, head, body = "other", tokens[0].text, tokens
    if tokens[0].kind == "directive":
        kind, name = "directive", ""
    elif at is not None and name:
        kind = "terminal" if syntax == "lark" and name.lstrip("_")[:1].isupper() else "rule"
        head, body = written(tokens[:at]), tokens[at + 1 :]
    alternatives = [written(part) for part in split_alternatives(body)] if kind in ("rule", "terminal") else []
    names = {t.text for t in tokens if t.kind == "name"}
    marks = {t.text for t in body if t.kind in ("mark", "directive") and not t.text.isdigit()}
    return Statement(kind, name, head, written(tokens), alternatives, names, marks)


def outline(text: str, syntax: str) -> Outline:
    """The outline of a grammar. Never fails: what is not understood is left out. Costs a pass over the text."""
    found = Outline({})
    tokens = tokens_of(text, syntax)
    for statement in _lark_statements(tokens) if syntax == "lark" else _backus_statements(tokens):
        _add(found, statement, syntax)
    return found


def _lark_statements(tokens: list[Token]) -> list[list[Token]]:
    """Statements end with a line, outside of brackets, unless the next line goes on with a bar."""
    statements: list[list[Token]] = [[]]
    depth = 0
    for i, token in enumerate(tokens):
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}")) if token.kind == "mark" else 0
        if token.kind == "line" and depth <= 0:
            following = next((t for t in tokens[i + 1 :] if t.kind not in ("blank", "line")), None)
            if following is None or following.text != "|":
                statements.append([])
                continue
        statements[-1].append(token)
    return [statement for statement in statements if any(t.kind not in ("blank", "line") for t in statement)]


def _backus_statements(tokens: list[Token]) -> list[list[Token]]:
    """A statement begins with a name before ``::=``."""
    starts = []
    for i, token in enumerate(tokens):
        if token.text == "::=":
            before = i - 1
            while before >= 0 and tokens[before].kind in ("blank", "line"):
                before -= 1
            if before >= 0 and tokens[before].kind == "name":
                starts.append(before)
    return [tokens[start:end] for start, end in zip(starts, [*starts[1:], len(tokens)])]


def _add(found: Outline, statement: list[Token], syntax: str) -> None:
    tokens = [t for t in statement if t.kind not in ("blank", "line")]
    if tokens[0].kind == "directive":
        if tokens[0].text == "%ignore":
            found.ignored.append(written(statement[1:]))
            return
        if tokens[0].text not in ("%override", "%extend"):
            return
        statement = statement[statement.index(tokens[0]) + 1 :]
        tokens = tokens[1:]
    define = ":" if syntax == "lark" else "::="
    at = next((i for i, t in enumerate(statement) if t.kind == "mark" and t.text == define), None)
    name = next((t.text for t in tokens if t.kind == "name"), None)
    if at is None or name is None:
        return
    is_terminal = syntax == "lark" and name.lstrip("_")[:1].isupper()
    definition = found.definitions.setdefault(name, Definition(name, is_terminal))
    for alternative in split_alternatives(statement[at + 1 :]):
        definition.alternatives.append(written(alternative))
        definition.names.append([t.text for t in alternative if t.kind == "name"])


def split_alternatives(body: list[Token]) -> list[list[Token]]:
    """The alternatives of a definition or a group: what the bars outside of brackets divide."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in body:
        if token.kind == "mark":
            depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
            if token.text == "|" and depth <= 0:
                parts.append([])
                continue
        parts[-1].append(token)
    return parts


def written(tokens: list[Token]) -> str:
    """What stands there, on one line."""
    parts: list[str] = []
    for token in tokens:
        is_blank = token.kind in ("blank", "line")
        if not is_blank or parts and parts[-1] != " ":
            parts.append(" " if is_blank else token.text)
    return "".join(parts).rstrip(" ")
