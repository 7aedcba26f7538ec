"""Indexes of structural tags, of a request's tools and of its ``response_format``."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

from interlock._core import (
    CancelledError,
    GrammarError,
    Index,
    InterlockError,
    PatternError,
    SchemaError,
    UnsatisfiableError,
    Vocabulary,
    VocabularyError,
)
from interlock.grammar_syntax import syntax_of
from interlock.tools import spec
from interlock.tools.errors import StructuralTagError
from interlock.tools.response_format import response_format
from interlock.tools.schema_parts import closed as closed_schema
from interlock.tools.schema_parts import excluding
from interlock.tools.spellable import spellable
from interlock.tools.structural_tag import structural_tag
from interlock.tools.tag_grammar import TagGrammar, tag_grammar

__all__ = ["index_of_response_format", "index_of_structural_tag", "index_of_tools"]


def index_of_structural_tag(
    tag: Any,
    vocabulary: Vocabulary,
    *,
    closed: bool = False,
    special_delimiters: bool = False,
    limits: Any = None,
    cancel: Any = None,
) -> Index:
    """See ``Index.from_structural_tag``. ``special_delimiters`` takes all special tokens of the vocabulary for
    ``special_tokens`` of the tag: clients of servers write delimiters as texts, whatever they are in the vocabulary."""
    found = tag if isinstance(tag, spec.StructuralTag) else spec.read(tag)
    if special_delimiters:
        texts = (vocabulary.token_bytes(number) or b"" for number in vocabulary.special_token_ids)
        named = (text.decode("utf-8", "replace") for text in texts if text)
        found = dataclasses.replace(found, special_tokens=tuple(dict.fromkeys((*found.special_tokens, *named))))
    work = {"limits": limits, "cancel": cancel}
    if isinstance(whole := found.format, spec.JsonSchema) and whole.style.encoding == "json" and whole.any_order:
        return _whole_json(whole, vocabulary, closed, work)
    grammar = tag_grammar(found, vocabulary, closed=closed)
    try:
        try:
            return Index.from_grammar(grammar.text, vocabulary, lexer="any", **work)
        except VocabularyError:
            if not (known := spellable(vocabulary)):
                raise
            narrower = tag_grammar(found, vocabulary, closed=closed, spellable=known)
            with contextlib.suppress(VocabularyError, UnsatisfiableError):  # The first error names the byte.
                return Index.from_grammar(narrower.text, vocabulary, lexer="any", **work)
            raise
    except CancelledError:
        raise
    except InterlockError as error:
        raise _placed(error, grammar, vocabulary) from error


def _whole_json(node: spec.JsonSchema, vocabulary: Vocabulary, is_closed: bool, work: Any) -> Index:
    """An output that is one JSON document, with members in any order."""
    schema = excluding(closed_schema(node.json_schema) if is_closed else node.json_schema, node.excludes)
    most = node.max_whitespace_cnt
    whitespace = "flexible" if most is None else f"[ \\n\\t\\r]{{0,{most}}}"
    try:
        return Index.from_json_schema(schema, vocabulary, whitespace, property_order="any", **work)
    except CancelledError:
        raise
    except InterlockError as error:
        raise _moved(error, "/format/json_schema") from error


def _placed(error: InterlockError, grammar: TagGrammar, vocabulary: Vocabulary) -> InterlockError:
    """``error`` with its place in the structural tag instead of the one in the grammar."""
    if error.offset is not None:
        return _moved(error, grammar.pointer_at(error.offset))
    for line, pointer in zip(grammar.text.split("\n"), grammar.pointers, strict=False):
        _, is_document, schema = line.partition(": %json ")
        if not is_document:
            continue
        try:
            Index.from_grammar(f"start: %json {schema}", vocabulary, lexer="any")
        except InterlockError as own:
            if str(own) == str(error):
                return _moved(error, pointer)
    return error


def _moved(error: InterlockError, place: str) -> InterlockError:
    inner = str(getattr(error, "pointer", None) or "").removeprefix("/allOf/0")
    message = str(error).split("\n")[0]
    if message.startswith("line ") and ": " in message:
        message = message.split(": ", 1)[1]
    if isinstance(error, GrammarError | SchemaError | PatternError):
        return StructuralTagError(message, place + inner)
    moved = type(error)(f"at {place}{inner}: {message}")
    moved.__dict__.update(error.__dict__)
    moved.pointer = place + inner
    return moved


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
