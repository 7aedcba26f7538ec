"""Schemas in the envelopes that servers' interfaces wrap them in.

OpenAI's interface takes a schema inside two further objects, and people pass on what they have. Read as a schema, such
an envelope has no keyword that anyone knows, so it would accept every value. It is unwrapped here where it can be
nothing else, and refused where it holds no schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from interlock._core import ArgumentError

__all__ = ["SCHEMA_FIELDS", "unwrapped"]

#: Keywords that make an object a schema of its own, whatever else stands beside them.
_KEYWORDS = frozenset(
    "$schema $ref $defs $id definitions properties items prefixItems required additionalProperties patternProperties "
    "anyOf allOf oneOf not enum const pattern format minimum maximum minLength maxLength minItems maxItems if".split()
)
SCHEMA_FIELDS: dict[str, tuple[str, ...]] = {
    "guided_json": (), "structured_outputs": ("json",), "response_schema": (), "response_json_schema": (),
    "responseSchema": (), "responseJsonSchema": (), "response_format": (), "text": ("format",),
}  # fmt: skip
"""Fields of requests, and the keys on the way to the schema in each."""
_OTHER_FIELDS = frozenset(("guided_regex", "guided_choice", "guided_grammar", "regex", "choice", "grammar"))
# What stands beside a schema in a request and constrains nothing.
_BESIDE = frozenset(("response_mime_type", "responseMimeType", "max_tokens", "temperature"))
_TYPES = frozenset("null boolean object array number string integer".split())


def unwrapped(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema inside ``schema``, or ``schema`` itself where that is no envelope.

    Envelopes are ``{"type": "json_schema", "json_schema": {...}}``, ``{"type": "json_schema", "schema": {...}}``,
    ``{"format": {...}}`` around one of these, ``{"name": ..., "strict": ..., "schema": {...}}``, and a tool's
    ``{"type": "function", "function": {"name": ..., "parameters": {...}}}``; and fields of requests, such as
    ``{"guided_json": {...}}``, ``{"structured_outputs": {"json": {...}}}`` and ``{"response_schema": {...}}``.
    ``ArgumentError`` for an envelope without a schema, such as ``{"type": "json_object"}``.

    >>> unwrapped({"type": "json_schema", "json_schema": {"name": "age", "schema": {"type": "integer"}}})
    {'type': 'integer'}
    """
    kind = schema.get("type")
    if kind == "json_object":
        raise ArgumentError(
            '{"type": "json_object"} asks for any JSON and names no schema: pass {"type": "object"} for any object'
        )
    if kind in ("text", "grammar", "regex", "structural_tag"):
        raise ArgumentError(
            f'{{"type": "{kind}"}} is a response_format and no JSON Schema: pass str for free text, re.compile(...) '
            "for a pattern, a list of strings for choices"
        )
    if kind == "json_schema":
        return _content(schema, "json_schema", "schema")
    if kind == "function":
        parameters = _content(schema, "function", "parameters")
        return {"type": "object", **parameters} if "type" not in parameters else parameters
    inner = schema.get("format")
    if set(schema) == {"format"} and isinstance(inner, Mapping) and inner.get("type") == "json_schema":
        return unwrapped(inner)
    # A list of types, or anything else that is no text, belongs to a schema: the core says what is wrong with it.
    is_kind = isinstance(kind, str | None) and kind not in _TYPES
    if is_kind and not _KEYWORDS & set(schema) and "name" in schema:
        for key in ("schema", "parameters", "input_schema"):
            if isinstance(schema.get(key), Mapping | bool):
                return _content(schema, key)
    if kind is None and not _KEYWORDS & set(schema):
        return _of_request(schema)
    return schema


def _of_request(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema in the fields of a request, or ``fields`` themselves where they are none."""
    named = sorted(fields.keys() - _BESIDE)
    if len(named) == 1 and named[0] in _OTHER_FIELDS and named[0].startswith("guided_"):
        _refuse_other(named[0])
    if len(named) != 1 or named[0] not in SCHEMA_FIELDS:
        return fields
    inner = fields[named[0]]
    if isinstance(inner, str):
        raise ArgumentError(f"{named[0]!r} is a field of a request, and its schema is a text: pass that text itself")
    if not isinstance(inner, Mapping | bool):
        return fields
    if named[0] in ("response_format", "text"):
        # Either may as well be a name that somebody gave to a property.
        inner = inner.get("format") if named[0] == "text" and isinstance(inner, Mapping) else inner
        known = isinstance(inner, Mapping) and inner.get("type") in ("json_schema", "json_object")
        return unwrapped(inner) if known and isinstance(inner, Mapping) else fields
    if named[0] == "structured_outputs" and isinstance(inner, Mapping):
        if other := next((key for key in inner if key in _OTHER_FIELDS), None):
            _refuse_other(f"{named[0]}.{other}")
    return _content(fields, named[0], *SCHEMA_FIELDS[named[0]])


def _refuse_other(field: str) -> NoReturn:
    raise ArgumentError(
        f"{field!r} is a field of a request, and no JSON Schema: pass re.compile(...) for a pattern, a list of strings "
        "for choices, interlock.Grammar(...) for a grammar"
    )


def _content(envelope: Mapping[str, Any], *path: str) -> Mapping[str, Any]:
    """What lies in ``envelope`` under ``path``, whose steps may be left out."""
    found: Any = envelope
    steps: list[str] = []
    for key in path:
        if isinstance(found, Mapping) and key in found:
            found = found[key]
            steps.append(key)
    if found is True or found is False:
        return {} if found else {"not": {}}
    if not steps or not isinstance(found, Mapping):
        raise ArgumentError(
            f"this is an envelope around a schema ({', '.join(map(repr, envelope))}), and there is no schema under "
            f"{path[-1]!r} in it: pass the schema itself"
        )
    if steps[-1] != path[-1]:
        raise ArgumentError(f"the envelope's {steps[-1]!r} has no {path[-1]!r}, where its schema would be")
    return found
