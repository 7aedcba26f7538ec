"""Compiles of a ``RequestCompiler`` that last until a test lets them end."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time

import interlock
from interlock.serving import RequestCompiler

WAIT = 60
"""Seconds after which a test has failed; nothing takes as long."""
MANY = {f"a{number}": 1 for number in range(201)}
"""So many fields that a body begins in the last lane."""


def slow(number, **fields):
    return {"guided_regex": f"slow{number}", **fields}


@contextlib.contextmanager
def slow_compiles(monkeypatch):
    """The patterns of ``slow`` bodies whose compile began, as a list. They last until the event is set or their token
    is cancelled.
    """
    begun, may_end, compile = [], threading.Event(), RequestCompiler.compile

    def held(self, body, *, cancel, **options):
        if "slow" in str(body.get("guided_regex")):
            begun.append(body["guided_regex"])
            while not may_end.wait(0.005):
                if cancel.is_cancelled:
                    interlock.check_regex("a", cancel=cancel)
        return compile(self, body, cancel=cancel, **options)

    monkeypatch.setattr(RequestCompiler, "compile", held)
    try:
        yield begun, may_end
    finally:
        may_end.set()


async def until(condition):
    end = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < end
        await asyncio.sleep(0.005)
