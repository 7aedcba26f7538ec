"""The one thread in which the pieces of a stream are read.

Some models are bound to the thread that began to read: what mlx has begun in one thread it cannot go on with, or end,
in another. And a generator of Python that runs in one thread cannot be closed from another. So all reading of such a
stream, and its end, are jobs of one thread, one behind the other.
"""

from __future__ import annotations

import atexit
import contextlib
import threading
import weakref
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

__all__ = ["ReadingThread"]

Job = Callable[[], Any]

_AT_EXIT = 5.0
"""Seconds that a program which ends waits for the present token of a stream that is still open."""


class ReadingThread:
    """A thread that reads ``pieces`` for ``owner``; it begins with the first job. It ends with ``end``, and when nobody
    holds the owner any longer; the pieces are closed in it then.
    """

    def __init__(self, owner: object, pieces: Iterator[Any]) -> None:
        self._worker = _Worker(pieces)
        weakref.finalize(owner, self._worker.end).atexit = False

    def run(self, job: Job) -> Future[Any]:
        """The result of ``job``, which waits for those before it; ``None`` where the thread has ended."""
        return self._worker.run(job)

    def end(self) -> Future[Any]:
        """Close the pieces behind the job at hand, and end the thread; done when it has."""
        return self._worker.end()


class _Worker:
    """The thread itself. It knows nothing of the owner, which may be let go of while it waits."""

    def __init__(self, pieces: Iterator[Any]) -> None:
        self._pieces, self._lock = pieces, threading.Lock()
        self._jobs: SimpleQueue[tuple[Future[Any], Job] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._ending: Future[Any] | None = None

    def run(self, job: Job) -> Future[Any]:
        """See ``ReadingThread``."""
        result: Future[Any] = Future()
        with self._lock:
            if self._ending is not None:
                result.set_result(None)
                return result
            self._put(result, job)
        return result

    def end(self) -> Future[Any]:
        """See ``ReadingThread``."""
        with self._lock:
            if self._ending is None:
                self._ending = Future()
                if self._thread is None:
                    self._ending.set_result(None)
                else:
                    self._put(self._ending, self._close)
                    self._jobs.put(None)
            return self._ending

    def _put(self, result: Future[Any], job: Job) -> None:
        self._jobs.put((result, job))
        if self._thread is None:
            self._thread = threading.Thread(target=_work, args=(self._jobs,), name="interlock-stream", daemon=True)
            self._thread.start()
            _running.add(self)

    def _close(self) -> None:
        if isinstance(self._pieces, Generator):
            self._pieces.close()


_running: weakref.WeakSet[_Worker] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    for worker in list(_running):
        with contextlib.suppress(Exception):
            worker.end().result(_AT_EXIT)


def _work(jobs: SimpleQueue[tuple[Future[Any], Job] | None]) -> None:
    while (found := jobs.get()) is not None:
        result, job = found
        if result.set_running_or_notify_cancel():
            try:
                made = job()
            except BaseException as error:
                result.set_exception(error)
            else:
                result.set_result(made)
        # What was done may hold the owner.
        del found, result, job
        made = None
