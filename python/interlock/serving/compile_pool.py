"""Threads in which a server compiles: quick sources pass slow ones, and a deadline begins with the work."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from interlock._core import ArgumentError, CancelledError, CancelToken
from interlock.serving.compile_lane import Lane, Work
from interlock.util.client_messages import of_closing
from interlock.util.plurals import counted

__all__ = ["CompilePool", "compiles_in_process", "default_compile_threads"]

_T = TypeVar("_T")
_LANES = (0.03, 0.3)
"""How many seconds a compile may take in all lanes but the last one."""


def default_compile_threads() -> int:
    """How many sources a server compiles at once where nobody says: half as many as there are processors, from 2 to 8.

    >>> 2 <= default_compile_threads() <= 8
    True
    """
    return max(2, min(8, (os.cpu_count() or 2) // 2))


class CompilePool:
    """Compiles in threads, so that slow sources do not hold up quick ones: a multilevel feedback queue.

    A source begins in the lane of quick ones. Where it takes longer than the lane allows, its compile ends, and begins
    anew in the next lane: 0.03 seconds, 0.3 seconds, and then its whole deadline. So a quick source waits for 0.03
    seconds of each source before it, and not for their deadlines. A source that has outgrown a lane does not come there
    again until it was compiled. Each lane compiles at most ``threads`` sources at once, of clients by turns, and of one
    client in the order of their coming.

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
        self._lanes = [Lane(seconds, self.threads, seconds != _LANES[0]) for seconds in (*_LANES, None)]
        self._works: set[Work[Any]] = set()

    def __reduce__(self) -> tuple[Any, ...]:
        return CompilePool, (self.threads,)

    def overstays(self, key: bytes) -> bool:
        """Whether this source took a thread for longer than its token allowed: an event loop must not wait for it."""
        return any(key in lane.overstayed for lane in self._lanes)

    @property
    def num_waiting(self) -> int:
        """How many works wait for a thread, in all lanes."""
        with self._mutex:
            return sum(work.is_waiting for work in self._works)

    def num_waiting_of(self, client: Hashable) -> int:
        """How many works of a client wait for a thread, in all lanes."""
        with self._mutex:
            return sum(work.is_waiting for work in self._works if work.client == client)

    @property
    def num_running(self) -> int:
        """How many works run, in all lanes."""
        return sum(lane.num_running for lane in self._lanes)

    def state(self, num_kept: int) -> str:
        """What the pool does now, beside the number of sources that its server keeps; for a log.

        >>> CompilePool(1).state(2)
        '1 thread a lane, 2 kept, 0 running, 0 waiting'
        """
        end = ", closed" if self._is_closed else ""
        threads = counted(self.threads, "thread")
        return f"{threads} a lane, {num_kept} kept, {self.num_running} running, {self.num_waiting} waiting{end}"

    async def run(
        self, make: Callable[[CancelToken], _T], seconds: float | None, key: bytes | None, client: Hashable = None
    ) -> _T:
        """What ``make`` returns or raises, called in a thread with a token whose deadline is ``seconds`` after its
        begin. It is called once more in each lane that it comes to, so it may do nothing but compile. ``key`` stands
        for the source, and ``None`` for a long one, which begins in the last lane. Clients take turns (``Lane``).

        A task that is cancelled cancels the token. Behind ``close`` it is an ``ArgumentError``.
        """
        for lane in self._lanes:
            if lane.seconds is not None and (key is None or key in lane.outgrown):
                continue
            is_last = lane.seconds is None or (seconds is not None and seconds <= lane.seconds)
            try:
                made = await self._run_in(lane, make, seconds if is_last else lane.seconds, key, client)
            except CancelledError as error:
                if is_last or key is None or not error.is_deadline or self._is_closed:
                    raise
                lane.outgrown.add(key)
                continue
            if key is not None:
                for other in self._lanes:  # Its index may be found the next time.
                    other.outgrown.discard(key)
            return made
        raise AssertionError("the last lane has no end of its own")

    async def _run_in(
        self,
        lane: Lane,
        make: Callable[[CancelToken], _T],
        seconds: float | None,
        key: bytes | None,
        client: Hashable,
    ) -> _T:
        work = Work(make, seconds, key, client)
        with self._mutex:
            if self._is_closed:
                raise of_closing(ArgumentError("this RequestCompiler is closed: it compiles in no thread any more"))
            lane.submit(work)
            self._works.add(work)
        try:
            return await asyncio.wrap_future(work.future)
        except CancelledError as error:
            if self._is_closed:
                of_closing(error)
            raise
        except BaseException:
            lane.leave(work)  # A task that is cancelled leaves its thread running.
            raise
        finally:
            with self._mutex:
                self._works.discard(work)
            # An error's traceback holds this frame, and the future holds the error: a circle that only the collector
            # of garbage would free, and with it what was compiled.
            del work

    def close(self) -> None:
        """End all compiles with ``CancelledError``, those that wait too, and wait until the threads have ended."""
        with self._mutex:
            self._is_closed = True
            works = list(self._works)
        for work in works:
            work.leave()
        for wait in [lane.close() for lane in self._lanes]:
            wait()


_POOLS: weakref.WeakSet[CompilePool] = weakref.WeakSet()


def compiles_in_process() -> tuple[int, int] | None:
    """How many compiles wait for a thread and how many run, of all pools of this process; ``None`` without a pool."""
    pools = list(_POOLS)
    return (sum(pool.num_waiting for pool in pools), sum(pool.num_running for pool in pools)) if pools else None


def _after_fork() -> None:
    """The threads are not in the child."""
    for pool in list(_POOLS):
        pool._start_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
