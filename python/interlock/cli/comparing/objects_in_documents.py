"""Every object inside of a document: a walk that knows no keywords, for what may stand anywhere in a schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["objects_in"]


def objects_in(document: Any) -> Iterator[dict[str, Any]]:
    """Every object in a document, the outer ones first.

    >>> list(objects_in({"items": [{"type": "null"}]}))
    [{'items': [{'type': 'null'}]}, {'type': 'null'}]
    """
    ways = [document]
    for value in ways:
        if isinstance(value, dict):
            yield value
            ways += value.values()
        elif isinstance(value, list):
            ways += value
