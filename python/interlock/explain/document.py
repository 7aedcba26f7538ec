"""A JSON document with the place of every value in its text.

``parse`` reads what RFC 8259 allows and says at the first character that it does not allow what would be right there.
Offsets count characters of the text, from 0.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

from interlock.util.argument_types import require
from interlock.util.json_pointer import escaped

BLANKS = " \t\n\r"
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
LITERALS = {"true": True, "false": False, "null": None}
ELSEWHERE = {"True": "true", "False": "false", "None": "null", "undefined": "null", "NaN": "null", "Infinity": "null"}


TRIED = 100
"""Brackets and braces at which ``embedded`` tries to read a value."""


class NotJson(Exception):
    """The text is no JSON: ``offset`` is where, ``message`` what is wrong, and ``hint`` what helps, or empty."""

    partial: Node | None = None
    """What was read until there: what was open ends at ``offset``."""

    def __init__(self, message: str, offset: int, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.hint = hint


@dataclass(slots=True)
class Member:
    """One member of an object: its key, where the key stands, and its value."""

    key: str
    start: int
    end: int
    value: Node


@dataclass(slots=True)
class Node:
    """A value: its type in JSON's words, what it is, and where it stands.

    ``value`` is a ``str``, a ``Decimal``, a ``bool`` or ``None``; of arrays and objects see ``items`` and ``members``.
    """

    kind: str
    start: int
    end: int
    value: str | Decimal | bool | None = None
    items: list[Node] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)

    def get(self, key: str) -> Node | None:
        """The value of the last member with this key."""
        return next((m.value for m in reversed(self.members) if m.key == key), None)

    def walk(self, pointer: str = "") -> Iterator[tuple[str, Node]]:
        """This value and all in it, each with its JSON Pointer."""
        yield pointer, self
        for i, item in enumerate(self.items):
            yield from item.walk(f"{pointer}/{i}")
        for member in self.members:
            yield from member.value.walk(f"{pointer}/{escaped(member.key)}")


def parse(text: str) -> Node:
    """The value that ``text`` spells. ``NotJson`` if it is not JSON, ``RecursionError`` if it nests too deeply."""
    require(text=(text, "text"))
    reader = _Reader(text)
    at = reader.blank(0)
    if at == len(text):
        raise NotJson("the text is empty; a value is expected", at)
    try:
        node = reader.value(at)
    except NotJson as error:
        error.partial = reader.partial(error.offset)
        raise
    at = reader.blank(node.end)
    if at < len(text):
        raise NotJson("the document has ended; nothing may follow", at, reader.hint(at) or _hint_behind(text[at], node))
    return node


def _hint_behind(mark: str, document: Node) -> str:
    """What was probably meant by a character behind a document; empty where nothing is known."""
    if mark in "}]":
        return f"leave out this {mark}, or write what it should close"
    if mark == ":" and document.kind == "string":
        return "write { before the first key, and } behind the last value"
    return ""


def embedded(text: str, at: int = 0) -> int | None:
    """Where the longest object or array in a text begins, from ``at`` on: one that is JSON, or that the end of the text
    cuts off. ``None`` where there is none.

    >>> embedded('Sure! {"a": 1}'), embedded("[1] says {}, [] and [2, 3]"), embedded('So: {"a": '), embedded("{a}")
    (6, 20, 4, None)
    """
    longest, found, end = 0, None, at
    for begin in [match.start() for match in re.compile(r"[{[]").finditer(text, at)][:TRIED]:
        if begin < end:  # It is part of one that was read.
            continue
        try:
            end = _Reader(text).value(begin).end
        except NotJson as error:
            if error.offset < len(text):
                continue
            end = len(text)
        except RecursionError:
            return begin
        if end - begin > longest:
            longest, found = end - begin, begin
    return found


_BEGINS = '"{[0123456789-tfn'
"""What a value begins with."""


class _Reader:
    """Reads one JSON text, and raises ``NotJson`` with the place where it goes wrong."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.open: list[tuple[Node, list[tuple[str, int, int]]]] = []
        """Containers that have begun, each with the key whose value is being read."""

    def partial(self, end: int) -> Node | None:
        """What was read, as if everything that is open ended at ``end``."""
        child: Node | None = None
        for node, key in reversed(self.open):
            node.end = end
            if child is not None and node.kind == "array":
                node.items.append(child)
            elif child is not None:
                node.members.append(Member(*key[0], child))
            child = node
        return child

    def blank(self, at: int) -> int:
        """The first place from ``at`` on that is no white space."""
        while at < len(self.text) and self.text[at] in BLANKS:
            at += 1
        return at

    def hint(self, at: int) -> str:
        """What was probably meant by what stands at ``at``; empty where nothing is known."""
        rest = self.text[at : at + 12]
        if rest.startswith(("//", "/*", "#")):
            return "JSON has no comments"
        if rest.startswith("'"):
            return "JSON's strings are in double quotes"
        if rest.startswith("```"):
            return "leave out the code fence around the document"
        word = re.match(r"[+-]?[A-Za-z]+", rest)
        if word and (right := ELSEWHERE.get(word[0].lstrip("+-"))):
            return f"JSON has no {word[0]}; write {right}"
        if rest[:1] in "“”„‟" and rest:
            return "JSON's quotes are plain ones: \""
        if re.match(r"<(!|\?xml|html)", rest, re.IGNORECASE):
            return "this is a page of HTML or XML, such as a server answers in the place of a file: get the file again"
        return ""

    def hint_of_key(self, at: int) -> str:
        """What was probably meant where a key should begin."""
        word = re.match(r"[A-Za-z_$][\w$-]*(?=\s*:)", self.text[at : at + 200])
        return f'write "{word[0]}", in double quotes' if word else self.hint(at)

    def value(self, at: int) -> Node:
        """The value that begins at ``at``. ``NotJson`` if none does."""
        text = self.text
        if at >= len(text):
            raise NotJson("the text ends where a value is expected", at)
        c = text[at]
        if c == "{":
            return self.object(at)
        if c == "[":
            return self.array(at)
        if c == '"':
            value, end = self.string(at)
            return Node("string", at, end, value)
        if c == "-" or c.isdigit():
            return self.number(at)
        for word, constant in LITERALS.items():
            if text.startswith(word, at):
                return Node("null" if constant is None else "boolean", at, at + len(word), constant)
        raise NotJson("a value is expected", at, self.hint(at))

    def number(self, at: int) -> Node:
        """The number that begins at ``at``. ``NotJson`` for one that JSON does not have."""
        match = NUMBER.match(self.text, at)
        if match is None:
            raise NotJson("a digit is expected after -", at + 1, self.hint(at))
        end = match.end()
        more = self.text[end : end + 1]
        if more.isdigit():
            raise NotJson("a number has no zeros in front", at)
        if more == ".":
            raise NotJson("a digit is expected after the point", min(end + 1, len(self.text)))
        if more in ("e", "E"):
            raise NotJson("a digit is expected in the exponent", min(end + 1, len(self.text)))
        try:
            return Node("number", at, end, Decimal(match[0]))
        except InvalidOperation:  # An exponent beyond what Decimal can hold.
            return Node("number", at, end, None)

    def string(self, at: int) -> tuple[str, int]:
        """The text of the string that begins at ``at``, and the place behind it. ``NotJson`` for a string that JSON
        does not have.
        """
        text, begin, parts = self.text, at, []
        at += 1
        while True:
            match = PLAIN.match(text, at)
            assert match is not None
            parts.append(match[0])
            at = match.end()
            if at >= len(text):
                raise NotJson("the text ends inside a string", len(text))
            c = text[at]
            if c == '"':
                whole = "".join(parts)
                try:
                    return whole.encode("utf-16", "surrogatepass").decode("utf-16"), at + 1
                except UnicodeDecodeError:
                    raise NotJson("half of a surrogate pair stands alone in this string", begin) from None
            if c != "\\":
                name = {"\n": "a line break", "\t": "a tab"}.get(c, "a control character")
                way = {"\n": r"\n", "\t": r"\t"}.get(c, f"\\u{ord(c):04x}")
                raise NotJson(f"{name} may not stand in a string", at, f"write {way}")
            after = text[at + 1 : at + 2]
            if after == "u":
                digits = text[at + 2 : at + 6]
                if re.fullmatch("[0-9a-fA-F]{4}", digits) is None:
                    raise NotJson("four hexadecimal digits are expected after \\u", min(at + 2, len(text)))
                parts.append(chr(int(digits, 16)))
                at += 6
            elif after in ESCAPES and after:
                parts.append(ESCAPES[after])
                at += 2
            else:
                raise NotJson(f"\\{after} is no escape of JSON", at, r"there are \" \\ \/ \b \f \n \r \t and \uXXXX")

    def array(self, begin: int) -> Node:
        """The array that begins at ``begin``. ``NotJson`` where it goes wrong."""
        node = Node("array", begin, begin)
        self.open.append((node, []))
        at = self.blank(begin + 1)
        if self.text[at : at + 1] == "]":
            return self.closed(node, at + 1)
        while True:
            if self.text[at : at + 1] == "]":
                raise NotJson("a value is expected after the comma", at, "leave out the comma before ]")
            node.items.append(self.value(at))
            at = self.separator(node.items[-1].end, "]", "array", begin)
            if self.text[at] == "]":
                return self.closed(node, at + 1)
            at = self.blank(at + 1)

    def object(self, begin: int) -> Node:
        """The object that begins at ``begin``. ``NotJson`` where it goes wrong."""
        node = Node("object", begin, begin)
        key: list[tuple[str, int, int]] = []
        self.open.append((node, key))
        at = self.blank(begin + 1)
        if self.text[at : at + 1] == "}":
            return self.closed(node, at + 1)
        while True:
            c = self.text[at : at + 1]
            if not c:
                raise NotJson(f"the text ends inside the object that begins {self.place(begin)}", at)
            if c == "}":
                raise NotJson("a key is expected after the comma", at, "leave out the comma before }")
            if c != '"':
                raise NotJson("a key in double quotes is expected", at, self.hint_of_key(at))
            name, end = self.string(at)
            key[:] = [(name, at, end)]
            colon = self.blank(end)
            if self.text[colon : colon + 1] != ":":
                where = "the text ends where a colon is" if colon >= len(self.text) else "a colon is"
                found = self.text[colon : colon + 1]
                hint = "write : for =" if found == "=" else "write : before it" if found and found in _BEGINS else ""
                raise NotJson(f"{where} expected after the key", colon, hint)
            value = self.value(self.blank(colon + 1))
            node.members.append(Member(name, at, end, value))
            at = self.separator(value.end, "}", "object", begin)
            if self.text[at] == "}":
                return self.closed(node, at + 1)
            at = self.blank(at + 1)

    def closed(self, node: Node, end: int) -> Node:
        """``node``, which is the innermost open container and ends at ``end``."""
        self.open.pop()
        node.end = end
        return node

    def separator(self, at: int, closer: str, kind: str, begin: int) -> int:
        """The place of the comma or the closer from ``at`` on. ``NotJson`` for anything else."""
        at = self.blank(at)
        if at >= len(self.text):
            raise NotJson(f"the text ends inside the {kind} that begins {self.place(begin)}", at)
        if self.text[at] not in ("," + closer):
            hint = "write a comma before it" if self.text[at] in _BEGINS else ""
            raise NotJson(f"a comma or {closer} is expected", at, self.hint(at) or hint)
        return at

    def place(self, at: int) -> str:
        """Line and column of a place, in words."""
        line, column = line_column(self.text, at)
        return f"at line {line}, column {column}"


def line_column(text: str, at: int) -> tuple[int, int]:
    """Line and column, both from 1, of a character."""
    require(text=(text, "text"), at=(at, "count"))
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


class LineStarts:
    """Where the lines of a text begin: line and column of many characters, each without a walk from its beginning."""

    def __init__(self, text: str) -> None:
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def line_column(self, at: int) -> tuple[int, int]:
        """What the function of this name says of the character ``at``."""
        line = bisect_right(self.starts, at)
        return line, at - self.starts[line - 1] + 1
