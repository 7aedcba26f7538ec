"""Grammars as llama.cpp's users have them: GBNF texts, and ``LlamaGrammar`` objects that hold one."""

from __future__ import annotations

from typing import Any

from interlock import ArgumentError, Index, Vocabulary

__all__ = ["index_from_gbnf"]


def index_from_gbnf(grammar: Any, vocabulary: Vocabulary, *, root: str | None = None, **options: Any) -> Index:
    """The index of a GBNF text, or of a ``llama_cpp.LlamaGrammar``, which keeps the text that it was made of.

    ``root`` is the rule that the output is, by default ``root``, or the one that the object names. ``options`` are
    ``limits`` and ``cancel`` of ``Index.from_grammar``, whose errors are raised. ``ArgumentError`` for anything that is
    neither, or an object that keeps no text.

    >>> index_from_gbnf(LlamaGrammar.from_string(text), vocabulary_from_llama(llama))  # doctest: +SKIP
    """
    text = grammar if isinstance(grammar, str) else getattr(grammar, "_grammar", None)
    if not isinstance(text, str):
        raise ArgumentError(
            f"a grammar is a GBNF text or a LlamaGrammar that keeps one, not {type(grammar).__name__}: pass the text"
        )
    named = None if isinstance(grammar, str) else getattr(grammar, "_root", None)
    start = root if root is not None else named if isinstance(named, str) else None
    return Index.from_grammar(text, vocabulary, syntax="gbnf", start=start, **options)
