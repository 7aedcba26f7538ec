"""Conditions of ``if`` and ``not``: whether each value that satisfies one satisfies another.

More accepted below ``not`` is less accepted by the whole, so that conditions are compared by the values that satisfy
them, and the other way round. Only plain ones are: names that are required, constants, types, and bounds. The answer is
yes, with certainty, or that it is not known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from interlock.cli.comparing.schema_parts import LEAST, MOST, SILENT, dependents, text_of_json, types_of
from interlock.schema_hints import KEYWORDS

__all__ = ["condition", "implies", "says_nothing"]

ALONE = frozenset("pattern format multipleOf minimum maximum exclusiveMinimum exclusiveMaximum uniqueItems".split())
"""Keywords whose meaning depends on no neighbour, and that are compared by how they are written."""


def says_nothing(schema: Any) -> bool:
    """Whether a schema accepts everything, as its keywords show.

    >>> says_nothing({"title": "x", "dependentRequired": {"a": []}}), says_nothing({"type": "string"})
    (True, False)
    """
    if not isinstance(schema, dict):
        return schema is True
    return all(key not in KEYWORDS or key in SILENT or _is_idle(key, schema) for key in schema)


def _is_idle(key: str, schema: dict[str, Any]) -> bool:
    value = schema[key]
    if key in ("if", "then", "else"):
        return "if" not in schema or all(says_nothing(schema.get(way, True)) for way in ("then", "else"))
    if key == "not":
        return value is False
    if key in ("propertyNames", "additionalProperties", "items"):
        return says_nothing(value)
    if key in ("properties", "patternProperties", "dependentSchemas"):
        return isinstance(value, dict) and all(map(says_nothing, value.values()))
    if key in ("allOf", "prefixItems"):
        return isinstance(value, list) and all(map(says_nothing, value))
    if key == "dependentRequired":
        return isinstance(value, dict) and not any(value.values())
    return bool(key == "required" and value == [] or key in LEAST and value == 0)


def condition(part: dict[str, Any]) -> tuple[Any, Any, Any]:
    """The condition of a part with ``if``, and what it asks for where that holds and where not, without a ``not``
    around it.

    >>> condition({"if": {"not": {"required": ["a"]}}, "then": False})
    ({'required': ['a']}, True, False)
    """
    test, then, other = part["if"], part.get("then", True), part.get("else", True)
    while isinstance(test, dict) and [key for key in test if key in KEYWORDS and key not in SILENT] == ["not"]:
        test, then, other = test["not"], other, then
    return test, then, other


def implies(one: Any, other: Any, same: Callable[[Any, Any], bool]) -> bool:
    """Whether it is certain that each value which satisfies the first condition satisfies the second. ``same`` says
    whether two parts say the same, and what they refer to does.
    """
    if says_nothing(other) or one is False:
        return True
    if not isinstance(one, dict) or not isinstance(other, dict):
        return False
    if same(one, other):
        return True
    for key in ("anyOf", "oneOf"):
        if [k for k in one if k in KEYWORDS and k not in SILENT] == [key]:
            return all(implies(way, other, same) for way in one[key])
    if any(implies(part, other, same) for part in one.get("allOf", ())):
        return True
    said = [key for key in other if key in KEYWORDS and key not in SILENT]
    return "$ref" not in said and all(_implies(key, one, other, same) for key in said)


def _implies(key: str, one: dict[str, Any], other: dict[str, Any], same: Callable[[Any, Any], bool]) -> bool:
    """Whether a keyword of the second condition follows from the first."""
    value = other[key]
    if key == "anyOf":
        return any(implies(one, way, same) for way in value)
    if key == "allOf":
        return all(implies(one, part, same) for part in value)
    if key == "required":
        return set(value) <= set(one.get("required", ()))
    if key == "properties":
        ours = one.get("properties", {})
        return all(
            says_nothing(part) or name in ours and implies(ours[name], part, same) for name, part in value.items()
        )
    if key in ("const", "enum"):
        allowed = {text_of_json(constant) for constant in (value if key == "enum" else [value])}
        lists = [one["enum"]] if "enum" in one else []
        lists += [[one["const"]]] if "const" in one else []
        return any({text_of_json(constant) for constant in constants} <= allowed for constants in lists)
    if key == "type":
        wide = types_of(other) | ({"integer"} if "number" in types_of(other) else set())
        return "type" in one and types_of(one) <= wide
    if key in LEAST or key in MOST:
        return key in one and bool(one[key] >= value if key in LEAST else one[key] <= value)
    if key == "not":
        return "not" in one and implies(value, one["not"], lambda x, y: same(y, x))
    if key == "dependentRequired":
        return key in one and dependents(one) == dependents(other)
    return key in ALONE and key in one and same(one[key], value)
