"""Keys as the parts of a JSON Pointer (RFC 6901), which has ``~0`` for ``~`` and ``~1`` for ``/``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["escaped", "unescaped", "value_at"]


def escaped(key: object) -> str:
    """A key, or the number of an element, as one part of a JSON Pointer.

    >>> escaped("a/b~c"), escaped(3)
    ('a~1b~0c', '3')
    """
    return str(key).replace("~", "~0").replace("/", "~1")


def unescaped(part: str) -> str:
    """The key that one part of a JSON Pointer stands for.

    >>> unescaped("a~1b~0c")
    'a/b~c'
    """
    return part.replace("~1", "/").replace("~0", "~")


def value_at(value: Any, keys: Iterable[str], default: Any = None) -> Any:
    """The part of a JSON value that keys and numbers of elements lead to; ``default`` where nothing is there.

    >>> value_at({"a": [1, {"b": 2}]}, ["a", "1", "b"]), value_at([], ["0"])
    (2, None)
    """
    for key in keys:
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return default
    return value
