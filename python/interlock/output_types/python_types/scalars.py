"""Single values: the schema of each type, and the way from JSON to a value of it.

JSON is read with its numbers that have a point or an exponent as ``Decimal``, so that large integers stay exact.
"""

from __future__ import annotations

import datetime
import pathlib
import re
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from interlock.output_types.python_types import type_patterns

__all__ = ["SCALARS", "Mismatch", "anything"]


class Mismatch(Exception):
    """A JSON value is not of the type that is tried."""


def anything(value: Any) -> Any:
    """The value as ``json`` reads it."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, list):
        return [anything(element) for element in value]
    if isinstance(value, dict):
        return {key: anything(element) for key, element in value.items()}
    return value


def _integer(value: Any) -> int:
    # 5.0 and 5e2 are integers in JSON Schema.
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Mismatch(f"an integer is needed, not {anything(value)!r}")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise Mismatch(f"a number is needed, not {value!r}")
    return float(value)


def _decimal(value: Any) -> Decimal:
    _number(value)
    return Decimal(value)


def _exactly(kind: type) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        if type(value) is not kind:
            raise Mismatch(f"{kind.__name__} is needed, not {value!r}")
        return value

    return convert


def _read(function: Callable[[str], Any]) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        if not isinstance(value, str):
            raise Mismatch(f"a string is needed, not {value!r}")
        try:
            return function(value)
        except (ValueError, ArithmeticError) as error:
            raise Mismatch(f"{value!r}: {error}") from error

    return convert


_DURATION = re.compile(r"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")


def _duration(text: str) -> datetime.timedelta:
    found = _DURATION.fullmatch(text)
    if found is None:
        raise ValueError("not a duration such as P1DT2H")
    days, hours, minutes = (int(part or 0) for part in found.group(2, 3, 4))
    made = datetime.timedelta(days=days, hours=hours, minutes=minutes, seconds=float(found[5] or 0))
    return -made if found[1] else made


#: Schema and converter of each type.
SCALARS: dict[Any, tuple[dict[str, Any], Callable[[Any], Any]]] = {
    int: ({"type": "integer"}, _integer),
    float: ({"type": "number"}, _number),
    bool: ({"type": "boolean"}, _exactly(bool)),
    str: ({"type": "string"}, _exactly(str)),
    type(None): ({"type": "null"}, _exactly(type(None))),
    Decimal: ({"type": "number"}, _decimal),
    datetime.datetime: (type_patterns.whole(type_patterns.DATETIME), _read(datetime.datetime.fromisoformat)),
    datetime.date: (type_patterns.whole(type_patterns.DATE), _read(datetime.date.fromisoformat)),
    datetime.time: (type_patterns.whole(type_patterns.TIME), _read(datetime.time.fromisoformat)),
    datetime.timedelta: (type_patterns.whole(type_patterns.DURATION), _read(_duration)),
    **dict.fromkeys((pathlib.Path, pathlib.PurePath), ({"type": "string"}, _read(pathlib.Path))),
    uuid.UUID: (type_patterns.whole(type_patterns.uuid_pattern()), _read(uuid.UUID)),
}
