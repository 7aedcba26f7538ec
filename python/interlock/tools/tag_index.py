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
    check_grammar,
    check_json_schema,
)
from interlock.grammar_syntax import syntax_of
from interlock.argument_types import require
from interlock.tools import spec
from interlock.tools.allowed_tokens import AllowedTokens
from interlock.tools.errors import StructuralTagError
from interlock.tools.response_format import response_format
from interlock.tools.schema_parts import closed as closed_schema
from interlock.tools.schema_parts import excluding
from interlock.tools.spellable import spellable
from interlock.tools.structural_tag import response_template_of, tag_of_request
from interlock.tools.tag_grammar import AnyVocabularyBuilder, JsonWriting, TagGrammar, special_names, tag_grammar

__all__ = ["check_structural_tag", "index_of_response_format", "index_of_structural_tag", "index_of_tools"]


def index_of_structural_tag(
    tag: Any,
    vocabulary: Vocabulary,
    *,
    closed: bool = False,
    special_delimiters: bool = False,
    allowed_tokens: Any = None,
    json: JsonWriting | None = None,
    limits: Any = None,
    cancel: Any = None,
) -> Index:
    """See ``Index.from_structural_tag``.

    ``special_delimiters`` takes all special tokens of the vocabulary for ``special_tokens`` of the tag: clients of
    servers write delimiters as texts, whatever they are in the vocabulary. ``json`` says how JSON is written where the
    tag does not.
    """
    require(allowed_tokens=(allowed_tokens, "special tokens?"))
    found = tag if isinstance(tag, spec.StructuralTag) else spec.read(tag)
    if special_delimiters:
        named = (*found.special_tokens, *(text for text in special_names(vocabulary) if text))
        found = dataclasses.replace(found, special_tokens=tuple(dict.fromkeys(named)))
    work = {"limits": limits, "cancel": cancel}
    if isinstance(whole := found.format, spec.JsonSchema) and whole.style.encoding == "json" and whole.any_order:
        return _whole_json(whole, vocabulary, closed, json or JsonWriting(), work)
    allowed = None if allowed_tokens is None else tuple(allowed_tokens)
    grammar = tag_grammar(found, vocabulary, closed=closed, json=json, allowed=allowed)
    try:
        try:
            return Index.from_grammar(grammar.text, vocabulary, lexer="any", **work)
        except VocabularyError:
            if not (known := spellable(vocabulary)):
                raise
            narrower = tag_grammar(found, vocabulary, closed=closed, json=json, spellable=known, allowed=allowed)
            with contextlib.suppress(VocabularyError, UnsatisfiableError):  # The first error names the byte.
                return Index.from_grammar(narrower.text, vocabulary, lexer="any", **work)
            raise
    except CancelledError:
        raise
    except InterlockError as error:
        raise _placed(error, grammar, work) from error


def check_structural_tag(
    tag: Any, *, closed: bool = False, json: JsonWriting | None = None, limits: Any = None, cancel: Any = None
) -> None:
    """Check a structural tag without a vocabulary: everything that ``Index.from_structural_tag`` checks, with the same
    errors, but for what only a vocabulary can lack. Any special token may be named. About as long as compiling takes.

    >>> check_structural_tag({"type": "tag", "begin": "<a>", "content": {"type": "any_text"}, "end": "</a>"})
    """
    found = tag if isinstance(tag, spec.StructuralTag) else spec.read(tag)
    work = {"limits": limits, "cancel": cancel}
    if isinstance(whole := found.format, spec.JsonSchema) and whole.style.encoding == "json" and whole.any_order:
        schema, options = _schema_of(whole, closed, json or JsonWriting())
        try:
            check_json_schema(schema, property_order="any", **options, **work)
        except CancelledError:
            raise
        except InterlockError as error:
            raise _moved(error, "/format/json_schema") from error
        return
    grammar = AnyVocabularyBuilder(found, closed, json).build()
    try:
        check_grammar(grammar.text, lexer="any", **work)
    except CancelledError:
        raise
    except InterlockError as error:
        raise _placed(error, grammar, work) from error


def _schema_of(node: spec.JsonSchema, is_closed: bool, json: JsonWriting) -> tuple[Any, dict[str, Any]]:
    """The schema of a whole document, and how it is written."""
    schema = excluding(closed_schema(node.json_schema) if is_closed else node.json_schema, node.excludes)
    most = json.most_whitespace if node.max_whitespace_cnt is None else node.max_whitespace_cnt
    options: dict[str, Any] = {} if most is None else {"whitespace": f"[ \\n\\t\\r]{{0,{most}}}"}
    if not json.any_escapes:
        options["spelling"] = "plain"
    return schema, options


def _whole_json(node: spec.JsonSchema, vocabulary: Vocabulary, is_closed: bool, json: JsonWriting, work: Any) -> Index:
    """An output that is one JSON document, with members in any order."""
    schema, options = _schema_of(node, is_closed, json)
    try:
        return Index.from_json_schema(schema, vocabulary, property_order="any", **options, **work)
    except CancelledError:
        raise
    except InterlockError as error:
        raise _moved(error, "/format/json_schema") from error


def _placed(error: InterlockError, grammar: TagGrammar, work: dict[str, Any]) -> InterlockError:
    """``error`` with its place in the structural tag instead of the one in the grammar."""
    if error.offset is not None:
        return _moved(error, grammar.pointer_at(error.offset))
    for line, pointer in zip(grammar.text.split("\n"), grammar.pointers, strict=False):
        _, is_document, schema = line.partition(": %json ")
        if not is_document:
            continue
        try:
            check_grammar(f"start: %json {schema}", lexer="any", **work)
        except CancelledError:
            raise
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
    tag = tag_of_request(tools, **request)
    # A response template writes its delimiters as texts, whatever they are in the vocabulary.
    is_described = response_template_of(request.get("format", "auto"), request.get("tokenizer")) is not None
    work = {"limits": limits, "cancel": cancel}
    return index_of_structural_tag(tag, vocabulary, closed=closed, special_delimiters=is_described, **work)


def index_of_response_format(
    value: Any,
    vocabulary: Vocabulary,
    *,
    allowed_tokens: Any = None,
    limits: Any = None,
    cancel: Any = None,
    **options: Any,
) -> Index:
    """See ``Index.from_response_format``."""
    require(allowed_tokens=(allowed_tokens, "special tokens?"))
    source = response_format(value)
    work = {"limits": limits, "cancel": cancel}
    if source.kind == "structural_tag":
        return index_of_structural_tag(source.value, vocabulary, allowed_tokens=allowed_tokens, **work)
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
        if allowed_tokens is not None:
            names = special_names(vocabulary)
            AllowedTokens(tuple(allowed_tokens), vocabulary, names).check_grammar(source.value, names, "")
        return Index.from_grammar(source.value, vocabulary, syntax=syntax, **work)
    return Index.from_regex("(?s:.*)", vocabulary, **work)
