"""Which tokens a grammar names, read off its text: what a client may not name is refused before anything is compiled.

The symbols are those of the readers in ``src/grammar/lark/lexer.rs`` and ``src/grammar/bnf``: a quote inside a class of
characters or a comment inside a pattern must not hide a token from this reader that the other one sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from interlock._core import CancelToken
from interlock.util.cancelling import until_cancelled

__all__ = ["NamedTokens", "named_tokens"]


@dataclass(frozen=True)
class NamedTokens:
    """Tokens that stand in one place of a grammar."""

    written: str
    """How they are written there."""
    names: tuple[str, ...] = ()
    ranges: tuple[tuple[int, int], ...] = ()
    """Ids, from one to another."""
    is_complement: bool = False
    """Whether every token but these is meant."""
    is_clear: bool = True
    """Whether ``names`` and ``ranges`` are all that is meant."""


# Clients write these texts, so every pattern takes time linear in the text: what is not closed is taken up to where it
# would have to end, and never looked at again. The readers refuse it.
_LARK = re.compile(
    r"""//[^\n]*|\#[^\n]*|"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*"?|/[^/\\]*(?:\\[/\\]?[^/\\]*)*/?|@[\w./-]+"""
    r"""|<\[(?P<set>[^<\n]*?)\]>|<(?P<name>[^<>\s]+)>"""
)
_SYMBOL = re.compile(
    r"""\#[^\n\r]*|(?P<text>"[^"\\\n\r]*(?:\\[^\n\r][^"\\\n\r]*)*"?)|\[[^\]\\\n\r]*(?:\\.[^\]\\\n\r]*)*\]?"""
    r"""|(?P<token>!?<[^>\n]+>?)|(?P<word>[\w.-]+)|(?P<mark>[()=])"""
)
_MACROS = ("Token", "ExcludeToken", "TokenTagDispatch")


def named_tokens(text: str, syntax: str, cancel: CancelToken | None = None) -> Iterator[NamedTokens]:
    """The tokens that a grammar in ``"lark"``, ``"gbnf"`` or ``"ebnf"`` names, in the order of the text.

    A text that is no grammar has an answer too; compiling it says what is wrong. Linear in the text, and
    ``cancel`` ends it.

    >>> [found.names for found in named_tokens('start: "<a>" <b> // <c>', "lark")]
    [('<b>',)]
    >>> list(named_tokens('root ::= [^"] !<[7]> ["]', "gbnf"))
    [NamedTokens(written='!<[7]>', names=(), ranges=((7, 7),), is_complement=True, is_clear=True)]
    """
    # A search for one text is far quicker than the patterns, and most grammars name no token.
    if ("Token" if syntax == "ebnf" else "<") not in text:
        return
    if syntax == "lark":
        for match in until_cancelled(_LARK.finditer(text), cancel):
            if match["set"] is not None:
                yield _of_set(match["set"], match[0])
            elif match["name"] is not None:
                yield NamedTokens(match[0], (match[0],))
        return
    symbols = (match for match in until_cancelled(_SYMBOL.finditer(text), cancel) if match.lastgroup)
    if syntax == "gbnf":
        yield from (_of_gbnf(match[0]) for match in symbols if match["token"] is not None)
        return
    macro = ""
    for match in symbols:
        if macro and match[0] == "(":
            yield from _of_macro(macro, symbols)
        macro = match[0] if match["word"] in _MACROS else ""


def _of_set(inside: str, written: str) -> NamedTokens:
    """``<[1,5-7]>``, ``<[^1]>`` or ``<[*]>`` in Lark's notation."""
    if inside == "*":
        return NamedTokens(written, is_complement=True)
    ranges = []
    is_complement = inside.startswith("^")
    for part in inside.removeprefix("^").split(","):
        first, _, last = (end.strip() for end in part.partition("-"))
        if not first.isdecimal() or (last and not last.isdecimal()):
            return NamedTokens(written, is_clear=False)
        ranges.append((int(first), int(last or first)))
    return NamedTokens(written, (), tuple(ranges), is_complement)


def _of_gbnf(written: str) -> NamedTokens:
    """``<name>`` or ``<[1]>``, either with ``!`` for every other token."""
    name = written.removeprefix("!")
    is_complement = name != written
    if not name.startswith("<["):
        return NamedTokens(written, (name,), (), is_complement)
    number = name[2:-2].strip()
    if not number.isdecimal() or not name.endswith("]>"):
        return NamedTokens(written, is_clear=False)
    return NamedTokens(written, (), ((int(number), int(number)),), is_complement)


def _of_macro(macro: str, symbols: Iterator[re.Match[str]]) -> Iterator[NamedTokens]:
    """``Token(...)``, ``ExcludeToken(...)`` or ``TokenTagDispatch(...)`` of EBNF; ``symbols`` follow its parenthesis,
    and those up to the closing one are taken.

    Between the tags of a ``TokenTagDispatch`` stands every token but its triggers and its ``excludes``.
    """
    depth, excludes_depth = 1, 0
    named, excluded = _Arguments(), _Arguments()
    for match in symbols:
        depth += (match[0] == "(") - (match[0] == ")")
        if not depth:
            break
        if match[0] == "excludes":
            excludes_depth = depth + 1
        elif depth < excludes_depth and match[0] == ")":
            excludes_depth = 0
        (excluded if excludes_depth and depth >= excludes_depth else named).take(match)
    written = f"{macro}(...)"
    if macro != "ExcludeToken":
        yield NamedTokens(written, tuple(named.names), tuple(named.ranges), False, named.is_clear)
    if macro != "Token":
        names, ranges = (*named.names, *excluded.names), (*named.ranges, *excluded.ranges)
        yield NamedTokens(written, names, ranges, True, named.is_clear and excluded.is_clear)


class _Arguments:
    """The texts and the numbers among the arguments of a macro."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.ranges: list[tuple[int, int]] = []
        self.is_clear = True

    def take(self, match: re.Match[str]) -> None:
        """Take one argument of the macro. ``is_clear`` is false from then on if nothing sure can be said of it."""
        if match["text"] is not None:
            self.is_clear &= "\\" not in match[0]  # An escape may spell anything.
            self.names.append(match[0][1:-1])
        elif match["word"] in _MACROS:
            self.is_clear = False  # One inside of another means nothing.
        elif match["word"] is not None and match[0].isdecimal():
            self.ranges.append((int(match[0]), int(match[0])))
