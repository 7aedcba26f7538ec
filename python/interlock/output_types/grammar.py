"""A grammar as an output type: the model writes a text of the grammar, and the value is that text."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from interlock._core import ArgumentError, Index, LimitError, Vocabulary, VocabularyError, check_grammar
from interlock._recipe import byte_vocabulary
from interlock.grammars.grammar_text import GrammarText
from interlock.output_types.errors import InvalidOutputError
from interlock.util.argument_types import require

__all__ = ["Grammar"]


@dataclass(frozen=True)
class Grammar:
    """A grammar, for calls that take an output type: ``generator(prompt, interlock.Grammar(text))``.

    The arguments are those of ``Index.from_grammar``: ``syntax`` is ``"lark"``, ``"gbnf"`` or ``"ebnf"``, ``start`` the
    rule that the output is, ``lexer`` how a text is cut into terminals, ``imports`` and ``grammars`` are texts that
    ``%import`` and ``@name`` may name. The value is the text that was generated.

    A text of ``interlock.grammars`` brings its lexer along.

    ``ArgumentError`` if ``text`` is no text, and the errors of ``check_grammar``, such as ``GrammarError``, if it is no
    grammar. Costs about as long as compiling it: less than a millisecond for a small grammar, a tenth of a second for
    that of a programming language. Texts of ``interlock.grammars`` are not checked.

    >>> greeting = Grammar('start: "Hello, " NAME "!"\\nNAME: /[A-Z][a-z]+/')
    >>> greeting.accepts("Hello, Ada!"), greeting.accepts("Hello, ada!")
    (True, False)
    """

    text: str
    syntax: Literal["lark", "gbnf", "ebnf"] = "lark"
    start: str | None = None
    lexer: Literal["any", "dynamic", "contextual"] | None = None
    imports: Mapping[str, str] | None = field(default=None, hash=False)
    grammars: Mapping[str, str] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            way = ": pass what the file holds, path.read_text()" if hasattr(self.text, "__fspath__") else ""
            raise ArgumentError(f"the text of a grammar is a str, not {type(self.text).__name__}{way}")
        if re.fullmatch(r"[^\s:=]+\.(lark|gbnf|ebnf)", self.text.strip()):
            raise ArgumentError(f"{self.text!r} is a file's name: pass what it holds, pathlib.Path(...).read_text()")
        if self.lexer is None:
            object.__setattr__(self, "lexer", getattr(self.text, "lexer", None))
        require(syntax=(self.syntax, "text"), start=(self.start, "text?"), lexer=(self.lexer, "text?"))
        for name in ("imports", "grammars"):
            given = getattr(self, name)
            if given is not None and not isinstance(given, Mapping):
                raise TypeError(f"{name} must map names to texts, and {type(given).__name__} is no mapping")
        if not isinstance(self.text, GrammarText):
            # A grammar that is too large for the usual limits may be compiled with others.
            with contextlib.suppress(LimitError):
                check_grammar(self.text, **self.options)

    @property
    def options(self) -> dict[str, Any]:
        """The options of ``Index.from_grammar`` that differ from their defaults."""
        given = {name: getattr(self, name) for name in ("start", "lexer", "imports", "grammars")}
        return {"syntax": self.syntax} | {name: value for name, value in given.items() if value}

    def index(self, vocabulary: Vocabulary, **options: Any) -> Index:
        """Compile the grammar. ``options`` are ``limits`` and ``cancel``; errors are those of ``from_grammar``."""
        return Index.from_grammar(self.text, vocabulary, **self.options, **options)

    def accepts(self, text: str) -> bool:
        """Whether ``text`` as a whole is one of this grammar. Compiles over bytes, once for each object."""
        require(text=(text, "text"))
        return self._walk(text) == (True, len(text.encode()))

    def parse(self, text: str) -> str:
        """``text``, if it is whole; ``InvalidOutputError`` for one that was cut, or that the grammar refuses.

        A grammar with special tokens is not checked: a text does not hold them.
        """
        require(text=(text, "text"))
        try:
            accepted, taken = self._walk(text)
        except VocabularyError:
            return text
        if accepted:
            return text
        data = text.encode()
        if taken == len(data):
            raise InvalidOutputError(
                f"the output was cut before the grammar lets it end, behind {text[-40:]!r}: allow more tokens", text
            )
        after = data[:taken].decode(errors="replace")[-40:]
        raise InvalidOutputError(f"the grammar refuses the text that was generated, behind {after!r}", text)

    @property
    def key(self) -> str:
        """Equal for grammars that compile to the same index."""
        given = {name: dict(value) if isinstance(value, Mapping) else value for name, value in self.options.items()}
        return json.dumps([self.text, given], sort_keys=True)

    @cached_property
    def _index(self) -> Index:
        return self.index(byte_vocabulary())

    def _walk(self, text: str) -> tuple[bool, int]:
        """Whether a text is accepted, and how many of its bytes are."""
        data = list(text.encode("utf-8", "surrogatepass"))
        guide = self._index.guide()
        taken = guide.advance_many(data)
        return taken == len(data) and guide.is_accepting, taken
