"""Reading arguments from files, and writing a file whole or not at all.

What is being written is registered, so that an interrupted command can remove it: a signal may arrive while another
thread is in native code, and then no ``finally`` block runs before the process ends.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import interlock
from interlock.cli.terminal.exits import UsageError

STANDARD_OUTPUT = ("-", "/dev/stdout")
"""Names of the standard output, for commands that write one text."""
_lock = threading.Lock()
_unfinished: set[Path] = set()
_called: list[Callable[[], object]] = []


def read(path: str) -> bytes:
    """The bytes of a file; ``-`` is the standard input."""
    if path != "-":
        return Path(path).read_bytes()
    data: bytes = _standard_input().read()
    return data


def lines(path: str) -> Iterator[bytes]:
    """The lines of a file, each as soon as it is there; ``-`` is the standard input."""
    if path == "-":
        yield from _standard_input()
        return
    with open(path, "rb") as file:
        yield from file


def _standard_input() -> Any:
    """The bytes of the standard input. ``UsageError`` the second time."""
    stdin: Any = sys.stdin
    if getattr(stdin, "was_read", False):
        raise UsageError("the standard input is named twice, and can be read once", "a file for one of the two")
    buffer = stdin.buffer  # A closed one says so here.
    stdin.was_read = True
    return buffer


def write(path: str | os.PathLike[str], fill: Callable[[Path], object]) -> None:
    """Let ``fill`` write a file beside ``path`` and rename it into place once it is whole.

    A reader sees the old file or the new one. On any failure the old file, if there is one, is untouched. Of a link the
    file that it leads to is replaced; a device or a pipe is not.
    """
    target = Path(path)
    if str(path) in STANDARD_OUTPUT:
        raise UsageError(
            f"{path} is the standard output, and this is written to a file, whole or not at all", "the name of a file"
        )
    refuse_folder(path)
    if target.exists():
        if not target.is_file():
            raise OSError(22, "is no regular file", str(target))
        target = target.resolve()
    if not target.parent.is_dir():
        raise FileNotFoundError(2, "no such folder", str(target.parent))
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    with _lock:
        _unfinished.add(partial)
    try:
        with _named(partial, target):
            fill(partial)
        with open(partial, "rb") as file:
            os.fsync(file.fileno())
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)
        with _lock:
            _unfinished.discard(partial)


def refuse_folder(path: str | os.PathLike[str]) -> None:
    """``IsADirectoryError`` for a folder in the place of a file."""
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "is a folder, not a file", os.fspath(path))


@contextlib.contextmanager
def _named(partial: Path, target: Path) -> Iterator[None]:
    """Let errors name the file that was asked for, and not the one beside it."""
    try:
        yield
    except OSError as error:
        error.filename = str(target)
        raise
    except interlock.InterlockError as error:
        if partial.name not in str(error):
            raise
        raise type(error)(str(error).replace(str(partial), str(target)).replace(partial.name, target.name)) from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file whole or not at all."""
    write(path, lambda partial: partial.write_text(text, encoding="utf-8"))


def on_interrupt(call: Callable[[], object]) -> None:
    """Have ``call`` called if the command is interrupted."""
    with _lock:
        _called.append(call)


def interrupted() -> None:
    """Remove what an interrupted command was writing."""
    with _lock:
        calls = list(_called)
    for call in calls:
        call()
    with _lock:
        for partial in _unfinished:
            # Native code writes beside what it is told to write, and renames that in its turn.
            for path in (*partial.parent.glob(glob.escape(partial.name) + ".*.tmp"), partial):
                path.unlink(missing_ok=True)
