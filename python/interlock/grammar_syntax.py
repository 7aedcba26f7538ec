"""In which notation a grammar is written, told by its text.

Servers have one field for grammars, and clients send what another engine read: Lark's notation, llama.cpp's GBNF or
XGrammar's EBNF. The three can be told apart by their definitions:

* ``name: ...`` defines in Lark's notation, ``name ::= ...`` in the other two.
* A special token in angles (``<|end|>``, ``<[17]>``) or a single ``.`` for any character is GBNF's.
* Everything else with ``::=`` is read as EBNF. What GBNF and EBNF share means the same in both, and EBNF also lets a
  body go on over several lines.

>>> syntax_of('start: "a" B'), syntax_of('root ::= "a"'), syntax_of('root ::= "a" . <|end|>')
('lark', 'ebnf', 'gbnf')
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

from interlock._core import Limits, check_grammar
from interlock.util.cancelling import until_cancelled

if TYPE_CHECKING:
    from interlock._core import CancelToken

__all__ = ["Syntax", "syntax_for_client", "syntax_of", "without_last_newlines"]

Syntax = Literal["lark", "gbnf", "ebnf"]

# Texts, tokens, classes and comments come whole, so nothing is looked for in them. A ``.`` in a name is a part of it.
# Clients write these texts, so the patterns take time linear in the text: what is not closed goes up to the line's end.
_PIECES = re.compile(
    r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|(?P<token>!?<[^>\n]+>?)|\[[^\]\\\n]*(?:\\.[^\]\\\n]*)*\]?|#[^\n]*|(?P<run>[\w.-]+)'
)
_DEFINITION = re.compile(r"^[^\S\n]*[A-Za-z_][\w.-]*\s*::=", re.MULTILINE)


def syntax_of(text: str, cancel: CancelToken | None = None) -> Syntax:
    """``"lark"``, ``"gbnf"`` or ``"ebnf"``, whichever ``text`` is written in. Any text has an answer; whether it is
    well formed is said when it is compiled. Linear in the text, and ``cancel`` ends it.
    """
    # What stands in texts of Lark's notation may hold anything, so the definition is looked for at a line's beginning.
    if "::=" not in text or not _DEFINITION.search(text):
        return "lark"
    return "gbnf" if any(map(_is_of_gbnf, until_cancelled(_PIECES.finditer(text), cancel))) else "ebnf"


def syntax_for_client(text: str, given: Any, limits: Any, cancel: CancelToken | None) -> Syntax:
    """``given``, or ``syntax_of(text)`` where that is empty.

    ``LimitError`` for a text of more than ``max_source_bytes``, which nothing in Python should walk.
    """
    asked = {"max_source_bytes": limits.max_source_bytes} if isinstance(limits, Limits) else dict(limits or {})
    if len(text) > Limits(**asked).max_source_bytes:  # A character has at least one byte.
        check_grammar(text, "lark", limits=limits)
    known: Syntax = given or syntax_of(text, cancel)
    return known


def without_last_newlines(text: str) -> str:
    """A grammar as requests are compiled: files end with a newline and bodies mostly do not, and both are one source.
    A text of ``interlock.grammars`` stays what it is, since it brings its lexer.

    >>> without_last_newlines('start: "a"\\n')
    'start: "a"'
    """
    return text.rstrip("\r\n") if type(text) is str else text


def _is_of_gbnf(piece: re.Match[str]) -> bool:
    """Whether this is a token, or a ``.`` that is no part of a name."""
    run = piece["run"]
    if piece["token"] is not None:
        return piece[0].endswith(">")
    return run is not None and "." in run and not run.strip(".-")
