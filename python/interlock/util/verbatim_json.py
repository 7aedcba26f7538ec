"""A value inside a JSON text, as text: its numbers as they are written, and its keys in their order."""

from __future__ import annotations

import json
from typing import Any

from interlock._core import SchemaError

__all__ = ["dump", "extract", "parse", "read", "written"]


def extract(data: bytes, *path: str) -> str:
    """The JSON text of the value at these keys, which are there, one inside the other."""
    inner = parse(data)
    for key in path:
        inner = inner[key]
    return dump(inner)


def parse(data: bytes) -> Any:
    """The value of a JSON text, for ``dump``."""
    try:
        return read(data)
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"not a JSON file: {error or 'nested too deeply'}") from None


def dump(value: Any) -> str:
    """The JSON text of what ``parse`` returned, or of a part of it."""
    try:
        return written(value)
    except RecursionError:
        raise SchemaError("nested too deeply") from None


def read(data: str | bytes) -> Any:
    """The value of a JSON text, for ``written``. ``ValueError`` and ``RecursionError`` are those of ``json``.

    >>> written(read('{"maximum": 1.10, "big": 1e400}'))
    '{"maximum":1.10,"big":1e400}'
    """
    return json.loads(data, parse_float=_Verbatim, parse_int=_Verbatim)


class _Verbatim(str):
    """A number as it was written: a binary float would change what the schema says."""


def written(value: Any) -> str:
    """The JSON text of what ``read`` returned, or of a part of it."""
    if isinstance(value, _Verbatim):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{written(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(written(item) for item in value) + "]"
    return json.dumps(value)
