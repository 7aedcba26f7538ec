"""The standard streams as the caller left them: closed, full, in another encoding, or with nobody at the other end.

Python has ``None`` for a stream that was closed before the process began, and writes what is left of the standard
output and error once more when the process ends, where nobody catches what goes wrong. Here a closed stream is a file
that says so, what the standard output does not take is found before the end, and what the standard error does not take
is forgotten: the exit code says what happened.

What is written to a file or a pipe is UTF-8 everywhere, because samples, JSON and drawings are read as that again. A
terminal keeps its encoding, and has escapes for what that cannot write.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from typing import NoReturn, TextIO, cast

from interlock.cli.terminal.exits import InputError


class OutputError(InputError):
    """The standard output takes nothing, or no more."""


class _Closed(io.TextIOBase):
    """A stream that was closed before the process began."""

    def __init__(self, name: str) -> None:
        self._name = name

    def _refuse(self) -> NoReturn:
        raise OSError(errno.EBADF, f"the standard {self._name} is closed")

    @property
    def buffer(self) -> NoReturn:
        """As bytes."""
        self._refuse()

    def read(self, size: int | None = -1) -> NoReturn:
        """Everything."""
        self._refuse()

    def write(self, text: str) -> NoReturn:
        """``text``."""
        self._refuse()


def prepare() -> None:
    """Put something in the place of each stream that is closed, and have the others take every character. What is said
    on a standard error that is closed is lost.
    """
    if sys.stdin is None:
        sys.stdin = cast(io.TextIOWrapper, _Closed("input"))
    if sys.stdout is None:
        sys.stdout = cast(io.TextIOWrapper, _Closed("output"))
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def write(text: str) -> None:
    """Write to the standard output, all of it. ``OutputError`` if that fails, ``BrokenPipeError`` if nobody reads."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(reason if "standard output" in reason else f"the standard output: {reason}") from error


def discard() -> None:
    """Forget what the standard output did not take, so that the end of the process does not try again."""
    if not isinstance(sys.stdout, _Closed):
        _lead_nowhere(sys.stdout)


def say(text: str) -> None:
    """Write to the standard error. What that does not take is lost; it is no failure of its own."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            _lead_nowhere(sys.stderr)


def _lead_nowhere(stream: TextIO) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
