"""Objects of a schema that take other keys than those that it names: what gives most schemas their many states."""

from __future__ import annotations

from typing import Any

IN_PLACE = ("allOf", "anyOf", "oneOf", "if", "then", "else", "not")
"""Keywords whose schemas are about the same value."""


def has_open_objects(document: Any) -> bool:
    """Whether an object in a schema names properties and takes others as well. What applies in place to an object that
    is closed beside it, such as ``then``, is not open itself.
    """
    ways = [(document, False)]
    for value, is_closed in ways:
        if isinstance(value, dict):
            parts = [value, *(part for part in _list(value.get("allOf")) if isinstance(part, dict))]
            is_closed = is_closed or any(
                part.get(word) is False for part in parts for word in ("additionalProperties", "unevaluatedProperties")
            )
            if isinstance(value.get("properties"), dict) and not is_closed:
                return True
            for key, inner in value.items():
                if key == "dependentSchemas" and isinstance(inner, dict):
                    ways += [(part, is_closed) for part in inner.values()]
                else:
                    ways.append((inner, is_closed and key in IN_PLACE))
        elif isinstance(value, list):
            ways += [(part, is_closed) for part in value]
    return False


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
