"""Indexes of structural tags, of a request's tools and of its ``response_format``."""

from __future__ import annotations

from typing import Any

from interlock._core import (
    CancelledError,
    GrammarError,
    Index,
    InterlockError,
    UnsatisfiableError,
    UnsupportedError,
    Vocabulary,
)
from interlock.grammar_syntax import syntax_of
from interlock.tools.errors import StructuralTagError
from interlock.tools.response_format import response_format
from interlock.tools.structural_tag import structural_tag
from interlock.tools.tag_grammar import TagGrammar, tag_grammar

__all__ = ["index_of_response_format", "index_of_structural_tag", "index_of_tools"]


def index_of_structural_tag(
    tag: Any, vocabulary: Vocabulary, *, closed: bool = False, limits: Any = None, cancel: Any = None
) -> Index:
    """See ``Index.from_structural_tag``."""
    grammar = tag_grammar(tag, vocabulary, closed=closed)
    try:
        return Index.from_grammar(grammar.text, vocabulary, lexer="any", limits=limits, cancel=cancel)
    except CancelledError:
        raise
    except InterlockError as error:
        raise _placed(error, grammar) from error


def _placed(error: InterlockError, grammar: TagGrammar) -> InterlockError:
    """``error`` with its place in the structural tag instead of the one in the grammar."""
    inner = getattr(error, "pointer", None) or ""
    place = grammar.pointer_at(error.offset)
    if not place or isinstance(error, UnsatisfiableError) and error.offset is None:
        return error
    message = str(error).split("\n")[0]
    if message.startswith("line ") and ": " in message:
        message = message.split(": ", 1)[1]
    if isinstance(error, GrammarError):
        return StructuralTagError(message, place + inner)
    if isinstance(error, UnsupportedError):
        return UnsupportedError(f"at {place}{inner}: {message}")
    return error


def index_of_tools(
    tools: Any, vocabulary: Vocabulary, *, closed: bool = False, limits: Any = None, cancel: Any = None, **request: Any
) -> Index:
    """See ``Index.from_tools``."""
    tag = structural_tag(tools, **request)
    return index_of_structural_tag(tag, vocabulary, closed=closed, limits=limits, cancel=cancel)


def index_of_response_format(
    value: Any, vocabulary: Vocabulary, *, limits: Any = None, cancel: Any = None, **options: Any
) -> Index:
    """See ``Index.from_response_format``."""
    source = response_format(value)
    work = {"limits": limits, "cancel": cancel}
    if source.kind == "structural_tag":
        return index_of_structural_tag(source.value, vocabulary, limits=limits, cancel=cancel)
    if source.kind in ("json_schema", "json_object"):
        schema: Any = source.value if source.kind == "json_schema" else {"type": "object"}
        if source.whitespace:
            options["whitespace"] = source.whitespace
        return Index.from_json_schema(schema, vocabulary, **options, **work)
    if source.kind == "regex":
        return Index.from_regex(source.value, vocabulary, **work)
    if source.kind == "choice":
        return Index.from_choices(source.value, vocabulary, **work)
    if source.kind == "grammar":
        syntax: Any = source.syntax or syntax_of(source.value)
        return Index.from_grammar(source.value, vocabulary, syntax=syntax, **work)
    return Index.from_regex("(?s:.*)", vocabulary, **work)
