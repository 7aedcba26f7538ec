"""Bounds that do not fit their type, such as a greatest length of an ``int``.

pydantic takes ``Annotated[int, Field(max_length=3)]`` for a function in Python that is called with the value. No mask
can follow that, and the call fails for every value. Where the types of a union fit, the bound is put into the schema.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic.errors import PydanticInvalidForJsonSchema

__all__ = ["fit_bounds"]

_NUMBERS = frozenset(("int", "float", "decimal"))
_LENGTHS = {
    **dict.fromkeys(("str", "bytes"), "Length"),
    **dict.fromkeys(("list", "set", "frozenset", "tuple"), "Items"),
    "dict": "Properties",
}
_WORDS = {"none": "None", "any": "Any", "model": "a class", "dataclass": "a class", "typed-dict": "a TypedDict"}
_KNOWN = frozenset(
    "int float decimal str bytes bool none any list set frozenset tuple dict date datetime time timedelta uuid url "
    "enum model dataclass typed-dict".split()
)
_KEYWORDS = {
    "ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum", "multiple_of": "multipleOf",
}  # fmt: skip
_ON_TEXT = ("pattern", "strip_whitespace", "to_lower", "to_upper", "coerce_numbers_to_str")
_Schema = Mapping[str, Any]


def fit_bounds(schema: _Schema, made: dict[str, Any], definitions: Mapping[str, Any]) -> None:
    """Look at the bounds that pydantic calls in Python around the core schema ``schema``, and put those that fit into
    ``made``, its JSON Schema. ``PydanticInvalidForJsonSchema`` for one that does not fit. ``definitions`` are the core
    schemas by their references.
    """
    if schema.get("type") == "chain":
        steps = schema["steps"]
        kinds = _kinds(steps[0], definitions)
        for step in steps[1:]:
            if "apply_known_metadata" in getattr(step.get("function", {}).get("function"), "__qualname__", ""):
                for name in _ON_TEXT:
                    if step["schema"].get(name) is not None and kinds is not None and not kinds <= {"str"}:
                        raise _misfit(name, step["schema"][name], "texts", kinds - {"str"})
        return
    bound = _bound(schema)
    if bound is None:
        return
    name, value = bound
    kinds = _kinds(schema["schema"], definitions)
    # What a function of the class makes of the value is not known; the bound is the class's to check.
    if kinds is None:
        made.pop(name, None)
        return
    if name in _KEYWORDS:
        made.pop(name, None)
        if kinds <= _NUMBERS:
            made[_KEYWORDS[name]] = value
        # Bounds of dates are read elsewhere.
        elif isinstance(value, int | float):
            raise _misfit(name, value, "numbers", kinds - _NUMBERS)
    elif name in ("min_length", "max_length"):
        if not kinds <= _LENGTHS.keys():
            raise _misfit(name, value, "texts and collections", kinds - _LENGTHS.keys())
        for kind in kinds:
            made[name[:3] + _LENGTHS[kind]] = value
    elif name in ("max_digits", "decimal_places"):
        raise _misfit(name, value, "a Decimal", kinds - {"decimal"})


def _bound(schema: _Schema) -> tuple[str, Any] | None:
    """The bound that pydantic calls in Python around a schema."""
    function = schema.get("function")
    called = function.get("function") if schema.get("type") == "function-after" and isinstance(function, dict) else None
    if not isinstance(called, functools.partial) or len(called.keywords) != 1:
        return None
    if called.func.__module__ != "pydantic._internal._validators":
        return None
    return next(iter(called.keywords.items()))


def _kinds(schema: _Schema, definitions: Mapping[str, Any]) -> frozenset[str] | None:
    """The kinds of values that a core schema reads; ``None`` where a function makes them, or a kind is not known."""
    found: set[str] = set()
    for kind in _read(schema, definitions, 0):
        if kind not in _KNOWN:
            return None
        found.add(kind)
    return frozenset(found) or None


def _read(schema: _Schema, definitions: Mapping[str, Any], depth: int) -> Iterator[str]:
    kind = schema.get("type", "")
    if depth > 64:
        yield "deep"
    elif kind == "definition-ref":
        yield from _read(definitions.get(schema["schema_ref"], {}), definitions, depth + 1)
    elif kind == "union":
        for choice in schema["choices"]:
            yield from _read(choice[0] if isinstance(choice, tuple) else choice, definitions, depth + 1)
    elif kind == "nullable":
        yield "none"
        yield from _read(schema["schema"], definitions, depth + 1)
    elif kind in ("default", "function-after") and (kind == "default" or _bound(schema)):
        yield from _read(schema["schema"], definitions, depth + 1)
    elif kind == "literal":
        for value in schema["expected"]:
            name = "none" if value is None else type(value).__name__
            yield name if name in _KNOWN else "enum"
    else:
        yield kind


def _misfit(name: str, value: Any, fits: str, odd: frozenset[str]) -> PydanticInvalidForJsonSchema:
    kind = min(odd) if odd else "decimal"
    shown = f"{name}={value!r:.40}"
    error = PydanticInvalidForJsonSchema(f"the bound {shown} is for {fits}, and does not fit {_WORDS.get(kind, kind)}")
    way = "leave it out, or take a type that it fits"
    if kind in _NUMBERS and fits.startswith("texts"):
        way = "bound a number with ge, gt, le and lt"
    elif kind in _LENGTHS and fits == "numbers":
        way = "bound a length with min_length and max_length"
    elif kind in _NUMBERS and fits == "a Decimal":
        way = "take Decimal, with the bound in its own Annotated, or bound the number with ge and le"
    error.__dict__["way"] = way
    return error
