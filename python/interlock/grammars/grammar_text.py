"""The text of a grammar, together with the lexer that it is written for."""

from __future__ import annotations

from typing import Literal

from interlock.argument_types import require

__all__ = ["GrammarText"]


class GrammarText(str):
    """The text of a grammar in Lark's notation, with the lexer that it is written for. Otherwise it is a ``str``.

    Generators take it as an output type, ``gen(prompt, grammars.load("json"))``, and so does ``interlock.Grammar``.
    Both use ``lexer``. ``Index.from_grammar`` reads the characters alone: pass ``lexer=text.lexer`` there.

    >>> text = GrammarText('start: "a"', "contextual")
    >>> text == 'start: "a"', text.lexer
    (True, 'contextual')
    """

    lexer: Literal["any", "dynamic", "contextual"]
    """``"any"``, ``"dynamic"`` or ``"contextual"``, as ``Index.from_grammar`` takes it."""

    def __new__(cls, text: str, lexer: Literal["any", "dynamic", "contextual"] = "contextual") -> GrammarText:
        require(text=(text, "text"), lexer=(lexer, "text"))
        made = super().__new__(cls, text)
        made.lexer = lexer
        return made
