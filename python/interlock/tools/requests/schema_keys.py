"""Schemas that Python programs pass, with keys and values that JSON has not. ``json.dumps`` makes ``"1"`` of the key
``1``, and raises an error of Python's own for a set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock._core import LimitError
from interlock.tools.errors import RequestError
from interlock.util.json_pointer import pointer_of

__all__ = ["check_keys"]

_MOST_LEVELS = 1_000
"""Levels of a schema, which may contain itself. A grammar takes fewer."""


def check_keys(schema: Any, place: str, error: type[RequestError] = RequestError) -> None:
    """``error`` for a key that is no ``str`` and for a value that JSON has not, in a schema that stands at ``place``.
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
            if isinstance(inner, Mapping | list | tuple):
                waiting.append((inner, (way, key), depth + 1))
            elif inner is not None and not isinstance(inner, str | int | float):
                raise error(f"a value of JSON is needed, not {type(inner).__name__}", place + pointer_of((way, key)))
