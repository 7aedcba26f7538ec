"""Grammars in EBNF and GBNF as rules in Lark's notation, so that they can stand inside another grammar."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from interlock._core import UnsupportedError
from interlock.tools.errors import StructuralTagError
from interlock.tools.tag_grammars.grammar_text import literal, pattern

if TYPE_CHECKING:
    from interlock.tools.tag_grammars.tag_grammar import GrammarBuilder

__all__ = ["lark_of_ebnf"]

_SYMBOL = re.compile(
    r"""(?P<blank>[ \t\r]+|#[^\n]*)|(?P<line>\n)|(?P<text>"(?:[^"\\\n]|\\.)*")|(?P<set>\[(?:[^\]\\]|\\.)*\])"""
    r"""|(?P<define>::=)|(?P<name>[A-Za-z_][A-Za-z0-9_.-]*)|(?P<token>!?<[^<>\n]+>)|(?P<count>\{\s*\d*\s*(?:,\s*\d*\s*)?\})"""
    r"""|(?P<mark>[|()*+?.])""",
)
_MACROS = ("Regex", "Token", "ExcludeToken", "TagDispatch", "TokenTagDispatch", "Substring", "StructuralTag")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", **{c: c for c in "\\\"[]-^'/"}}
"""Escapes of both notations, by the character behind the backslash."""
_EBNF_ESCAPES = {"f": "\f", "v": "\v", "0": "\0", "a": "\a", "b": "\b", "e": "\x1b"}
"""Escapes of EBNF alone. ``src/grammar/bnf/reader.rs`` reads whole grammars, and takes the same."""
_ESCAPE = re.compile(r"\\(?:x[0-9A-Fa-f]{2}|u\{[0-9A-Fa-f]+\}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_DIGITS = 20
"""Digits of a token's number that are read. Python itself reads 4,300 and no more."""


def lark_of_ebnf(
    source: str, prefix: str, syntax: str, builder: GrammarBuilder, pointer: str
) -> tuple[str, list[tuple[str, str]]]:
    """The name of the start rule, and all rules with their bodies. ``StructuralTagError`` for what is no grammar,
    ``UnsupportedError`` for macros that only a whole grammar may have."""
    symbols = _symbols(source, pointer)
    names: dict[str, str] = {}
    starts = [at for at in range(len(symbols) - 1) if symbols[at][0] == "name" and symbols[at + 1][0] == "define"]
    for at in starts:
        name = symbols[at][1]
        if name in names:
            raise StructuralTagError(f"the rule {name!r} is defined twice", pointer)
        names[name] = f"{prefix}x{len(names)}"
    if "root" not in names:
        raise StructuralTagError('the grammar has no rule "root"', pointer)
    if not starts or starts[0] != 0:
        raise StructuralTagError('a rule "name ::= ..." must begin the grammar', pointer)
    rules = []
    for index, at in enumerate(starts):
        end = starts[index + 1] if index + 1 < len(starts) else len(symbols)
        body = _body(symbols[at + 2 : end], names, syntax, builder, pointer)
        rules.append((names[symbols[at][1]], body))
    return names["root"], rules


def _symbols(source: str, pointer: str) -> list[tuple[str, str]]:
    found, at = [], 0
    while at < len(source):
        match = _SYMBOL.match(source, at)
        if match is None or match.lastgroup is None:
            line = source.count("\n", 0, at) + 1
            raise StructuralTagError(f"line {line} of the grammar: {source[at]!r} means nothing here", pointer)
        if match.lastgroup not in ("blank", "line"):
            found.append((match.lastgroup, match[0]))
        at = match.end()
    return found


def _body(
    symbols: list[tuple[str, str]], names: dict[str, str], syntax: str, builder: GrammarBuilder, pointer: str
) -> str:
    written: list[str] = []
    depth, at = 0, 0
    while at < len(symbols):
        kind, text = symbols[at]
        following = symbols[at + 1] if at + 1 < len(symbols) else ("", "")
        if kind == "text":
            value = _unescaped(text[1:-1], syntax, pointer)
            written.append(literal(value) if value else '""')
        elif kind == "set":
            written.append(_set(text, syntax, pointer))
        elif kind == "token":
            written.append(_token(text, builder, pointer))
        elif kind == "name" and text in _MACROS and following == ("mark", "("):
            macro, at = _macro(text, symbols, at, syntax, pointer)
            written.append(macro)
            continue
        elif kind == "name":
            if text not in names:
                raise StructuralTagError(f"the rule {text!r} is used, but not defined", pointer)
            written.append(names[text])
        elif kind == "count":
            numbers = text.strip("{}").split(",")
            least = numbers[0].strip() or "0"
            most = numbers[-1].strip() if len(numbers) > 1 else least
            written.append(f"{{{least},{most}}}")
        elif text == ".":
            written.append("/./s")
        else:
            depth += (text == "(") - (text == ")")
            if depth < 0:
                raise StructuralTagError("a parenthesis is closed that was not opened", pointer)
            written.append(text)
        at += 1
    if depth:
        raise StructuralTagError("a parenthesis is not closed", pointer)
    return " ".join(written)


def _token(text: str, builder: GrammarBuilder, pointer: str) -> str:
    inner = text.removeprefix("!")
    number = re.fullmatch(r"<\[([0-9]+)\]>", inner)
    if number and len(number[1].lstrip("0")) > _DIGITS:
        raise StructuralTagError(f"the vocabulary has no token with a number of more than {_DIGITS} digits", pointer)
    token: int | str = int(number[1].lstrip("0") or "0") if number else inner
    if text[0] == "!":
        return builder.any_but(builder.excluded_ids([token], pointer))
    return f"<[{builder.id_of(token, pointer)}]>"


def _macro(name: str, symbols: list[tuple[str, str]], at: int, syntax: str, pointer: str) -> tuple[str, int]:
    end = next((index for index in range(at, len(symbols)) if symbols[index] == ("mark", ")")), None)
    if end is None:
        raise StructuralTagError("a parenthesis is not closed", pointer)
    inner = symbols[at + 2 : end]
    if name == "Regex" and len(inner) == 1 and inner[0][0] == "text":
        return pattern(_unescaped(inner[0][1][1:-1], syntax, pointer)), end + 1
    raise UnsupportedError(f"at {pointer}: the macro {name} inside a structural tag is a format of its own: write that")


def _unescaped(text: str, syntax: str, pointer: str) -> str:
    """``text`` with the characters that its escapes name. ``StructuralTagError`` for an escape that names none."""

    def one(match: re.Match[str]) -> str:
        escape = match[0]
        if len(escape) > 2 and (escape[2] != "{" or syntax == "ebnf"):
            code = int(escape[2:].strip("{}"), 16)
            if code <= 0x10FFFF and not 0xD800 <= code < 0xE000:
                return chr(code)
        elif escape[1] in _ESCAPES:
            return _ESCAPES[escape[1]]
        elif escape[1] in _EBNF_ESCAPES and syntax == "ebnf":
            return _EBNF_ESCAPES[escape[1]]
        forms = "the forms are \\xHH, \\uHHHH and \\UHHHHHHHH"
        raise StructuralTagError(f"the escape {escape} in the grammar names no character; {forms}", pointer)

    return _ESCAPE.sub(one, text)


def _set(text: str, syntax: str, pointer: str) -> str:
    """A class of characters as a pattern."""
    inner = text[1:-1]
    start = "^" if inner.startswith("^") else ""
    inner = inner[len(start) :]
    written, at = [], 0
    while at < len(inner):
        match = _ESCAPE.match(inner, at)
        piece = match[0] if match else inner[at]
        char = _unescaped(piece, syntax, pointer)
        is_range = piece == "-" and 0 < at < len(inner) - 1
        written.append("-" if is_range else char if char.isalnum() or char == "_" else f"\\x{{{ord(char):x}}}")
        at += len(piece)
    body = "".join(written)
    if not body:
        return "/./s" if start else "/[^\\s\\S]/"
    return f"/[{start}{body}]/s"
