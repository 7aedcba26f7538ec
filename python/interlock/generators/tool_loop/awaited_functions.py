"""Async functions as tools: those of a tool loop that is awaited run in the event loop that awaits it.

The tool loop runs in a thread. As the flag of a cancelled call, the event loop is a variable of the call's context:
nothing has to hand it on.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["AwaitingLoop", "awaited", "awaits_functions"]


class AwaitingLoop:
    """The event loop that awaits a tool loop, and the function of a tool that it runs now. ``check_cancelled`` raises
    where nobody awaits the tool loop any longer.
    """

    def __init__(self, check_cancelled: Callable[[], None]) -> None:
        self._loop, self._check_cancelled = asyncio.get_running_loop(), check_cancelled
        self._running: concurrent.futures.Future[Any] | None = None

    @contextmanager
    def known(self) -> Iterator[None]:
        """In this context, and in the threads that it begins, async functions are run here."""
        before = _awaiting.set(self)
        try:
            yield
        finally:
            _awaiting.reset(before)

    def run(self, returned: Any) -> Any:
        """In the thread: what comes of an awaitable that a function returned."""

        async def one() -> Any:
            return await returned

        running = self._running = asyncio.run_coroutine_threadsafe(one(), self._loop)
        try:
            # Whoever cancels sets the flag first, and looks then for what is running.
            self._check_cancelled()
            return running.result()
        except concurrent.futures.CancelledError:
            self._check_cancelled()
            raise
        finally:
            running.cancel()
            self._running = None

    def cancel(self) -> None:
        """In the event loop: cancel the function that is running."""
        running = self._running
        if running is not None:
            running.cancel()


_awaiting: ContextVar[AwaitingLoop | None] = ContextVar("interlock_awaiting", default=None)


def awaits_functions() -> bool:
    """Whether the tool loop of this context is awaited, so that async functions can be run."""
    return _awaiting.get() is not None


def awaited(returned: Any) -> Any:
    """What the function of a tool returned; of an async one, what comes of it.

    >>> awaited(3)
    3
    """
    awaiting = _awaiting.get()
    return awaiting.run(returned) if awaiting is not None and inspect.isawaitable(returned) else returned
