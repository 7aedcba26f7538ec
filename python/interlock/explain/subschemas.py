"""The schemas that stand inside of a schema, by the keywords of JSON Schema that hold any."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlock.util.json_pointer import escaped

__all__ = ["HOLDERS", "subschemas"]

_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
_SCHEMAS = (
    "items", "additionalItems", "contains", "additionalProperties", "then", "else", "unevaluatedItems",
    "unevaluatedProperties", "if", "not", "propertyNames",
)  # fmt: skip
HOLDERS = (*_MAPS, *_LISTS, *_SCHEMAS)
"""The keywords that hold schemas."""


def subschemas(part: dict[str, Any], pointer: str) -> Iterator[tuple[str, Any, str]]:
    """The schemas right inside of the schema at a pointer: the keyword that holds each, the schema and its pointer.

    >>> list(subschemas({"items": {"type": "null"}, "anyOf": [True]}, "/a"))
    [('items', {'type': 'null'}, '/a/items'), ('anyOf', True, '/a/anyOf/0')]
    """
    for keyword, value in part.items():
        place = f"{pointer}/{escaped(keyword)}"
        if keyword in _MAPS and isinstance(value, dict):
            yield from ((keyword, inner, f"{place}/{escaped(name)}") for name, inner in value.items())
        elif keyword in _LISTS and isinstance(value, list):
            yield from ((keyword, inner, f"{place}/{i}") for i, inner in enumerate(value))
        elif keyword in _SCHEMAS:
            yield keyword, value, place
