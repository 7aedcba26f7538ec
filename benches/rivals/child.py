"""What a forked child writes, within a time."""

from __future__ import annotations

import os
import select
import signal
import time


def wait_for(pid: int, reader: int, seconds: float) -> tuple[bytes, int]:
    """All that a child writes into the pipe ``reader``, which is closed then, and the child's status as ``os.waitpid``
    has it. After so many seconds on the clock the child is killed."""
    data, end = b"", time.monotonic() + seconds
    while True:
        left = end - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            os.kill(pid, signal.SIGKILL)
            break
        if not (part := os.read(reader, 1 << 20)):
            break
        data += part
    os.close(reader)
    _, status = os.waitpid(pid, 0)
    return data, status
