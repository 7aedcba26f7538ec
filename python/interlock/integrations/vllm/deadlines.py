"""Ends work that takes too long, through the `CancelToken` that it was given."""

from __future__ import annotations

import threading
import time
from collections import deque

from interlock import CancelToken

__all__ = ["Deadline", "Deadlines"]


class Deadline:
    """One piece of work with a bound on its time. Use it as a context manager, and pass ``token`` to the work."""

    def __init__(self, watch: Deadlines) -> None:
        self.token = CancelToken()
        self.ends = time.monotonic() + watch.seconds
        self.over = False
        self.expired = False
        self._watch = watch

    def __enter__(self) -> Deadline:
        self._watch._add(self)
        return self

    def __exit__(self, *exception: object) -> None:
        self.over = True

    def cancel(self) -> None:
        """End the work now, because nobody waits for it any more. Nothing happens if it is over."""
        if not self.over:
            self.token.cancel()


class Deadlines:
    """Gives every piece of work the same time, and cancels what exceeds it. One thread watches, while there is work."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._waiting: deque[Deadline] = deque()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def new(self) -> Deadline:
        """A deadline that begins now."""
        return Deadline(self)

    def _add(self, deadline: Deadline) -> None:
        with self._lock:
            # All have the same time, so they end in the order in which they came.
            self._waiting.append(deadline)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="interlock-deadlines", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        idle = 0
        while True:
            with self._lock:
                while self._waiting and self._waiting[0].over:
                    self._waiting.popleft()
                now = time.monotonic()
                while self._waiting and self._waiting[0].ends <= now:
                    late = self._waiting.popleft()
                    if not late.over:
                        late.expired = True
                        late.token.cancel()
                idle = 0 if self._waiting else idle + 1
                if idle > 100:
                    self._thread = None
                    return
                wait = min(0.1, max(0.001, self._waiting[0].ends - now)) if self._waiting else 0.1
            time.sleep(wait)
