"""The files that a folder or a glob names: by the same rules in every command that takes several.

A folder has its own files and those of the folders in it. What is hidden, by a name that begins with a dot, is left
out, and so is what lies in a hidden folder. A link to nothing is a file, so that the command says that it cannot be
read. A folder that would be looked into and cannot be read is an ``OSError`` that names it, and never passed over. The
order is the same on every machine.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

__all__ = ["in_folder", "is_glob", "matching"]


def is_glob(word: str) -> bool:
    """Whether a word is a glob that the shell has left as it is. A file of this very name is no glob."""
    return not os.path.lexists(word) and glob.has_magic(word)


def in_folder(folder: str | Path, suffixes: Collection[str] | None = None) -> list[Path]:
    """The files of a folder that show, of all endings or of some, in lower case."""
    found: list[Path] = []
    for where, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = [Path(where, name) for name in names if not name.startswith(".")]
        found += (path for path in paths if suffixes is None or path.suffix.lower() in suffixes)
    return sorted(filter(_is_file, found))


def _refuse(error: OSError) -> None:
    raise error


def matching(pattern: str) -> list[str]:
    """The files that a glob matches; ``**`` stands for folders at any depth."""
    for folder in _looked_into(pattern):  # `glob` passes over what cannot be read.
        _require_readable(folder)
    return sorted((path for path in glob.glob(pattern, recursive=True) if _is_file(Path(path))), key=Path)


def _looked_into(pattern: str) -> Iterator[str]:
    """The folders in which a glob looks for names."""
    beginning, name = os.path.split(pattern)
    if not glob.has_magic(pattern) or beginning == pattern:
        return
    yield from _looked_into(beginning)
    yield from glob.iglob(os.path.join(beginning, ""), recursive=True) if beginning else [os.curdir]
    if name == "**":
        yield from glob.iglob(os.path.join(pattern, ""), recursive=True)


def _require_readable(folder: str) -> None:
    """``OSError`` unless the names in a folder can be listed, and the files of these names opened."""
    try:
        os.scandir(folder).close()
        os.stat(os.path.join(folder, os.curdir))
    except OSError as error:
        error.filename = os.path.normpath(folder)
        raise


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except PermissionError:
        raise
    except OSError:  # A link to nothing, or to itself.
        return path.is_symlink()
