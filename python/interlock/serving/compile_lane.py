"""One lane of a pool of compiles: threads of its own, and clients that take turns at them."""

from __future__ import annotations

import contextvars
import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, TypeVar

from interlock._core import CancelToken
from interlock.serving.known_sources import KnownSources

__all__ = ["Lane", "Work"]

_T = TypeVar("_T")
_LATE = 0.1
"""How many seconds later than its lane allows a compile may end. Most hear of their token within milliseconds."""


class Work(Generic[_T]):
    """One compile, which may be left before it begins and while it runs."""

    def __init__(
        self, make: Callable[[CancelToken], _T], seconds: float | None, key: bytes | None, client: Hashable
    ) -> None:
        self.key, self.client = key, client
        self.future: Future[_T] = Future()
        self._make, self._context = make, contextvars.copy_context()
        self._seconds = seconds
        self._mutex = threading.Lock()
        self._token: CancelToken | None = None
        self.is_left = False

    def run(self, end: Callable[[Work[_T]], None]) -> None:
        """Call ``make`` with a token whose time begins now, then ``end``, and give the future what came."""
        try:
            made = self._context.run(self._make, self._begin())
        except BaseException as error:
            end(self)
            self.future.set_exception(error)
            # The error's traceback holds this frame, and the future holds the error: a circle that only the collector
            # of garbage would free.
            del self
        else:
            end(self)
            self.future.set_result(made)

    def _begin(self) -> CancelToken:
        with self._mutex:
            self._token = CancelToken() if self._seconds is None else CancelToken.after(self._seconds)
            if self.is_left:
                self._token.cancel()
            return self._token

    @property
    def is_waiting(self) -> bool:
        """Whether it has not begun, and somebody waits for it."""
        return self._token is None and not self.is_left

    def leave(self) -> None:
        """Nobody waits any more: the work ends, or ends as soon as it begins."""
        with self._mutex:
            self.is_left = True
            if self._token is not None:
                self._token.cancel()


class Lane:
    """Queues of clients with threads of its own, and the sources that took longer than it allows.

    At most ``threads`` works run at once. Work that does not end in time, since it hears of its token late, does not
    count any more: another thread begins in its place, until there are four times as many.

    Clients take turns: the next work is one of the client that has the fewest running ones, and of several such clients
    that whose last turn is longest ago. A client has all threads but one, so that another one finds a thread that is
    free. Works without a client are those of one client whose threads are not bounded.

    With ``ends_idle`` the threads end when nothing runs or waits, and others begin with the next work.
    """

    def __init__(self, seconds: float | None, threads: int, ends_idle: bool) -> None:
        self.seconds, self.threads, self.ends_idle = seconds, threads, ends_idle
        self.outgrown, self.overstayed = KnownSources(), KnownSources()
        self._most = threads if seconds is None else 4 * threads
        self._executor: ThreadPoolExecutor | None = None
        self._is_closed = False
        self._turn = threading.Condition()
        self._queues: dict[Hashable, deque[Work[Any]]] = {}
        """What waits, of clients in the order of their turns. None is empty."""
        self._due: dict[Work[Any], float] = {}
        """Until when each running work counts."""

    def submit(self, work: Work[Any]) -> None:
        """Queue a work behind those of its client."""
        with self._turn:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(self._most, thread_name_prefix="interlock-compile")
            # So many threads are called as works are queued, and each takes the one whose turn it is.
            self._executor.submit(self._serve)
            self._queues.setdefault(work.client, deque()).append(work)
            self._turn.notify_all()

    def leave(self, work: Work[Any]) -> None:
        """Nobody waits for this work any more: it leaves its queue, or ends."""
        work.leave()
        with self._turn:
            queue = self._queues.get(work.client, deque())
            if work in queue:
                queue.remove(work)
                if not queue:
                    del self._queues[work.client]
            self._turn.notify_all()

    @property
    def num_running(self) -> int:
        """How many works run, those that were left and have not ended among them."""
        return len(self._due)

    def close(self) -> Callable[[], None]:
        """Works were left, those that wait too, and end without a turn. What is returned waits for the threads."""
        with self._turn:
            self._is_closed = True
            executor, self._executor = self._executor, None
            self._turn.notify_all()
        return (lambda: None) if executor is None else executor.shutdown

    def _serve(self) -> None:
        """Wait for a turn and run the work that has it."""
        with self._turn:
            while (work := self._next()) is None:
                if not self._queues:  # The work that this thread was called for has left.
                    return
                self._turn.wait(self._until_due())
            self._due[work] = math.inf if self.seconds is None else time.monotonic() + self.seconds + _LATE
        # Who waits for the work finds its place free, and its source among those that took long.
        work.run(self._end)
        del work  # As in ``Work.run``.

    def _end(self, work: Work[Any]) -> None:
        """A work has ended."""
        if work.key is not None and time.monotonic() > self._due[work]:
            self.overstayed.add(work.key)
        with self._turn:
            del self._due[work]
            self._put_last(work.client)
            self._turn.notify_all()
            if self.ends_idle and not self._due and not self._queues and self._executor is not None:
                # A thread's allocator keeps pages that slow sources filled: they are free when it ends.
                self._executor.shutdown(wait=False)
                self._executor = None

    def _next(self) -> Work[Any] | None:
        """The work whose turn it is, out of its queue; ``None`` where none may begin now."""
        now = time.monotonic()
        counting = Counter(work.client for work, due in self._due.items() if due > now)
        running = Counter(work.client for work in self._due)

        def may_begin(client: Hashable) -> bool:
            if self._is_closed or client is None:
                return True
            return counting[client] < max(1, self.threads - 1) and running[client] < max(1, self._most - 1)

        while self._is_closed or counting.total() < self.threads:
            clients = [client for client in self._queues if may_begin(client)]
            if not clients:
                return None
            client = min(clients, key=counting.__getitem__)
            work = self._queues[client].popleft()
            self._put_last(client)
            if work.future.set_running_or_notify_cancel():
                return work
        return None

    def _put_last(self, client: Hashable) -> None:
        """This client has had its turn."""
        queue = self._queues.pop(client, None)
        if queue:
            self._queues[client] = queue

    def _until_due(self) -> float | None:
        """Seconds until one of the running works does not count any more."""
        now = time.monotonic()
        found = min((due for due in self._due.values() if due > now), default=math.inf)
        return None if found == math.inf else found - now
