"""Locks between processes: a file for each, locked by the operating system.

A lock ends with the process that holds it, so no lock is ever stale. Forks need care for that: the open file of a lock
is the child's as well, and stays locked as long as one of the two has it open, so a child that lives on would keep the
lock of a parent that was killed. Children therefore close the files of all locks. They stay locked in the parent.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from io import FileIO
from pathlib import Path

from interlock import _core
from interlock._core import CancelledError, CancelToken

__all__ = ["POLL_SECONDS", "locked", "stop_if"]

# How often a wait that may be cancelled looks up.
POLL_SECONDS = 0.05

# The files of this process's locks. A fork waits while one is opened or closed, so that the child knows all of them.
_files: set[FileIO] = set()
_mutex = threading.RLock()


def _before_fork() -> None:
    _mutex.acquire()


def _in_parent() -> None:
    _mutex.release()


def _in_child() -> None:
    global _mutex
    _mutex = threading.RLock()
    for file in _files:
        with contextlib.suppress(OSError):
            file.close()
    _files.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)


def stop_if(cancel: CancelToken | None) -> None:
    """``CancelledError`` if ``cancel`` was cancelled."""
    if cancel is not None and cancel.is_cancelled:
        _core.check_regex("", cancel=cancel)  # The core says whether it was cancelled, or its deadline has passed.
        raise CancelledError("the work was cancelled")


@contextlib.contextmanager
def locked(path: Path, cancel: CancelToken | None = None) -> Iterator[None]:
    """Hold a lock that ends with this process at the latest, and remove its file afterwards.

    ``CancelledError`` if ``cancel`` ends the wait for it. A child that is forked meanwhile does not hold it.
    """
    while True:
        with _opened(path) as file, _held(file, cancel):
            # Whoever held the lock before has removed the file: a lock on it says nothing about a newer one.
            try:
                same = os.path.samestat(os.fstat(file.fileno()), path.stat())
            except FileNotFoundError:
                same = False
            if not same:
                continue
            try:
                yield
            finally:
                # In a forked child the file is closed, and the lock its parent's.
                if not file.closed:
                    # Others may hold it open, which some systems do not forgive; then it stays, and is used again.
                    with contextlib.suppress(OSError):
                        path.unlink()
            return


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[FileIO]:
    with _mutex:
        file = path.open("a+b", buffering=0)
        _files.add(file)
    try:
        yield file
    finally:
        with _mutex:
            _files.discard(file)
            file.close()


@contextlib.contextmanager
def _held(file: FileIO, cancel: CancelToken | None) -> Iterator[None]:
    while not _take(file, wait=cancel is None):
        stop_if(cancel)
        time.sleep(POLL_SECONDS)
    try:
        yield
    finally:
        if not file.closed:
            _release(file)


def _take(file: FileIO, wait: bool) -> bool:
    if os.name == "nt":
        import msvcrt

        file.seek(0)
        try:
            # Waiting would end after ten seconds, and cannot be interrupted.
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
    else:
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _release(file: FileIO) -> None:
    if os.name == "nt":
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        import fcntl

        # Closing would not do: a process forked meanwhile may not have closed it yet.
        fcntl.flock(file, fcntl.LOCK_UN)
