"""Threads in which a server compiles: quick sources pass slow ones, and a deadline begins with the work."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from interlock._core import ArgumentError, CancelledError, CancelToken
from interlock.serving.known_sources import KnownSources
from interlock.util.client_messages import of_closing

__all__ = ["CompilePool", "default_compile_threads"]

_T = TypeVar("_T")
_LANES = (0.03, 0.3)
"""How many seconds a compile may take in all lanes but the last one."""


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


class _Lane:
    """A queue with threads of its own, and the sources that took longer than it allows."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.executor: ThreadPoolExecutor | None = None
        self.outgrown = KnownSources()


class CompilePool:
    """Compiles in threads, so that slow sources do not hold up quick ones: a multilevel feedback queue.

    A source begins in the lane of quick ones. Where it takes longer than the lane allows, its compile ends, and begins
    anew in the next lane: 0.03 seconds, 0.3 seconds, and then its whole deadline. So a quick source waits for 0.03
    seconds of each source before it, and not for their deadlines. A source that has outgrown a lane is remembered, and
    does not come there again. Each lane compiles at most ``threads`` sources at once, in the order in which they came.

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
        self._lanes = [_Lane(seconds) for seconds in (*_LANES, None)]
        self._works: set[_Work] = set()

    def __reduce__(self) -> tuple[Any, ...]:
        return CompilePool, (self.threads,)

    async def run(self, make: Callable[[CancelToken], _T], seconds: float | None, key: bytes | None) -> _T:
        """What ``make`` returns or raises, called in a thread with a token whose deadline is ``seconds`` after its
        begin. It is called once more in each lane that it comes to, so it may do nothing but compile. ``key`` stands
        for the source, and ``None`` for a long one, which begins in the last lane.

        A task that is cancelled cancels the token. Behind ``close`` it is an ``ArgumentError``.
        """
        for lane in self._lanes[:-1]:
            if key is None or key in lane.outgrown:
                continue
            if seconds is not None and lane.seconds is not None and seconds <= lane.seconds:
                return await self._run_in(lane, make, seconds)
            try:
                return await self._run_in(lane, make, lane.seconds)
            except CancelledError as error:
                if not error.is_deadline or self._is_closed:
                    raise
                lane.outgrown.add(key)
        return await self._run_in(self._lanes[-1], make, seconds)

    async def _run_in(self, lane: _Lane, make: Callable[[CancelToken], _T], seconds: float | None) -> _T:
        work, context = _Work(seconds), contextvars.copy_context()
        with self._mutex:
            if self._is_closed:
                raise of_closing(ArgumentError("this RequestCompiler is closed: it compiles in no thread any more"))
            if lane.executor is None:
                lane.executor = ThreadPoolExecutor(self.threads, thread_name_prefix="interlock-compile")
            future = lane.executor.submit(context.run, lambda: make(work.begin()))
            self._works.add(work)
        try:
            return await asyncio.wrap_future(future)
        except CancelledError as error:
            if self._is_closed:
                of_closing(error)
            raise
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
            executors, works = [lane.executor for lane in self._lanes], list(self._works)
            for lane in self._lanes:
                lane.executor = None
        for work in works:
            work.leave()
        for executor in executors:
            if executor is not None:
                executor.shutdown()


_POOLS: weakref.WeakSet[CompilePool] = weakref.WeakSet()


def _after_fork() -> None:
    """The threads are not in the child."""
    for pool in list(_POOLS):
        pool._start_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
