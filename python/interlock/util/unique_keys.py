"""JSON texts of clients, in which no object may have a key twice.

``json.loads`` keeps the last of two members with one key. A schema would silently lose a keyword, so the core refuses
such a text, and this reader does the same for texts that are read in Python.
"""

from __future__ import annotations

import json
from typing import Any

from interlock.util.json_pointer import pointer_of

__all__ = ["RepeatedKeyError", "loads_unique"]


class RepeatedKeyError(ValueError):
    """A JSON text has a key twice in one object. ``pointer`` leads to the key inside of the text."""

    def __init__(self, key: str, pointer: str) -> None:
        super().__init__(f"key {json.dumps(key, ensure_ascii=False)} occurs twice in one object")
        self.pointer = pointer


def loads_unique(text: str | bytes) -> Any:
    """``json.loads(text)``. ``RepeatedKeyError`` for a text with a key that occurs twice in one object; other errors
    are those of ``json.loads``. Linear in the text.

    >>> loads_unique('{"a": {"b": 1}}')
    {'a': {'b': 1}}
    >>> try:
    ...     loads_unique('{"a": [{"b": 1, "b": 2}]}')
    ... except RepeatedKeyError as error:
    ...     print(error, "at", error.pointer)
    key "b" occurs twice in one object at /a/0/b
    """
    repeated: dict[int, tuple[dict[str, Any], str]] = {}

    def made(members: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(members)
        if len(found) < len(members):
            key = _first_repeated([key for key, _ in members])
            repeated[id(found)] = found, key  # The object is kept, so that no other one gets its id.
        return found

    value = json.loads(text, object_pairs_hook=made)
    if repeated:
        raise _located(value, repeated)
    return value


def _first_repeated(keys: list[str]) -> str:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            return key
        seen.add(key)
    raise AssertionError("the keys are not unique")


def _located(value: Any, repeated: dict[int, tuple[dict[str, Any], str]]) -> RepeatedKeyError:
    """The error of an object in ``value``. One is always there: what is no part of it stood in an object that has a key
    twice itself.
    """
    waiting: list[tuple[Any, Any]] = [(value, None)]
    for inner, way in waiting:
        if id(inner) in repeated:
            key = repeated[id(inner)][1]
            return RepeatedKeyError(key, pointer_of((way, key)))
        members = inner.items() if isinstance(inner, dict) else enumerate(inner) if isinstance(inner, list) else ()
        waiting += [(member, (way, key)) for key, member in members if isinstance(member, dict | list)]
    raise AssertionError("an object with a key twice is a part of its text")
