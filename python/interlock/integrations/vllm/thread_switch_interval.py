"""While a source is compiled, the threads of the engine take turns at Python's interpreter more often.

A compile runs in a thread, and works without the interpreter's lock. The few lines of Python around it need the lock,
and wait for it up to `sys.getswitchinterval`, 5 ms, at each of several places: the engine's own thread looks all the
time whether the compile has ended. So a compile of 1 ms took 20 on the clock.
"""

from __future__ import annotations

import sys
import threading
from concurrent.futures import Future
from typing import Any

__all__ = ["ThreadSwitchInterval"]

_SECONDS = 1e-4


class ThreadSwitchInterval:
    """Sets the interval while something is compiled, and puts it back behind the last one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = 0
        self._usual = 0.0

    def begin(self) -> None:
        """A compile begins."""
        with self._lock:
            if not self._running:
                self._usual = sys.getswitchinterval()
                sys.setswitchinterval(min(self._usual, _SECONDS))
            self._running += 1

    def end(self, _: Any = None) -> None:
        """A compile has ended."""
        with self._lock:
            self._running -= 1
            if not self._running:
                sys.setswitchinterval(self._usual)

    def end_with(self, grammar: Any) -> None:
        """The compile has ended, or will with this future."""
        if isinstance(grammar, Future):
            grammar.add_done_callback(self.end)
        else:
            self.end()
