"""The text of a grammar, together with the lexer that it is written for."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Literal

from interlock.util.argument_types import require

if TYPE_CHECKING:
    from interlock.output_types.grammar import Grammar

__all__ = ["GrammarText"]


class GrammarText(str):
    """The text of a grammar in Lark's notation, with the lexer that it is written for. Otherwise it is a ``str``.

    Generators take it as an output type, ``gen(prompt, grammars.load("json"))``, and so do ``interlock.Grammar`` and
    ``Index.from_grammar``. All of them use its ``lexer`` where none is passed to them.

    >>> text = GrammarText('start: "a"', "contextual")
    >>> text == 'start: "a"', text.lexer, text.accepts("a")
    (True, 'contextual', True)
    """

    lexer: Literal["any", "dynamic", "contextual"]
    """``"any"``, ``"dynamic"`` or ``"contextual"``, as ``Index.from_grammar`` takes it."""

    def __new__(cls, text: str, lexer: Literal["any", "dynamic", "contextual"] = "contextual") -> GrammarText:
        require(text=(text, "text"), lexer=(lexer, "text"))
        made = super().__new__(cls, text)
        made.lexer = lexer
        return made

    def accepts(self, text: str) -> bool:
        """Whether ``text`` as a whole is one of this grammar. The last few grammars that were asked stay compiled.

        ``TypeError`` if ``text`` is no text, and the errors of ``Index.from_grammar``.
        """
        require(text=(text, "text"))
        return _compiled(str(self), self.lexer).accepts(text)


@functools.lru_cache(maxsize=8)
def _compiled(text: str, lexer: Literal["any", "dynamic", "contextual"]) -> Grammar:
    # A grammar takes texts of this class, so it cannot be known when this module is read.
    from interlock.output_types.grammar import Grammar

    return Grammar(GrammarText(text, lexer))
