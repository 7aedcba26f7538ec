"""Keys as the parts of a JSON Pointer (RFC 6901), which has ``~0`` for ``~`` and ``~1`` for ``/``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["escaped", "pointer_of", "unescaped", "value_at"]


def escaped(key: object) -> str:
    """A key, or the number of an element, as one part of a JSON Pointer.

    >>> escaped("a/b~c"), escaped(3)
    ('a~1b~0c', '3')
    """
    return str(key).replace("~", "~0").replace("/", "~1")


def pointer_of(way: Any) -> str:
    """The JSON Pointer of a way through a value: a pair of the way to what is above and the last key, ``None`` at the
    root. A walk that keeps its ways like this makes text of the one that it needs.

    >>> pointer_of(((None, "a/b"), 0)), pointer_of(None)
    ('/a~1b/0', '')
    """
    parts: list[str] = []
    while way is not None:
        way, key = way
        parts.append(f"/{escaped(key)}")
    return "".join(reversed(parts))


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
