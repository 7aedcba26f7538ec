"""What stops a model in a thread when nobody awaits its call any longer.

A thread of Python can't be ended from outside. So the call has a flag, and each loop over the model's tokens asks for
it in front of a token. The flag is a variable of the call's context: no backend has to hand it on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar

__all__ = ["CancelledCall", "check_cancelled", "in_threads", "is_awaited", "until_flagged"]

T = TypeVar("T")

_flag: ContextVar[threading.Event | None] = ContextVar("interlock_cancelled", default=None)


class CancelledCall(BaseException):
    """Nobody awaits the call any longer."""


def is_awaited() -> bool:
    """Whether the call of this context is one that may be cancelled."""
    return _flag.get() is not None


def check_cancelled() -> None:
    """Raise ``CancelledCall`` if the awaited call of this context was cancelled."""
    flag = _flag.get()
    if flag is not None and flag.is_set():
        raise CancelledCall


def in_threads(call: Callable[..., T]) -> Callable[..., T]:
    """``call`` for the threads of a pool, which have contexts of their own: each call asks first for this one's flag.

    >>> in_threads(max)(1, 2)
    2
    """
    flag = _flag.get()

    def checked(*args: Any) -> T:
        if flag is not None and flag.is_set():
            raise CancelledCall
        return call(*args)

    return checked


def until_flagged(flag: threading.Event, call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """What ``call`` returns, or ``None`` soon after ``flag`` is set.

    >>> until_flagged(threading.Event(), max, 1, 2)
    2
    """
    before = _flag.set(flag)
    try:
        check_cancelled()
        return call(*args, **options)
    except CancelledCall:
        # The generators that it went through are closed here, in the thread that they began in.
        return None
    finally:
        _flag.reset(before)
