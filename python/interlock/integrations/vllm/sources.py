"""What a request asks for, compiled or only checked.

vLLM knows six kinds of constraint: ``choice``, ``regex``, ``json``, ``json_object``, ``grammar`` and
``structural_tag``. `source_of` reads one from a request's parameters, `compile_source` makes an index of it and
`check_source` says whether it can be one.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from interlock import (
    ArgumentError,
    CancelToken,
    Index,
    SchemaError,
    Vocabulary,
    check_choices,
    check_grammar,
    check_json_schema,
    check_regex,
)
from interlock.grammar_syntax import syntax_for_client
from interlock.integrations.role_tokens import allowed_to_clients
from interlock.integrations.vllm.options import Options
from interlock.schema_hints import quiet
from interlock.tools.notations.json_writing import JsonWriting
from interlock.tools.requests.json_options import whitespace_of_client
from interlock.tools.tags.tag_index import check_structural_tag, index_of_structural_tag
from interlock.tools.tags.token_checks import check_grammar_tokens
from interlock.util.closed_schemas import closed_text

__all__ = ["Source", "check_source", "compile_source", "source_of"]

KINDS = ("json", "json_object", "regex", "choice", "grammar", "structural_tag")


@dataclass(frozen=True)
class Source:
    """One constraint: its kind, its text, and the whitespace of its JSON."""

    kind: str
    text: str
    whitespace: str = "flexible"
    is_closed: bool = False
    """Whether objects have no properties but those that the schema declares."""

    @property
    def key(self) -> bytes:
        """A short name of this source, for a table of those that were checked."""
        whole = "\0".join((self.kind, self.whitespace, "closed" if self.is_closed else "", self.text))
        return hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def source_of(params: Any, options: Options) -> Source:
    """The constraint in vLLM's ``StructuredOutputsParams``.

    ``ArgumentError`` for a kind or an option that makes no sense.
    """
    kind = next((kind for kind in KINDS if getattr(params, kind, None) is not None), None)
    if kind is None:
        raise ArgumentError(f"structured_outputs must name one of {', '.join(KINDS)}")
    spec = getattr(params, kind)
    if kind == "json_object" and spec is not True:
        raise ArgumentError("json_object must be true: leave structured_outputs out to switch it off")
    text = "" if kind == "json_object" else spec if isinstance(spec, str) else _dumped(kind, spec)
    is_closed = kind in ("json", "structural_tag") and getattr(params, "disable_additional_properties", False)
    return Source(kind, text, _whitespace(params, options), is_closed)


def _dumped(kind: str, spec: Any) -> str:
    try:
        return json.dumps(spec)
    except (TypeError, ValueError, RecursionError) as error:
        raise ArgumentError(f"{kind} of structured_outputs cannot be written as JSON: {error}") from None


def _whitespace(params: Any, options: Options) -> str:
    pattern: str | None = getattr(params, "whitespace_pattern", None)
    if pattern is not None:
        return whitespace_of_client(pattern)
    return "compact" if getattr(params, "disable_any_whitespace", False) else options.whitespace


@quiet()
def compile_source(
    source: Source, vocabulary: Vocabulary, options: Options, cancel: CancelToken | None = None
) -> Index:
    """The index of a source. Errors are those of `Index.from_json_schema` and its like, and ``CancelledError``."""
    limits = options.limits_of_compile()
    allowed = allowed_to_clients(None, vocabulary) if options.role_tokens == "refuse" else None
    if source.kind == "structural_tag":
        written = _json_of_tags(source, options)
        more: dict[str, Any] = {"allowed_tokens": allowed, "limits": limits, "cancel": cancel}
        more |= {"closed": source.is_closed, "special_delimiters": True}
        return index_of_structural_tag(source.text, vocabulary, json=written, **more)
    if source.kind == "regex":
        return Index.from_regex(source.text, vocabulary, flags=options.regex_flags, limits=limits, cancel=cancel)
    if source.kind == "grammar":
        # Clients send what other engines read: Lark's notation, EBNF or GBNF.
        syntax = syntax_for_client(source.text, "", limits, cancel)
        check_grammar_tokens(source.text, syntax, vocabulary, allowed, cancel)
        return Index.from_grammar(source.text, vocabulary, syntax=syntax, limits=limits, cancel=cancel)
    if source.kind == "choice":
        return Index.from_choices(_choices(source.text), vocabulary, limits=limits, cancel=cancel)
    schema = _schema(source)
    return Index.from_json_schema(schema, vocabulary, limits=limits, cancel=cancel, **_json_options(source, options))


def _schema(source: Source) -> str:
    schema = '{"type":"object"}' if source.kind == "json_object" else source.text
    if not schema.strip():
        raise SchemaError("the schema is empty")
    return closed_text(schema) if source.is_closed else schema


def _json_options(source: Source, options: Options) -> dict[str, Any]:
    return {
        "whitespace": source.whitespace,
        "property_order": options.property_order,
        "on_unsupported": options.on_unsupported,
        "formats": options.formats,
        "spelling": options.spelling,
    }


def _json_of_tags(source: Source, options: Options) -> JsonWriting:
    """JSON in tags is written as other JSON is, as far as tags can say that."""
    return JsonWriting(0 if source.whitespace == "compact" else None, options.spelling == "any")


def _choices(text: str) -> list[str]:
    try:
        choices = json.loads(text)
    except ValueError:
        choices = None
    if not isinstance(choices, list) or not choices or not all(isinstance(choice, str) for choice in choices):
        raise ArgumentError("choice must be a list of one or more strings")
    return choices


@quiet()
def check_source(source: Source, options: Options, cancel: CancelToken | None = None) -> None:
    """Raise what compiling ``source`` would raise, without the vocabulary of a model.

    What only a vocabulary can refuse is not found: a text that its tokens cannot spell, a special token that it has
    not, and a budget that is too small. A schema takes about 0.2 ms. The GIL is free meanwhile.
    """
    work: dict[str, Any] = {"limits": options.limits_of_compile(), "cancel": cancel}
    if source.kind == "structural_tag":
        check_structural_tag(source.text, closed=source.is_closed, json=_json_of_tags(source, options), **work)
    elif source.kind == "regex":
        check_regex(source.text, flags=options.regex_flags, **work)
    elif source.kind == "grammar":
        check_grammar(source.text, syntax=syntax_for_client(source.text, "", **work), **work)
    elif source.kind == "choice":
        check_choices(_choices(source.text), **work)
    else:
        check_json_schema(_schema(source), **_json_options(source, options), **work)
