"""Indexes of structural tags, of a request's tools and of its ``response_format``."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Iterable, Iterator
from typing import Any, TypeGuard

from interlock._core import (
    ArgumentError,
    CancelledError,
    GrammarError,
    Index,
    InterlockError,
    LimitError,
    PatternError,
    SchemaError,
    UnsatisfiableError,
    UnsupportedError,
    Vocabulary,
    VocabularyError,
    check_grammar,
    check_json_schema,
)
from interlock._recipe import OPTIONS
from interlock.grammar_syntax import syntax_for_client, syntax_of, without_last_newlines
from interlock.integrations.role_tokens import allowed_by_operator, allowed_to_clients
from interlock.schema_hints import quiet
from interlock.tools import spec
from interlock.tools.errors import RequestError, StructuralTagError, message_at, remade, standing_at, with_places
from interlock.tools.notations.json_writing import JsonWriting, json_writing
from interlock.tools.requests.answer_format import answer_of
from interlock.tools.requests.definition_errors import Dialect, said_of_definition
from interlock.tools.requests.parameter_checks import HOW_TO_LEAVE_OPEN, tell_of_slips
from interlock.tools.requests.regex_flags import check_regex_flags
from interlock.tools.requests.response_format import Source, response_format
from interlock.tools.requests.source_size import is_of_whole_grammar, too_long
from interlock.tools.requests.tool_list import tools_of
from interlock.tools.spec.written_places import as_written
from interlock.tools.tag_grammars.schema_parts import excluding
from interlock.tools.tag_grammars.tag_grammar import (
    AnyVocabularyBuilder,
    TagGrammar,
    special_names,
    tag_grammar,
)
from interlock.tools.tags.structural_tag import response_template_of, structural_tag, tag_of_request
from interlock.tools.tags.tag_slips import tell_of_slips_in_tag
from interlock.tools.tags.token_checks import (
    check_grammar_tokens,
    check_tokens_of_tools,
    refuse_names_of_tokens,
)
from interlock.tools.tags.tool_places import place_in_tools
from interlock.tools.tokens.allowed_tokens import AllowedNames
from interlock.tools.tokens.allowed_tokens import allowed_tokens as known_tokens
from interlock.tools.tokens.spellable import spellable
from interlock.util.argument_types import require
from interlock.util.client_messages import with_hint, without_hint
from interlock.util.closed_schemas import closed as closed_schema
from interlock.util.near_words import meant
from interlock.util.nesting import bounded_nesting

__all__ = ["check_structural_tag", "check_tag", "index_of_response_format", "index_of_structural_tag", "index_of_tools"]

MOST_LEVELS = 127
"""Levels of a schema inside of a grammar, for objects and arrays alike."""

REQUEST: dict[str, Any] = dict(structural_tag.__kwdefaults__ or {})
"""What ``Index.from_tools`` asks of a request where the caller says nothing."""


def _index_of_tag(
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
    found = _read(tag, vocabulary, special_delimiters)
    work = {"limits": limits, "cancel": cancel}
    if _is_whole_json(whole := found.format):
        return _whole_json(whole, vocabulary, closed, json or JsonWriting(), work)
    allowed = allowed_by_operator(allowed_tokens)
    grammar = tag_grammar(found, vocabulary, closed=closed, json=json, allowed=allowed, limits=limits)
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


@bounded_nesting("the structural tag")
def index_of_structural_tag(tag: Any, vocabulary: Vocabulary, **options: Any) -> Index:
    """See ``Index.from_structural_tag``. Slips in the tag's schemas are told, as ``handling`` says."""
    found = tag if isinstance(tag, spec.StructuralTag) else spec.read(tag)
    with as_written(found):
        index = _index_of_tag(found, vocabulary, **options)
    tell_of_slips_in_tag(found, limits=options.get("limits"), cancel=options.get("cancel"))
    return index


def check_tag(
    tag: Any,
    *,
    closed: bool = False,
    json: JsonWriting | None = None,
    allowed: AllowedNames | None = None,
    limits: Any = None,
    cancel: Any = None,
) -> None:
    """Check a structural tag without a vocabulary: everything that ``Index.from_structural_tag`` checks, with the same
    errors, but for what only a vocabulary can lack. Any special token may be named that ``allowed`` does not refuse.
    About as long as compiling takes. Nothing is said of slips.

    >>> check_tag({"type": "tag", "begin": "<a>", "content": {"type": "any_text"}, "end": "</a>"})
    """
    found = tag if isinstance(tag, spec.StructuralTag) else spec.read(tag)
    work = {"limits": limits, "cancel": cancel}
    if _is_whole_json(whole := found.format):
        schema, options = _schema_of(whole, closed, json or JsonWriting())
        try:
            with quiet():
                check_json_schema(schema, property_order="any", **options, **work)
        except CancelledError:
            raise
        except InterlockError as error:
            raise _moved(error, "/format/json_schema") from error
        return
    grammar = AnyVocabularyBuilder(found, closed, json, allowed).build()
    try:
        check_grammar(grammar.text, lexer="any", **work)
    except CancelledError:
        raise
    except InterlockError as error:
        raise _placed(error, grammar, work) from error


@bounded_nesting("the structural tag")
def grammar_of_any_vocabulary(tag: Any, *, closed: bool = False, json: JsonWriting | None = None) -> str | None:
    """The grammar of a structural tag, with special tokens by their texts, for readers; ``None`` for a tag whose whole
    output is one JSON document, which has no grammar.

    >>> tag = {"type": "tag", "begin": {"type": "token", "token": "<a>"}, "content": {"type": "any_text"}, "end": "b"}
    >>> print((grammar_of_any_vocabulary(tag) or "").splitlines()[-1])
    r2: <a> r1 "b"
    """
    found = tag if isinstance(tag, spec.StructuralTag) else spec.read(tag)
    if _is_whole_json(found.format):
        return None
    return AnyVocabularyBuilder(found, closed, json).build_for_readers()


@bounded_nesting("the structural tag")
def check_structural_tag(tag: Any, **options: Any) -> None:
    """Check a tag as ``check_tag`` does. Slips in its schemas are told, as ``handling`` says."""
    found = tag if isinstance(tag, spec.StructuralTag) else spec.read(tag)
    with as_written(found):
        check_tag(found, **options)
    tell_of_slips_in_tag(found, limits=options.get("limits"), cancel=options.get("cancel"))


def _read(tag: Any, vocabulary: Vocabulary, special_delimiters: bool) -> spec.StructuralTag:
    """A structural tag, which may take all special tokens in its texts for these tokens."""
    found = tag if isinstance(tag, spec.StructuralTag) else spec.read(tag)
    if not special_delimiters:
        return found
    named = (*found.special_tokens, *(text for text in special_names(vocabulary) if text))
    return dataclasses.replace(found, special_tokens=tuple(dict.fromkeys(named)))


def _is_whole_json(node: object) -> TypeGuard[spec.JsonSchema]:
    """Whether the output is one JSON document with members in any order, which a grammar cannot say."""
    return isinstance(node, spec.JsonSchema) and node.style.encoding == "json" and node.any_order


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
        with quiet():
            return Index.from_json_schema(schema, vocabulary, property_order="any", **options, **work)
    except CancelledError:
        raise
    except InterlockError as error:
        raise _moved(error, "/format/json_schema") from error


def _placed(error: InterlockError, grammar: TagGrammar, work: dict[str, Any]) -> InterlockError:
    """``error`` with its place in the structural tag instead of the one in the grammar."""
    if is_of_whole_grammar(error, grammar.text):
        return too_long(error, "the structural tag", "")
    if error.offset is not None:
        return _moved(error, grammar.pointer_at(error.offset), grammar.place_inside(error.offset))
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
                return _moved(_with_reason(error, schema, work), pointer)
    return error


def _with_reason(error: InterlockError, schema: str, work: dict[str, Any]) -> InterlockError:
    """``error`` of a document in a grammar. That of the schema alone names the keywords that contradict each other."""
    if isinstance(error, UnsatisfiableError):
        try:
            check_json_schema(schema, **work)
        except CancelledError:
            raise
        except UnsatisfiableError as own:
            return own
        except InterlockError:
            pass  # What the grammar reads in its own way.
    return error


def _moved(error: InterlockError, place: str, inside: str = "") -> InterlockError:
    inner = str(getattr(error, "pointer", None) or "").removeprefix("/allOf/0")
    inner += f"/{error.keyword}" if isinstance(error, PatternError) and error.keyword else ""
    # Its place in what was compiled is none in the tag.
    message = message_at(error, place)
    if message.startswith("line ") and ": " in message:
        message = inside + message.split(": ", 1)[1]
    if message.endswith("recursion limit exceeded"):
        return _too_deep(place + inner)
    if isinstance(error, GrammarError | SchemaError | PatternError):
        return StructuralTagError(message, place + inner)
    moved = remade(error, f"at {place}{inner}: {message}", place + inner)
    # The offset is one in the grammar that was made of the tag.
    moved.__dict__.pop("offset", None)
    # Tags and tools have no such option.
    return moved if error.hint is None or "on_unsupported" in error.hint else with_hint(moved, error.hint)


def _too_deep(place: str) -> LimitError:
    """What stands at ``place`` is read as a part of a grammar, whose reader of JSON has a bound of its own."""
    error = LimitError(
        f"at {place}: a schema inside of a structural tag or of a tool is nested at most {MOST_LEVELS} levels deep; "
        "its deep parts can stand in $defs"
    )
    error.pointer, error.limit = place, MOST_LEVELS
    return error


@bounded_nesting("the list of tools")
def index_of_tools(
    tools: Any,
    vocabulary: Vocabulary,
    *,
    closed: bool = False,
    allowed_tokens: Any = None,
    limits: Any = None,
    cancel: Any = None,
    whitespace: str = "flexible",
    spelling: str = "any",
    regex_flags: str = "",
    **request: Any,
) -> Index:
    """See ``Index.from_tools``."""
    require(allowed_tokens=(allowed_tokens, "special tokens?"))
    check_regex_flags(regex_flags)
    json = json_writing(whitespace, spelling)
    known, answer = tools_of(tools), answer_of(request.get("response_format"), regex_flags)
    given = known if answer is None else [*known, answer.part]
    check_tokens_of_tools(given, vocabulary, _allowed_to_clients(allowed_tokens, vocabulary))
    tag = tag_of_request(known, **request | {"response_format": answer})
    # A response template writes its delimiters as texts, whatever they are in the vocabulary.
    is_described = response_template_of(request.get("format", "auto"), request.get("tokenizer")) is not None
    if is_described:
        refuse_names_of_tokens(known, vocabulary)
    work = {"limits": limits, "cancel": cancel}
    with in_tools(tag, given):
        index = _index_of_tag(tag, vocabulary, closed=closed, special_delimiters=is_described, json=json, **work)
    tell_of_slips(known, request.get("strict"), **work)
    if answer is not None:
        tell_of_slips([answer.part], None, **work)
    return index


def _pointer_said(error: InterlockError) -> str | None:
    """The place that a message begins with, where the error has it in words alone."""
    said = re.match("at (/.*?): ", without_hint(error))
    return None if said is None else said[1]


@contextlib.contextmanager
def in_tools(tag: spec.StructuralTag, tools: Any) -> Iterator[None]:
    """Errors that name a place of ``tag`` name that of ``tools``, of which it was made: clients know no other."""
    try:
        yield
    except InterlockError as error:
        if isinstance(error, LimitError) and error.field == "max_source_bytes" and error.pointer == "":
            own = sum(tool.place.startswith("/tools") for tool in tools)
            if not own:
                place = next((tool.place for tool in tools), "")
                raise too_long(error, "the format of the answer", place) from error
            what = "the tools together" if own == len(tools) else "the tools and the format of the answer together"
            raise too_long(error, what, "/tools", "send fewer tools, or make them shorter") from error
        pointer = getattr(error, "pointer", None) or _pointer_said(error)
        place = place_in_tools(pointer, tag, tools) if pointer else None
        if place is None:
            raise
        # JSON holds a pattern as a schema does, whose dialect is ECMA-262.
        dialect: Dialect = "ecma" if "json_schema" in str(pointer) else "python"
        own_words = said_of_definition(error, place, tools, dialect)
        if isinstance(error, RequestError):
            reason = own_words or error.reason
            raise RequestError(reason, place, code=error.code, subject=error.subject) from error
        said = f"at {place}: {own_words}" if own_words else without_hint(error)
        said = said.replace(f"at {pointer}: ", f"at {place}: ", 1)
        moved = remade(error, with_places(said, lambda inner: place_in_tools(inner, tag, tools) or inner), place)
        hint = error.hint
        if hint is None and isinstance(error, UnsupportedError) and place.startswith("/tools"):
            hint = HOW_TO_LEAVE_OPEN
        raise (moved if hint is None else with_hint(moved, hint)) from error


@bounded_nesting("the response_format")
def index_of_response_format(
    value: Any,
    vocabulary: Vocabulary,
    *,
    allowed_tokens: Any = None,
    limits: Any = None,
    cancel: Any = None,
    regex_flags: str = "",
    **options: Any,
) -> Index:
    """See ``Index.from_response_format``."""
    require(allowed_tokens=(allowed_tokens, "special tokens?"))
    check_regex_flags(regex_flags)
    asked = response_format(value)
    if asked.kind == "grammar":
        with standing_at(asked.place):
            asked = dataclasses.replace(asked, syntax=syntax_for_client(asked.value, asked.syntax, limits, cancel))
    kind, source, given = plain_source(asked, options, regex_flags)
    given |= {"limits": limits, "cancel": cancel}
    allowed = _allowed_to_clients(allowed_tokens, vocabulary)
    with standing_at(asked.place, asked.whitespace_place):
        if kind == "structural_tag":
            tag = dataclasses.replace(spec.read(source), written=asked.tag_form)
            return index_of_structural_tag(tag, vocabulary, allowed_tokens=allowed, json=json_of_tag(given), **given)
        if kind == "grammar":
            check_grammar_tokens(source, given["syntax"], vocabulary, allowed, cancel)
        index: Index = getattr(Index, f"from_{kind}")(source, vocabulary, **given)
    return index


def _allowed_to_clients(allowed_tokens: Any, vocabulary: Vocabulary) -> Iterable[int | str] | None:
    """``allowed_to_clients``. ``ArgumentError`` for a text in ``allowed_tokens`` that no special token has, whether
    this request names tokens or not: a server should learn of its slip with the first request.
    """
    allowed = allowed_to_clients(allowed_tokens, vocabulary)
    if allowed_tokens is not None and allowed is not None:
        known_tokens(tuple(allowed), vocabulary)
    return allowed


def plain_source(found: Source, options: dict[str, Any], regex_flags: str = "") -> tuple[str, Any, dict[str, Any]]:
    """What a ``response_format`` is compiled by: the name after ``Index.from_``, the source and its options.
    ``options`` are those of JSON Schemas; of them a structural tag has ``whitespace`` and ``spelling``.
    ``regex_flags`` are those of a pattern.
    """
    strangers = options.keys() - set(OPTIONS["from_json_schema"])
    if strangers:
        name, known = min(strangers), OPTIONS["from_json_schema"]
        near = meant(name, known)
        raise TypeError(f"unexpected keyword argument {name!r}; there are {', '.join(known)}{near}")
    if found.kind in ("json_schema", "json_object"):
        schema = found.value if found.kind == "json_schema" else {"type": "object"}
        return "json_schema", schema, options | ({"whitespace": found.whitespace} if found.whitespace else {})
    if found.kind == "choice":
        return "choices", list(found.value), {}
    if found.kind == "grammar":
        return "grammar", without_last_newlines(found.value), {"syntax": found.syntax or syntax_of(found.value)}
    if found.kind == "text":
        return "regex", "(?s:.*)", {}
    if found.kind == "structural_tag":
        said = options | ({"whitespace": found.whitespace} if found.whitespace else {})
        return found.kind, found.value, {name: said[name] for name in ("whitespace", "spelling") if name in said}
    return found.kind, found.value, {"flags": regex_flags} if regex_flags else {}


def json_of_tag(options: dict[str, Any]) -> JsonWriting:
    """How JSON is written in a tag that does not say so; takes ``whitespace`` and ``spelling`` out of ``options``.
    ``ArgumentError`` for what no tag can be held to.
    """
    return json_writing(options.pop("whitespace", "flexible"), options.pop("spelling", None) or "any")


@bounded_nesting("the source")
def stored_source(
    kind: str, source: Any, vocabulary: Vocabulary, options: dict[str, Any]
) -> tuple[str, Any, dict[str, Any]]:
    """What an index of a tag, of tools or of a ``response_format`` is compiled from in the end: a grammar, a schema, a
    pattern or choices, with its options. ``options`` are those of ``Index.from_<kind>``. Nothing is compiled.
    """
    given = dict(options)
    limits = {"limits": given.pop("limits")} if "limits" in given else {}
    allowed = given.pop("allowed_tokens", None)
    if kind == "response_format":
        given.pop("unknown_keywords", None)  # It changes nothing of what is compiled.
    regex_flags = given.pop("regex_flags", "") if kind != "structural_tag" else ""
    check_regex_flags(regex_flags)
    require(allowed_tokens=(allowed, "special tokens?"))
    is_operators = kind == "structural_tag"
    allowed = allowed_by_operator(allowed) if is_operators else allowed_to_clients(allowed, vocabulary)
    if kind == "response_format":
        return _source_of_response_format(source, vocabulary, given, regex_flags, allowed, limits)
    is_closed, json = given.pop("closed", False), json_of_tag(given)
    if kind == "structural_tag":
        if given:
            raise ArgumentError(
                f"no option of kind {kind!r} is named {sorted(given)[0]!r}; there are closed, whitespace, spelling, "
                "limits, allowed_tokens"
            )
        return _source_of_tag(_read(source, vocabulary, False), vocabulary, is_closed, json, allowed, limits)
    known, answer = tools_of(source), answer_of(given.get("response_format"), regex_flags)
    whole = known if answer is None else [*known, answer.part]
    check_tokens_of_tools(whole, vocabulary, allowed)
    if strangers := given.keys() - REQUEST.keys():
        raise ArgumentError(
            f"no option of kind {kind!r} is named {min(strangers)!r}; there are "
            f"{', '.join(REQUEST)}, closed, whitespace, spelling, regex_flags, limits, allowed_tokens"
        )
    tag = tag_of_request(known, **(REQUEST | given | {"response_format": answer}))
    is_described = response_template_of(given.get("format", "auto"), given.get("tokenizer")) is not None
    if is_described:
        refuse_names_of_tokens(known, vocabulary)
    with in_tools(tag, whole):
        # What the tool format writes needs no leave.
        return _source_of_tag(_read(tag, vocabulary, is_described), vocabulary, is_closed, json, None, limits)


def _source_of_response_format(
    value: Any, vocabulary: Vocabulary, options: dict[str, Any], regex_flags: str, allowed: Any, limits: dict[str, Any]
) -> tuple[str, Any, dict[str, Any]]:
    asked = response_format(value)
    with standing_at(asked.place, asked.whitespace_place):
        kind, source, given = plain_source(asked, options, regex_flags)
        if kind == "grammar":
            check_grammar_tokens(source, given["syntax"], vocabulary, allowed)
        if kind != "structural_tag":
            return kind, source, given | limits
        tag = dataclasses.replace(spec.read(source), written=asked.tag_form)
        with as_written(tag):
            return _source_of_tag(tag, vocabulary, False, json_of_tag(given), allowed, limits)


def _source_of_tag(
    tag: spec.StructuralTag,
    vocabulary: Vocabulary,
    is_closed: bool,
    json: JsonWriting,
    allowed: Any,
    limits: dict[str, Any],
) -> tuple[str, Any, dict[str, Any]]:
    if _is_whole_json(tag.format):
        schema, written = _schema_of(tag.format, is_closed, json)
        return "json_schema", schema, {"property_order": "any", **written, **limits}
    grammar = tag_grammar(tag, vocabulary, closed=is_closed, json=json, allowed=allowed)
    return "grammar", grammar.text, {"lexer": "any", **limits}
