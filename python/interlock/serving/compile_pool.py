"""Threads in which a server compiles: a few, of its own, and each compile has a deadline that begins with its work."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from interlock._core import ArgumentError, CancelToken
from interlock.util.client_messages import of_program

__all__ = ["CompilePool", "default_compile_threads"]

_T = TypeVar("_T")


def default_compile_threads() -> int:
    """How many sources a server compiles at once where nobody says: half as many as there are processors, from 2 to 8.

    >>> 2 <= default_compile_threads() <= 8
    True
    """
    return max(2, min(8, (os.cpu_count() or 2) // 2))


class _Work:
    """One compile, which may be left before it begins and while it runs."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._mutex = threading.Lock()
        self._token: CancelToken | None = None
        self._is_left = False

    def begin(self) -> CancelToken:
        """The token of the work, whose time begins now."""
        with self._mutex:
            self._token = CancelToken() if self._seconds is None else CancelToken.after(self._seconds)
            if self._is_left:
                self._token.cancel()
            return self._token

    def leave(self) -> None:
        """Nobody waits any more: the work ends, or ends as soon as it begins."""
        with self._mutex:
            self._is_left = True
            if self._token is not None:
                self._token.cancel()


class CompilePool:
    """At most ``threads`` compiles at once; others wait for their turn, and their deadline does not begin before.

    Threads start with the first compile. ``close`` ends them, and so does dropping the pool. A copy, a pickled pool and
    a process that was forked begin without threads.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._is_closed = False
        self._start_anew()
        _POOLS.add(self)

    def _start_anew(self) -> None:
        self._mutex = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None
        self._works: set[_Work] = set()

    def __reduce__(self) -> tuple[Any, ...]:
        return CompilePool, (self.threads,)

    async def run(self, make: Callable[[CancelToken], _T], seconds: float | None) -> _T:
        """What ``make`` returns or raises, called in a thread with a token whose deadline is ``seconds`` after its
        begin. A task that is cancelled cancels the token. ``ArgumentError`` behind ``close``.
        """
        work, context = _Work(seconds), contextvars.copy_context()
        with self._mutex:
            if self._is_closed:
                raise of_program(ArgumentError("this RequestCompiler is closed: it compiles in no thread any more"))
            if self._executor is None:
                self._executor = ThreadPoolExecutor(self.threads, thread_name_prefix="interlock-compile")
            future = self._executor.submit(context.run, lambda: make(work.begin()))
            self._works.add(work)
        try:
            return await asyncio.wrap_future(future)
        except BaseException:
            work.leave()  # A task that is cancelled leaves its thread running.
            raise
        finally:
            with self._mutex:
                self._works.discard(work)

    def close(self) -> None:
        """End all compiles with ``CancelledError``, those that wait too, and wait until the threads have ended."""
        with self._mutex:
            self._is_closed = True
            executor, works = self._executor, list(self._works)
            self._executor = None
        for work in works:
            work.leave()
        if executor is not None:
            executor.shutdown()


_POOLS: weakref.WeakSet[CompilePool] = weakref.WeakSet()


def _after_fork() -> None:
    """The threads are not in the child."""
    for pool in list(_POOLS):
        pool._start_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
