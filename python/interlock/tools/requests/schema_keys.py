"""Schemas with keys and values that JSON has not. Programs pass a set or the key ``1``, of which ``json.dumps`` makes
``"1"``; ``json.loads`` gives NaN, and half a surrogate pair.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from interlock._core import LimitError
from interlock.tools.errors import RequestError
from interlock.tools.spec.fields import is_unicode
from interlock.util.json_pointer import pointer_of
from interlock.util.long_numbers import said_of_digits

__all__ = ["check_keys"]

_MOST_LEVELS = 1_000
"""Levels of a schema, which may contain itself. A grammar takes fewer."""


def check_keys(schema: Any, place: str, error: type[RequestError] = RequestError) -> None:
    """``error`` for a key that is no text and for a value that JSON has not, in a schema that stands at ``place``.
    ``LimitError`` for a schema that contains itself. Linear in the schema's size.

    >>> try:
    ...     check_keys({"properties": {1: {}}}, "/json_schema")
    ... except RequestError as error:
    ...     print(error)
    at /json_schema/properties: the key 1 is int: keys of a JSON object are str
    """
    waiting: list[tuple[Any, Any, int]] = [(schema, None, 0)] if isinstance(schema, Mapping | list | tuple) else []
    while waiting:
        value, way, depth = waiting.pop()
        if depth > _MOST_LEVELS:
            error_of_depth = LimitError(
                f"at {place}: a schema is nested at most {_MOST_LEVELS} levels deep; its deep parts can stand in $defs"
            )
            error_of_depth.pointer, error_of_depth.limit = place, _MOST_LEVELS
            raise error_of_depth
        is_list = isinstance(value, list | tuple)
        for key, inner in enumerate(value) if is_list else value.items():
            if not is_list and not isinstance(key, str):
                said = f"the key {key!r} is {type(key).__name__}: keys of a JSON object are str"
                raise error(said, place + pointer_of(way))
            if isinstance(key, str) and not is_unicode(key):
                raise error("a key holds a lone surrogate, which is not text", place + pointer_of(way))
            if isinstance(inner, Mapping | list | tuple):
                waiting.append((inner, (way, key), depth + 1))
            elif inner is not None and (wrong := _wrong_in(inner)):
                raise error(wrong, place + pointer_of((way, key)))


def _wrong_in(value: Any) -> str:
    """What is wrong with a value that holds no others; empty where JSON has it."""
    if isinstance(value, str):
        return "" if is_unicode(value) else "the text holds a lone surrogate, which is not text"
    if isinstance(value, float):
        if math.isinf(value):  # Python reads 1e999 so.
            return "the number is beyond the largest double, 1.8e308, or is infinite"
        return "NaN and infinities are no JSON numbers" if math.isnan(value) else ""
    if isinstance(value, int):
        return _too_long(value) if value.bit_length() > _SHORT else ""
    return f"a value of JSON is needed, not {type(value).__name__}"


_SHORT = 2_000
"""Bits of an integer that Python always writes: its bound is at least 640 digits."""


def _too_long(number: int) -> str:
    try:
        str(number)
    except ValueError as error:
        return said_of_digits(error)
    return ""
