"""Numbers without bounds that a model did not end by itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from interlock.output_types import OutputType
from interlock.util.caller_warnings import warn_caller
from interlock.util.json_pointer import escaped, unescaped
from interlock.util.plurals import counted

__all__ = ["UnboundedNumberWarning", "warn_long_number"]

_LONG = 18
"""More digits than a whole number of 64 bits can have."""

_SIDES = {"upper": ("maximum", "exclusiveMaximum"), "lower": ("minimum", "exclusiveMinimum")}
_LISTED = frozenset(("enum", "const"))
_NAMES = {"integer": "int", "number": "float"}
_UNKNOWN: Any = object()
"""In the place of a value that is not known."""


class UnboundedNumberWarning(UserWarning):
    """A model wrote a very long number where the type has no bound on that side, as a plain ``int``, ``float``,
    ``PositiveInt`` or ``Any``: it did not stop writing digits by itself.

    The value is of the type, and most likely useless. Bounds on both sides are the remedy:
    ``Annotated[int, Field(ge=0, le=120)]``.
    """

    __module__ = "interlock"  # Where programs find it, as tracebacks should say.


class _Written(str):
    """A number as it was written."""


def warn_long_number(
    output: OutputType[Any], text: str, max_tokens: int, is_cut: bool | None = None, *, value: Any = _UNKNOWN
) -> None:
    """Warn (``UnboundedNumberWarning``) if a number in ``text``, which was written for ``output``, has more than 18
    digits and the type has no bound on its side. The message names the place. A number that is the whole text is long,
    too, if the budget ended it: ``is_cut`` says so, and without it nearly as many digits as tokens were allowed do.
    ``value`` is what the type made of the text: the remedy names the number's own class.
    """
    schema = output.source if output.kind == "json_schema" else None
    if not isinstance(schema, dict | bool):
        return
    try:
        written = json.loads(text, parse_int=_Written, parse_float=_Written, parse_constant=_Written)
    except (ValueError, RecursionError):
        return
    root = schema if isinstance(schema, dict) else {}
    for place, number in _numbers(written, ()):
        # A number in which max_tokens ended the output can only be the output itself.
        enough = _LONG
        if not place and is_cut is not False:
            enough = 0 if is_cut else min(_LONG, max(max_tokens - 1, 3) - 1)
        if max(_digits(number), _whole_digits(number)) <= enough:
            continue
        found = _unbounded(root, schema, place, _open_sides(number, enough), 0)
        if found is None:
            continue
        kind, open_side = found
        digits = _digits(number) if kind == "number" else max(_digits(number), _whole_digits(number))
        if digits <= enough:
            continue
        warn_caller(
            _message(output.name, place, digits, _class_of(value, place, kind), open_side), UnboundedNumberWarning
        )
        return


def _message(name: str, place: tuple[str | int, ...], digits: int, class_name: str, open_side: str) -> str:
    which = f"a number of {counted(digits, 'digit')}" + (f" at {_shown(place)}" if place else "")
    lacks = "bounds" if open_side == "both" else f"{open_side} bound"
    missing = {"both": "ge=0, le=120", "upper": "le=120", "lower": "ge=0"}[open_side]
    bound = f"pydantic.Field({missing})"
    bound = f"Annotated[{class_name}, {bound}]" if class_name else f"{bound} in its annotation"
    way = f"{'bounds' if open_side == 'both' else 'one'}, such as {bound}"
    there = " there" if place else ""
    return f"the model wrote {which} and did not end it by itself, since {name} has no {lacks}{there}: pass {way}"


def _class_of(value: Any, place: tuple[str | int, ...], kind: str) -> str:
    """How a program writes the class of the number at ``place``; empty where that is not known, as behind an alias."""
    if value is _UNKNOWN:
        return _NAMES[kind]
    for step in place:
        try:
            value = getattr(value, step) if isinstance(step, str) and not isinstance(value, Mapping) else value[step]
        except (AttributeError, KeyError, IndexError, TypeError):
            return ""
    return "decimal.Decimal" if isinstance(value, Decimal) else _NAMES[kind]


def _open_sides(number: str, enough: int) -> tuple[str, ...]:
    """The sides of which one has to be open for this number: one by its sign, either if its fraction is long."""
    if "." in number and _whole_digits(number) <= enough:
        return "upper", "lower"
    return ("lower",) if number.startswith("-") else ("upper",)


def _numbers(value: Any, place: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The numbers of a document, each with its place."""
    waiting: list[tuple[tuple[str | int, ...], Any]] = [(place, value)]
    while waiting:
        at, found = waiting.pop()
        if isinstance(found, _Written):
            yield at, found
        elif isinstance(found, dict):
            waiting += [((*at, key), inner) for key, inner in reversed(found.items())]
        elif isinstance(found, list):
            waiting += [((*at, i), inner) for i, inner in reversed([*enumerate(found)])]


def _digits(number: str) -> int:
    return sum(character.isdigit() for character in number)


def _whole_digits(number: str) -> int:
    """How many digits the whole part has without an exponent."""
    try:
        return Decimal(number).adjusted() + 1
    except (InvalidOperation, ValueError, OverflowError):
        return 0


def _unbounded(
    root: Mapping[str, Any], schema: Any, place: tuple[str | int, ...], sides: tuple[str, ...], depth: int
) -> tuple[str, str] | None:
    """``"integer"`` or ``"number"`` and what is open there, ``"upper"``, ``"lower"`` or ``"both"``, if the schema of a
    place lets such a number have any length on one of ``sides``; otherwise ``None``.
    """
    if schema is True:
        schema = {}
    if not isinstance(schema, Mapping) or depth > 64:
        return None
    ref = schema.get("$ref")
    if isinstance(ref, str) and ref.startswith("#"):
        target: Any = root
        for step in ref[2:].split("/") if ref != "#" else ():
            target = target.get(unescaped(step)) if isinstance(target, Mapping) else None
        return _unbounded(root, target, place, sides, depth + 1)
    if isinstance(parts := schema.get("allOf"), list) and all(isinstance(part, Mapping) for part in parts):
        merged = {key: value for key, value in schema.items() if key != "allOf"}
        for part in parts:
            merged = {**part, **merged}
        return _unbounded(root, merged, place, sides, depth + 1)
    for keyword in ("anyOf", "oneOf"):
        for option in schema.get(keyword) or ():
            found = _unbounded(root, option, place, sides, depth + 1)
            if found is not None:
                return found
    if "anyOf" in schema or "oneOf" in schema or _LISTED & set(schema):
        return None
    types = schema.get("type")
    names = [types] if isinstance(types, str) else types if isinstance(types, list) else None
    if place:
        within = "object" if isinstance(place[0], str) else "array"
        if names is not None and within not in names:
            return None
        return _unbounded(root, _inner(schema, place[0]), place[1:], sides, depth + 1)
    kind = "number" if names is None else next((name for name in ("integer", "number") if name in names), None)
    is_open = {side: not any(keyword in schema for keyword in keywords) for side, keywords in _SIDES.items()}
    fraction_ends = len(sides) > 1 and "multipleOf" in schema
    if kind is None or fraction_ends or not any(is_open[side] for side in sides):
        return None
    return kind, "both" if all(is_open.values()) else "upper" if is_open["upper"] else "lower"


def _inner(schema: Mapping[str, Any], step: str | int) -> Any:
    """The schema of a member or of an element."""
    if isinstance(step, str):
        properties = schema.get("properties")
        if isinstance(properties, Mapping) and step in properties:
            return properties[step]
        if "patternProperties" in schema:
            return None
        return schema.get("additionalProperties", True)
    first = schema.get("prefixItems")
    if isinstance(first, list) and step < len(first):
        return first[step]
    return schema.get("items", True)


def _shown(place: tuple[str | int, ...]) -> str:
    """A place as a JSON Pointer, as in all messages about values."""
    return "".join(f"/{escaped(str(step))}" for step in place)
