"""Which JSON types a schema lets a value have: enough to tell a raw string from JSON, and no more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from interlock.tools.notations.argument_writing import json_type
from interlock.util.json_pointer import unescaped, value_at

__all__ = ["declared_types", "property_schema"]

_DEPTH = 32


def declared_types(schema: Any, root: Any, depth: int = 0) -> set[str] | None:
    """The types that ``schema`` names, or ``None`` where it leaves the type open. ``root`` resolves ``$ref``.

    >>> sorted(declared_types({"anyOf": [{"type": "string"}, {"enum": [1, None]}]}, True))
    ['integer', 'null', 'string']
    """
    if not isinstance(schema, Mapping) or depth > _DEPTH:
        return None
    if isinstance(schema.get("$ref"), str):
        return declared_types(resolved(schema["$ref"], root), root, depth + 1)
    if "type" in schema:
        kinds = schema["type"]
        named = [kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(kind, str)]
        return set(named) or None
    if "const" in schema:
        return {json_type(schema["const"])}
    if isinstance(schema.get("enum"), list):
        return {json_type(value) for value in schema["enum"]}
    for word in ("anyOf", "oneOf"):
        if isinstance(schema.get(word), list):
            parts = [declared_types(part, root, depth + 1) for part in schema[word]]
            return None if None in parts else set().union(*(part for part in parts if part))
    if isinstance(schema.get("allOf"), list):
        known = [part for part in (declared_types(each, root, depth + 1) for each in schema["allOf"]) if part]
        return set.intersection(*known) if known else None
    return None


def property_schema(schema: Any, key: str, root: Any) -> Any:
    """The schema of the property ``key``, or ``True`` where ``schema`` says nothing about it."""
    if isinstance(schema, Mapping) and isinstance(schema.get("$ref"), str):
        schema = resolved(schema["$ref"], root)
    if not isinstance(schema, Mapping):
        return True
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and key in properties:
        return properties[key]
    return schema.get("additionalProperties", True)


def resolved(reference: str, root: Any) -> Any:
    """What a reference into the same schema means; ``True`` for any other."""
    if not reference.startswith("#"):
        return True
    return value_at(root, (unescaped(unquote(part)) for part in reference[1:].split("/")[1:]), True)
