"""Envelopes: a schema inside of what APIs send and files keep, and the keys on the way to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from interlock.schema_hints.known_names import KEYWORDS

ENVELOPES: tuple[tuple[str, tuple[str, ...], frozenset[str]], ...] = (
    ("a chat-completions response_format", ("response_format", "json_schema", "schema"), frozenset()),
    ("a response_format", ("json_schema", "schema"), frozenset({"type"})),
    ("a responses text format", ("text", "format", "schema"), frozenset()),
    ("a responses format", ("format", "schema"), frozenset({"type"})),
    ("a tool", ("function", "parameters"), frozenset({"type"})),
    ("a tool", ("input_schema",), frozenset({"name"})),
    ("a tool", ("inputSchema",), frozenset({"name"})),
    ("a function", ("parameters",), frozenset({"name"})),
    ("structured-output parameters", ("structured_outputs", "json"), frozenset()),
    ("guided-decoding parameters", ("guided_json",), frozenset()),
    ("parameters of generation", ("response_schema",), frozenset()),
    ("parameters of generation", ("response_json_schema",), frozenset()),
    ("a named schema", ("schema",), frozenset({"name"})),
)
"""What it is, the keys on the way to the schema, and the keys that must stand beside the first of them."""


@dataclass(frozen=True)
class Envelope:
    """A schema that stands inside something else: what that is, and the keys on the way."""

    kind: str
    path: tuple[str, ...]
    schema: Any

    def __str__(self) -> str:
        return f"this is {self.kind}, an envelope around a schema; the schema is what {'.'.join(self.path)} holds"


def envelope(document: Any) -> Envelope | None:
    """The envelope that ``document`` (parsed JSON) is, or ``None`` if it is no known one.

    An object with any keyword of JSON Schema that asserts something is a schema, whatever its other keys are.

    >>> envelope({"name": "user", "strict": True, "schema": {"type": "object"}}).path
    ('schema',)
    """
    if not isinstance(document, dict):
        return None
    kind = document.get("type")
    marked = kind in ("json_schema", "function", "text")
    known = (KEYWORDS - {"title", "description", "id", "$schema", "format", "default"}) & document.keys()
    if known - ({"type"} if marked else set()):
        return None
    for name, path, beside in ENVELOPES:
        inner: Any = document
        for key in path:
            inner = inner.get(key) if isinstance(inner, dict) else None
        if not isinstance(inner, (dict, bool)) or not beside <= document.keys():
            continue
        if path[-1] == "schema" and len(path) == 1 and marked:
            name = "a responses format"
        return Envelope(name, path, inner)
    return None


def unwrap(document: Any) -> Any:
    """The schema in an API's envelope, or ``document`` itself if there is no envelope. Nothing is copied.

    >>> unwrap({"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "integer"}}})
    {'type': 'integer'}
    """
    found = envelope(document)
    return document if found is None else found.schema


SCHEMA_KEYS = ("schema", "json_schema", "jsonSchema", "input_schema", "inputSchema", "parameters")
"""Keys under which files keep a schema beside other things, such as its tests."""


def schema_key(document: Any) -> str:
    """The key of a parsed JSON document under which a schema stands; empty if there is none of the usual names.

    >>> schema_key({"schema": {"type": "integer"}, "tests": []})
    'schema'
    """
    held = document if isinstance(document, dict) else {}
    schemas = (key for key in SCHEMA_KEYS if isinstance(held.get(key), dict) and KEYWORDS & held[key].keys())
    return next(schemas, "")
