"""What a client asks of an output, in every shape that servers take, as one kind of source."""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

from interlock._core import ArgumentError, SchemaError
from interlock.output_types import output_type_of
from interlock.tools.errors import RequestError, StructuralTagError, said_at
from interlock.tools.requests.json_options import OPTIONS, JsonOptions, json_options
from interlock.tools.requests.unsupported_fields import refuse_unsupported_fields
from interlock.tools.requests.written_formats import SCHEMA_GOES, WRITTEN, missing, missing_schema, path_of
from interlock.tools.spec import read, write
from interlock.tools.spec.fields import is_unicode, kind_of
from interlock.tools.spec.nodes import TagForm
from interlock.util.json_pointer import escaped
from interlock.util.long_numbers import said_of_digits
from interlock.util.near_words import meant
from interlock.util.nesting import bounded_nesting
from interlock.util.unique_keys import RepeatedKeyError, loads_unique

__all__ = ["Source", "request_kind", "response_format", "source_at"]

Kind = Literal["text", "json_object", "json_schema", "regex", "choice", "grammar", "structural_tag"]

_KINDS = "text, json_object, json_schema, regex, choice, grammar, structural_tag"
#: Older names of vLLM and SGLang, and the kind that each means.
_ALIASES = {
    "guided_json": "json",
    "guided_regex": "regex",
    "guided_choice": "choice",
    "guided_grammar": "grammar",
    "guided_json_object": "json_object",
    "ebnf": "grammar",
    "json_schema": "json",
}
_ANY_JSON = "$$ANY$$"
"""What SGLang has in the place of a schema for any JSON."""
_JSON_TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
_ENVELOPE = ("type", "name", "description", "schema", "strict")
_SCHEMA_WORDS = ("$schema", "$defs", "$ref", "properties", "anyOf", "oneOf", "allOf", "enum")
"""Keywords that tell a JSON Schema from anything else."""
_TYPES_OF_FIELDS = {"pattern": "regex", "choices": "choice"}
"""Fields that an object with a type has, and this type."""
_CONSTRAINTS = ("json", "regex", "choice", "grammar", "json_object", "structural_tag")
#: Fields that hold these constraints, alone in their object.
_HOLDERS = ("structured_outputs", "guided_decoding")
_VALUES = (*_CONSTRAINTS, *_HOLDERS, "response_format")
_IGNORED = ("backend", "guided_decoding_backend", "_backend", "disable_fallback", "_backend_was_auto")


@dataclass(frozen=True)
class Source:
    """What an output must be.

    ``value`` is, by kind: ``None`` for ``"text"`` (anything) and ``"json_object"`` (any JSON object); a JSON Schema,
    as its text where Python's recursion limit is too low to read it; a pattern; a tuple of texts; a grammar; the JSON
    object of a structural tag.
    """

    kind: Kind
    value: Any = None
    name: str = ""
    """What the client calls it, where it has a name."""
    is_strict: bool | None = None
    """The ``strict`` of a JSON Schema's envelope, where it is there."""
    syntax: str = ""
    """For a grammar: ``"lark"``, ``"gbnf"`` or ``"ebnf"``; ``""`` where the request does not say."""
    whitespace: str = ""
    """For JSON: a pattern of the white space, or ``"compact"``; ``""`` where the request does not say."""
    place: str = field(default="", repr=False, compare=False)
    """Where the ``response_format`` has ``value``, as a JSON Pointer."""
    whitespace_place: str = field(default="", repr=False, compare=False)
    """Where it has the pattern of the white space."""
    tag_form: TagForm = field(default="whole", repr=False, compare=False)
    """In which form a structural tag was written; ``value`` is the whole one."""


def request_kind(response_format: Any = None, tools: Any = None, tool_choice: Any = None) -> Kind | Literal["tools"]:
    """What a request asks of its output, in one word: ``"text"`` for nothing, ``"tools"``, or the kind of its
    ``response_format``. Nothing is compiled.

    A server needs no index, and so no mask, for ``"text"``; ``None`` and ``{"type": "text"}`` are that, where the
    request has no tools. ``"tools"`` is every request with tools: ``Index.from_tools`` takes its ``response_format``
    too. The word also tells in metrics what ``Index.kind`` does not: tools and structural tags are compiled as
    grammars. ``RequestError`` for a ``tool_choice`` that asks for a call where there are no tools. Other errors are
    those of ``response_format``.

    >>> request_kind(None), request_kind({"type": "text"}), request_kind({"type": "json_object"}, [{"name": "now"}])
    ('text', 'text', 'tools')
    >>> request_kind({"type": "structural_tag", "format": {"type": "any_text"}})
    'structural_tag'
    """
    kind = _source_of(response_format).kind
    if tools is not None and (isinstance(tools, Mapping | str | bytes) or not isinstance(tools, Iterable)):
        raise RequestError(f"tools are a list, not {kind_of(tools)}", "/tools")
    if tools is not None and not (isinstance(tools, list | tuple) and not tools):
        return "tools"
    if tool_choice is not None and not isinstance(tool_choice, str | Mapping | list | tuple):
        raise RequestError(
            f"tool_choice is a text, an object or a list of names, not {kind_of(tool_choice)}", "/tool_choice"
        )
    if tool_choice not in (None, "auto", "none"):
        raise RequestError("tool_choice asks for a call, and the request has no tools", "/tool_choice")
    return kind


@bounded_nesting("the response_format")
def response_format(value: Any) -> Source:
    """The source in a ``response_format`` or in a server's own fields.

    * OpenAI: ``{"type": "text"}``, ``{"type": "json_object"}``, ``{"type": "json_schema", "json_schema": {"name": …,
      "strict": …, "schema": …}}``, the flat form of the Responses API, and ``{"format": …}`` around one.
    * Servers: ``{"type": "structural_tag", …}`` in both forms, ``{"type": "regex", "pattern": …}``,
      ``{"type": "grammar", "grammar": …, "syntax": …}``, ``{"type": "choice", "choices": […]}``,
      ``{"type": "json_object", "schema": …}`` of llama.cpp.
    * vLLM's ``{"structured_outputs": {…}}`` or its content (``json``, ``regex``, ``choice``, ``grammar``,
      ``json_object``, ``structural_tag``), and the older ``guided_json`` and so on; SGLang's ``regex``, ``ebnf``,
      ``json_schema`` fields. Beside them ``whitespace_pattern``, ``disable_any_whitespace`` and
      ``disable_additional_properties`` say how JSON is written: with the last, the objects of a schema that declares
      properties and says nothing of others have no others.
    * ``None`` is text. Classes and other output types are those of ``output_type_of``.

    ``SchemaError`` for a JSON Schema that is neither an object nor a boolean, ``LimitError`` for one that is nested too
    deeply for Python. ``RequestError`` names by JSON Pointer what is not known or not well formed. It refuses two
    constraints at once, and fields that it does not know: they might be constraints.

    >>> response_format({"type": "json_schema", "json_schema": {"name": "age", "schema": {"type": "integer"}}}).value
    {'type': 'integer'}
    >>> response_format({"guided_choice": ["yes", "no"]})
    Source(kind='choice', value=('yes', 'no'), name='', is_strict=None, syntax='', whitespace='')
    """
    return source_at(value, "")


_source_of = response_format


def source_at(value: Any, pointer: str) -> Source:
    """The same for a value that stands at ``pointer``, with which the places in errors and ``Source.place`` begin."""
    if isinstance(value, Mapping) and len(value) == 1 and "response_format" in value:
        return source_at(value["response_format"], f"{pointer}/response_format")
    if value is None:
        return Source("text")
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        value = dump(exclude_none=True, by_alias=True)
    if isinstance(value, str | bytes):
        value = _read(value, pointer)
    if isinstance(value, bool):
        raise RequestError(
            f'a response_format is a JSON object, such as {{"type": "json_object"}}, not {json.dumps(value)}',
            pointer,
        )
    if isinstance(value, int | float) and not isinstance(value, enum.Enum):
        raise RequestError(f"a response_format is a JSON object, and {value!r} is a number", pointer)
    if not isinstance(value, Mapping):
        return _of_type(value, pointer)
    odd = next((key for key in value if not isinstance(key, str)), None)
    if odd is not None:
        raise RequestError(f"the keys of a response_format are strings, and {odd!r} is none", pointer)
    return _of_object(dict(value), pointer)


def _read(text: str | bytes, pointer: str) -> Any:
    """The value in a text. ``RequestError`` for what is no JSON."""
    try:
        return loads_unique(text)
    except RepeatedKeyError as error:
        raise RequestError(str(error), pointer + error.pointer) from error
    except UnicodeDecodeError as error:
        raise RequestError(
            f"a response_format in bytes is JSON in UTF-8, and byte {error.start} is not", pointer
        ) from error
    except ValueError as error:
        if isinstance(text, str) and text in _READERS:
            raise RequestError(f"a response_format is a JSON object: write {WRITTEN[text]}", pointer) from error
        said = said_of_digits(error) or f"a response_format in a text is JSON, and this is not: {error}"
        raise RequestError(said, pointer) from error


def _of_type(value: Any, pointer: str) -> Source:
    try:
        found = output_type_of(value)
    except ArgumentError as error:
        if isinstance(value, list | tuple):
            raise RequestError(
                "a response_format is a JSON object, or a list of texts to choose from", pointer
            ) from error
        raise
    kinds: dict[str, Kind] = {"json_schema": "json_schema", "regex": "regex", "choices": "choice", "text": "text"}
    if found.kind not in kinds:
        raise RequestError("an index is compiled already: it is no response_format", pointer)
    kind = kinds[found.kind]
    source = found.source.pattern if kind == "regex" else found.source
    return Source(kind, source, found.name if kind == "json_schema" else "", place=pointer)


def _of_object(value: dict[str, Any], pointer: str) -> Source:
    kind = value.get("type")
    if "structures" in value and kind in (None, "structural_tag"):
        return _read_tag(value, pointer)
    if isinstance(kind, str) and kind in _READERS:
        return _READERS[kind](value, pointer)
    for key in ("response_format", "structured_outputs", "format", "guided_decoding", "text"):
        inner = value.get(key)
        if "type" not in value and isinstance(inner, Mapping) and len(value) == 1:
            return _of_object(dict(inner), f"{pointer}/{key}")
    if kind is None:
        return _of_constraints(value, pointer)
    kinds = kind if isinstance(kind, list) else [kind]
    if all(isinstance(one, str) and one in _JSON_TYPES for one in kinds):
        raise RequestError(f"this looks like a JSON Schema itself: it goes into {SCHEMA_GOES}", f"{pointer}/type")
    slip = meant(kind, _READERS) or "."
    raise RequestError(
        f"{kind!r} is no type of response_format; there are {_KINDS}{slip} A JSON Schema goes into {SCHEMA_GOES}",
        f"{pointer}/type",
    )


def _of_constraints(value: dict[str, Any], pointer: str) -> Source:
    """Fields such as ``regex`` and ``guided_json``, of which exactly one is set."""
    inner = value.get("json_schema")
    if isinstance(inner, Mapping) and "schema" in inner and "name" in inner and len(value) == 1:
        raise RequestError('the type is missing: write "type": "json_schema" beside "json_schema"', pointer)
    if "schema" in value:
        raise RequestError(f"a JSON Schema goes into {SCHEMA_GOES}", pointer)
    given: dict[str, tuple[str, Any]] = {}
    options = json_options(value, pointer)
    for key, inner in value.items():
        kind = _ALIASES.get(key, key)
        # A schema that is false accepts nothing; a flag that is false asks for nothing.
        is_unset = inner is None or (inner is False and (kind == "json_object" or kind not in _VALUES))
        if is_unset or key in (*_IGNORED, *OPTIONS):
            continue
        if key in _HOLDERS and not isinstance(inner, Mapping):
            raise RequestError(f"{key} is an object, not {kind_of(inner)}", f"{pointer}/{key}")
        elif key in _HOLDERS:
            beside = next(other for other in value if other != key)
            raise RequestError(f"{key} and {beside} are given at once: an output has one constraint", pointer)
        elif kind in _CONSTRAINTS:
            given[key] = (kind, inner)
        else:
            _refuse_field(key, value, pointer)
    if len(given) > 1:
        raise RequestError(f"{' and '.join(given)} are given at once: an output has one constraint", pointer)
    if not given:
        raise RequestError(f"it asks for nothing: give a type ({_KINDS}) or one of {', '.join(_CONSTRAINTS)}", pointer)
    (key, (kind, inner)) = next(iter(given.items()))
    return _constraint(kind, inner, options, f"{pointer}/{key}")


def _refuse_field(key: str, value: Mapping[str, Any], pointer: str) -> NoReturn:
    """``RequestError`` for a field that is no constraint. A field of another interface says what to write here, as
    ``format_of_request`` does.
    """
    names = ("type", *_CONSTRAINTS, *_ALIASES, *OPTIONS, "response_format", "structured_outputs")
    if any(name in value for name in _SCHEMA_WORDS):
        raise RequestError(f"this looks like a JSON Schema itself: it goes into {SCHEMA_GOES}", pointer)
    refuse_unsupported_fields(value, names, pointer)
    if "response_format" in value or "messages" in value:
        raise RequestError(
            f"this looks like a whole request, with {', '.join(map(repr, list(value)[:4]))}: the constraint is its "
            "response_format alone",
            pointer,
        )
    if (typed := _TYPES_OF_FIELDS.get(key)) is not None:
        raise RequestError(f"the type is missing: write {WRITTEN[typed]}", pointer)
    guided = (name for name in _ALIASES if name.startswith("guided"))
    known = ", ".join((*_CONSTRAINTS, *guided, *(name for name in OPTIONS if not name.startswith("guided"))))
    raise RequestError(
        f"{key!r} is no field of a response_format or of structured_outputs; there are type, {known}"
        f"{meant(key, names)}",
        f"{pointer}/{escaped(key)}",
    )


def _constraint(kind: str, inner: Any, options: JsonOptions, pointer: str) -> Source:
    whitespace = options.whitespace
    written: dict[str, Any] = {"whitespace": whitespace, "whitespace_place": options.whitespace_place}
    if kind == "json":
        schema = True if inner == _ANY_JSON else options.schema(_schema(inner, pointer), pointer)
        return Source(
            "json_schema", schema, whitespace=whitespace, place=pointer, whitespace_place=options.whitespace_place
        )
    if kind == "json_object":
        if inner is not True:
            raise RequestError("json_object is true, or it is left out", pointer)
        return Source("json_object", place=pointer, **written)
    if kind == "regex":
        return Source("regex", _text(inner, pointer), place=pointer)
    if kind == "choice":
        return Source("choice", _choices(inner, pointer), place=pointer)
    if kind == "grammar":
        given = inner.get("type") if isinstance(inner, Mapping) else None
        if isinstance(given, str) and given in _READERS:  # TGI's
            raise RequestError(f'write "response_format": {{"type": "{given}", "value": …}}', pointer)
        return Source("grammar", _text(inner, pointer), place=pointer)
    tag, form = _tag(inner, pointer)
    if whitespace not in ("", "compact"):
        raise RequestError(
            "a pattern of white space has no meaning beside a structural tag: write max_whitespace_cnt into the tag, "
            'or "disable_any_whitespace": true',
            pointer,
        )
    return Source("structural_tag", options.tag(tag), whitespace=whitespace, place=pointer, tag_form=form)


def _only(value: dict[str, Any], pointer: str, *known: str) -> None:
    odd = next((key for key in value if key not in ("type", *known)), None)
    if odd is not None:
        way = f'; with it the type is "{odd}"' if odd in {*_READERS} - {value["type"]} else meant(odd, known)
        raise RequestError(
            f"{value['type']} has no field {odd!r}; it has {', '.join(known) or 'none'}{way}",
            f"{pointer}/{escaped(odd)}",
        )


def _read_text(value: dict[str, Any], pointer: str) -> Source:
    _only(value, pointer)
    return Source("text")


def _read_json_object(value: dict[str, Any], pointer: str) -> Source:
    _only(value, pointer, "schema")
    if value.get("schema") is not None:
        return Source("json_schema", _schema(value["schema"], f"{pointer}/schema"), place=f"{pointer}/schema")
    return Source("json_object", place=pointer)


def _read_json_schema(value: dict[str, Any], pointer: str) -> Source:
    envelope, place = value, pointer
    inner = value.get("json_schema")
    if isinstance(inner, Mapping):
        _only(value, pointer, "json_schema")
        envelope, place = dict(inner), f"{pointer}/json_schema"
    elif "json_schema" in value:
        said = f"json_schema is an object with name and schema, not {kind_of(inner)}"
        raise RequestError(f"{said}: {missing_schema(pointer)}", f"{pointer}/json_schema")
    if "schema" not in envelope and "value" in envelope:
        # TGI's field, which holds a schema, or an envelope of its own.
        inner = envelope.pop("value")
        if value["type"] == "json_schema" and isinstance(inner, Mapping) and "schema" in inner:
            _only(value, pointer, "value")
            envelope, place = dict(inner), f"{place}/value"
        else:
            return Source("json_schema", _schema(inner, f"{place}/value"), place=f"{place}/value")
    written = "schema" if "schema" in envelope or "schema_" not in envelope else "schema_"
    if written == "schema_":
        envelope["schema"] = envelope.pop(written)
    if "schema" not in envelope:
        odd = next((key for key in envelope if key not in _ENVELOPE and "'schema'" in meant(key, _ENVELOPE, 0.7)), None)
        if odd is not None:
            said = f"{path_of(place, 'schema')} is missing, and {odd!r} is no field"
            raise RequestError(f"{said}; did you mean 'schema'?", place)
        if any(key in envelope for key in _SCHEMA_WORDS) or (place != pointer and "type" in envelope):
            raise RequestError(f"this looks like a JSON Schema itself: it goes into {SCHEMA_GOES}", place)
        if set(value) == {"type"} and value["type"] == "json":
            raise RequestError(f'{missing_schema(pointer)}; did you mean "json_object"?', f"{pointer}/type")
        raise RequestError(missing_schema(pointer), place)
    for key in envelope:
        if key not in _ENVELOPE:
            raise RequestError(
                f"the envelope of a schema has no field {key!r}; it has name, description, strict, schema"
                f"{meant(key, _ENVELOPE)}",
                f"{place}/{escaped(key)}",
            )
    name, strict = envelope.get("name"), envelope.get("strict")
    if name is not None and not isinstance(name, str):
        raise RequestError("the name is a text", f"{place}/name")
    if strict is not None and not isinstance(strict, bool):
        raise RequestError("strict is true or false", f"{place}/strict")
    place = f"{place}/{written}"
    return Source("json_schema", _schema(envelope["schema"], place), name or "", strict, place=place)


def _read_regex(value: dict[str, Any], pointer: str) -> Source:
    _only(value, pointer, "pattern", "regex", "value")
    key = next((key for key in ("pattern", "regex", "value") if key in value), None)
    if key is None:
        raise RequestError(missing("pattern", "regex", pointer), pointer)
    place = f"{pointer}/{key}"
    return Source("regex", _text(value[key], place), place=place)


def _read_choice(value: dict[str, Any], pointer: str) -> Source:
    _only(value, pointer, "choices", "choice", "value")
    key = next((key for key in ("choices", "choice", "value") if key in value), None)
    if key is None:
        raise RequestError(missing("choices", "choice", pointer), pointer)
    place = f"{pointer}/{key}"
    return Source("choice", _choices(value[key], place), place=place)


def _read_grammar(value: dict[str, Any], pointer: str) -> Source:
    _only(value, pointer, "grammar", "definition", "value", "syntax")
    key = next((key for key in ("grammar", "definition", "value") if key in value), None)
    if key is None:
        raise RequestError(missing("grammar", value["type"], pointer), pointer)
    syntax = value.get("syntax", "")
    place = f"{pointer}/{key}"
    if syntax == "regex":
        return Source("regex", _text(value[key], place), place=place)
    if syntax not in ("", "lark", "gbnf", "ebnf"):
        slip = meant(syntax, ("lark", "gbnf", "ebnf", "regex"))
        raise RequestError(f"the syntax is lark, gbnf, ebnf or regex, not {syntax!r}{slip}", f"{pointer}/syntax")
    return Source("grammar", _text(value[key], place), syntax=syntax, place=place)


def _read_tag(value: dict[str, Any], pointer: str) -> Source:
    tag, form = _tag(value, pointer)
    return Source("structural_tag", tag, place=pointer, tag_form=form)


_READERS = {
    "text": _read_text,
    "json_object": _read_json_object,
    "json_schema": _read_json_schema,
    "json": _read_json_schema,
    "regex": _read_regex,
    "choice": _read_choice,
    "grammar": _read_grammar,
    "ebnf": _read_grammar,
    "structural_tag": _read_tag,
}


def _text(value: Any, pointer: str) -> str:
    if not isinstance(value, str):
        raise RequestError(f"a text is needed, not {kind_of(value)}", pointer)
    return value


def _schema(value: Any, pointer: str) -> Any:
    if isinstance(value, str):
        try:
            value = loads_unique(value)
        except RepeatedKeyError as error:
            raise _no_schema(str(error), pointer + error.pointer) from error
        except ValueError as error:
            raise _no_schema(said_of_digits(error) or f"the text is not JSON: {error}", pointer) from error
        except RecursionError:
            return value  # The core reads it, whose bound of depth is its own.
    if isinstance(value, type):
        return output_type_of(value).source
    if not isinstance(value, Mapping | bool):
        raise _no_schema(f"a JSON Schema is an object or a boolean, not {kind_of(value)}", pointer)
    return dict(value) if isinstance(value, Mapping) else value


def _no_schema(reason: str, pointer: str) -> SchemaError:
    """What is in the place of a JSON Schema is none."""
    error = SchemaError(said_at(pointer, reason))
    error.pointer = pointer
    return error


def _choices(value: Any, pointer: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not value:
        what = "an empty one" if isinstance(value, list | tuple) else kind_of(value)
        raise RequestError(f"choices are a list of texts that is not empty, not {what}", pointer)
    for index, text in enumerate(value):
        if not isinstance(text, str):
            raise RequestError(f"a choice is a text, not {kind_of(text)}", f"{pointer}/{index}")
        if not is_unicode(text):
            raise RequestError("the choice holds a lone surrogate, which is not text", f"{pointer}/{index}")
    return tuple(value)


def _tag(value: Any, pointer: str) -> tuple[dict[str, Any], TagForm]:
    """A structural tag as its whole form, and the form in which it was written."""
    try:
        tag = read(value)
        return write(tag), tag.written
    except StructuralTagError as error:
        place = pointer + error.pointer
        raise StructuralTagError(error.reason, place, code=error.code, subject=error.subject) from error
