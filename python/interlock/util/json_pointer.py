"""Keys as the parts of a JSON Pointer (RFC 6901), which has ``~0`` for ``~`` and ``~1`` for ``/``."""

from __future__ import annotations

__all__ = ["escaped", "unescaped"]


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
