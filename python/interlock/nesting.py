"""Objects of Python that are nested too deeply to be read: a typed error instead of Python's ``RecursionError``."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from interlock._core import LimitError
from interlock.client_messages import with_hint

__all__ = ["bounded_nesting"]

P = ParamSpec("P")
R = TypeVar("R")


def bounded_nesting(what: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make ``RecursionError`` of a function that reads ``what`` a ``LimitError``.

    What is read is a client's, and Python's limit is the bound: 1000 calls unless the program set another.

    >>> @bounded_nesting("the list")
    ... def depth(value):
    ...     return 1 + depth(value[0]) if value else 0
    >>> deep = []
    >>> for _ in range(100_000):
    ...     deep = [deep]
    >>> depth(deep)
    Traceback (most recent call last):
      ...
    interlock.LimitError: the list is nested too deeply to be read; sys.setrecursionlimit sets ...
    """

    def decorated(read: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(read)
        def reading(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return read(*args, **kwargs)
            except RecursionError:
                limit = sys.getrecursionlimit()
            # Behind the block: the traceback of a thousand frames is let go.
            error = LimitError(f"{what} is nested too deeply to be read")
            raise with_hint(error, f"sys.setrecursionlimit sets how deep Python reads, which is {limit} calls now")

        return reading

    return decorated
