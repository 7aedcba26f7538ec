"""Objects of Python that are nested too deeply to be read: a typed error instead of Python's ``RecursionError``."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from interlock._core import LimitError
from interlock.util.client_messages import with_hint

__all__ = ["bounded_nesting"]

P = ParamSpec("P")
R = TypeVar("R")


_MOST_VALUES = 1_000_000
"""Values that are looked at for their depth: one may contain itself."""


def _depth(value: Any) -> int:
    """How deep objects and arrays nest."""
    todo, deepest = [(value, 1)], 0
    for _ in range(_MOST_VALUES):
        if not todo:
            break
        one, depth = todo.pop()
        if isinstance(one, Mapping | list | tuple):
            deepest = max(deepest, depth)
            todo += [(inner, depth + 1) for inner in (one.values() if isinstance(one, Mapping) else one)]
    return deepest


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
    interlock.LimitError: the list is nested ... levels deep, too deeply to be read; ...
    """

    def decorated(read: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(read)
        def reading(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return read(*args, **kwargs)
            except RecursionError:
                limit = sys.getrecursionlimit()
            # Behind the block: the traceback of a thousand frames is let go.
            depth = _depth(args[0] if args else None)
            deep = f"{depth} levels deep, too deeply" if depth else "too deeply"
            error = LimitError(f"{what} is nested {deep} to be read; its deep parts can stand in $defs")
            if depth > limit:  # Otherwise Python's stack was not empty.
                error.limit, error.value = limit, depth
            raise with_hint(error, f"sys.setrecursionlimit sets how deep Python reads, which is {limit} calls now")

        return reading

    return decorated
