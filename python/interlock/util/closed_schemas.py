"""JSON Schemas whose objects have the properties that are declared and no others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock._core import LimitError, SchemaError
from interlock.util import verbatim_json

__all__ = ["closed", "closed_text"]

_MAPS = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas", "dependencies")
"""Keywords whose object holds schemas by names that anybody may choose."""
_VALUES = ("const", "enum", "default", "examples", "required")
"""Keywords that hold values, and no schemas."""


def closed(schema: Any) -> Any:
    """``schema`` with ``"additionalProperties": false`` wherever properties are declared, by name or by pattern, and it
    says nothing of others.

    >>> closed({"properties": {"a": True}})
    {'properties': {'a': True}, 'additionalProperties': False}
    >>> closed({"patternProperties": {"^x": {}}, "additionalProperties": True})
    {'patternProperties': {'^x': {}}, 'additionalProperties': True}
    """
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _MAPS and isinstance(value, Mapping):
            found[key] = {name: closed(part) for name, part in value.items()}
        else:
            found[key] = value if key in _VALUES else closed(value)
    declares = any(isinstance(found.get(key), Mapping) for key in ("properties", "patternProperties"))
    if declares and not {"additionalProperties", "unevaluatedProperties"} & set(found):
        found["additionalProperties"] = False
    return found


def closed_text(schema: str) -> str:
    """The same for the text of a schema, whose numbers stay as they are written. ``SchemaError`` for a text that is no
    JSON, ``LimitError`` for one that is nested too deeply for Python.

    >>> closed_text('{"properties": {"a": {"maximum": 1.10}}}')
    '{"properties":{"a":{"maximum":1.10}},"additionalProperties":false}'
    """
    try:
        return verbatim_json.written(closed(verbatim_json.read(schema)))
    except RecursionError:
        raise LimitError(
            'the schema is nested too deeply to be closed: write "additionalProperties": false into it'
        ) from None
    except ValueError as error:
        raise SchemaError(f"the schema is not JSON: {error}") from None
