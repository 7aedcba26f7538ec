"""Work in Python that a ``CancelToken`` ends, as it ends that of the core."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from interlock._core import CancelToken, check_regex

__all__ = ["until_cancelled"]

_T = TypeVar("_T")
_EVERY = 4096
"""How many items are taken between two looks at the token: about a millisecond of small ones."""


def until_cancelled(items: Iterable[_T], cancel: CancelToken | None) -> Iterator[_T]:
    """``items``, and ``CancelledError`` instead of the next one soon after ``cancel`` is cancelled.

    >>> list(until_cancelled("ab", None))
    ['a', 'b']
    """
    if cancel is None:
        yield from items
        return
    for i, item in enumerate(items):
        if i % _EVERY == 0 and cancel.is_cancelled:
            check_regex("", cancel=cancel)  # The core raises the error, which says why.
        yield item
