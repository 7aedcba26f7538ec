"""Numbers without bounds that a model did not end by itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from interlock.caller_warnings import warn_caller
from interlock.output_types import OutputType

__all__ = ["UnboundedNumberWarning", "warn_long_number"]

_LONG = 18
"""More digits than a whole number of 64 bits can have."""

_BOUNDS = frozenset(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "enum", "const", "multipleOf"))
_NAMES = {"integer": "int", "number": "float"}


class UnboundedNumberWarning(UserWarning):
    """A model wrote a very long number for a plain ``int`` or ``float``: it did not stop writing digits by itself.

    The value is of the type, and most likely useless. Bounds are the remedy: ``Annotated[int, Field(ge=0, le=120)]``.
    """


class _Written(str):
    """A number as it was written."""


def warn_long_number(output: OutputType[Any], text: str, max_tokens: int) -> None:
    """Warn (``UnboundedNumberWarning``) if a number in ``text``, which was written for ``output``, has more than 18
    digits and the type has no bounds for it. The message names the place. A number that is the whole text is long, too,
    if it has nearly as many digits as tokens were allowed.
    """
    schema = output.source if output.kind == "json_schema" else None
    if not isinstance(schema, dict):
        return
    try:
        value = json.loads(text, parse_int=_Written, parse_float=_Written, parse_constant=_Written)
    except (ValueError, RecursionError):
        return
    for place, number in _numbers(value, ()):
        # A number in which max_tokens ended the output can only be the output itself.
        enough = _LONG if place else min(_LONG, max(max_tokens - 1, 3) - 1)
        if max(_digits(number), _whole_digits(number)) <= enough:
            continue
        kind = _unbounded(schema, schema, place, 0)
        if kind is None:
            continue
        digits = _digits(number) if kind == "number" else max(_digits(number), _whole_digits(number))
        if digits <= enough:
            continue
        name = _NAMES[kind]
        which = f"a number of {digits} digits" + (f" at {_shown(place)}" if place else "")
        warn_caller(
            f"the model wrote {which} and did not end it by itself, since {output.name} has no bounds"
            f"{' there' if place else ''}: pass bounds, such as Annotated[{name}, pydantic.Field(ge=0, le=120)]",
            UnboundedNumberWarning,
        )
        return


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


def _unbounded(root: Mapping[str, Any], schema: Any, place: tuple[str | int, ...], depth: int) -> str | None:
    """``"integer"`` or ``"number"`` if the schema of a place lets such a number have any length, otherwise ``None``."""
    if not isinstance(schema, Mapping) or depth > 64:
        return None
    ref = schema.get("$ref")
    if isinstance(ref, str) and ref.startswith("#/"):
        target: Any = root
        for step in ref[2:].split("/"):
            target = target.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(target, Mapping) else None
        return _unbounded(root, target, place, depth + 1)
    for keyword in ("anyOf", "oneOf"):
        for option in schema.get(keyword) or ():
            found = _unbounded(root, option, place, depth + 1)
            if found is not None:
                return found
    if not place:
        types = schema.get("type")
        names = [types] if isinstance(types, str) else types if isinstance(types, list) else []
        free = not _BOUNDS & set(schema)
        return next((name for name in ("integer", "number") if free and name in names), None)
    return _unbounded(root, _inner(schema, place[0]), place[1:], depth + 1)


def _inner(schema: Mapping[str, Any], step: str | int) -> Any:
    """The schema of a member or of an element."""
    if isinstance(step, str):
        properties = schema.get("properties")
        if isinstance(properties, Mapping) and step in properties:
            return properties[step]
        return schema.get("additionalProperties")
    first = schema.get("prefixItems")
    if isinstance(first, list) and step < len(first):
        return first[step]
    return schema.get("items")


def _shown(place: tuple[str | int, ...]) -> str:
    """A place as Python writes it."""
    return "".join(f"[{step!r}]" for step in place)
