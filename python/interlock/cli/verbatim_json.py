"""A value inside a JSON text, as text: its numbers as they are written, and its keys in their order."""

from __future__ import annotations

import json
from typing import Any

import interlock
from interlock.cli.exits import InputError
from interlock.near_words import nearest

__all__ = ["extract"]


def extract(data: bytes, *path: str) -> str:
    """The JSON text of the value at these keys, one inside the other, its numbers and the order of its keys kept."""
    try:
        inner = json.loads(data, parse_float=_Verbatim, parse_int=_Verbatim)
    except (ValueError, RecursionError) as error:
        raise interlock.SchemaError(f"not a JSON file: {error or 'nested too deeply'}") from None
    for key in path:
        if not isinstance(inner, dict):
            raise InputError(f"the file is no JSON object, so it has no key {key!r} (see --schema-key)")
        if key not in inner:
            raise InputError(f"the file has no key {key!r} at its top{_instead(key, inner)} (see --schema-key)")
        inner = inner[key]
    try:
        return _dump(inner)
    except RecursionError:
        raise interlock.SchemaError("nested too deeply") from None


def _instead(key: str, there: dict[str, Any]) -> str:
    """The key that was probably meant, or those that are there."""
    if meant := nearest(key, there):
        return f", did you mean {meant!r}?"
    some = ", ".join(map(repr, list(there)[:8])) or "none"
    return f"; it has {some}" + (", …" if len(there) > 8 else "")


class _Verbatim(str):
    """A number as it was written: a binary float would change what the schema says."""


def _dump(value: Any) -> str:
    if isinstance(value, _Verbatim):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{_dump(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_dump(item) for item in value) + "]"
    return json.dumps(value)
