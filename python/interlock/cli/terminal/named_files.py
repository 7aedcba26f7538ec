"""The files that a folder or a glob names: by the same rules in every command that takes several.

A folder has its own files and those of the folders in it. What is hidden, by a name that begins with a dot, is left
out, and so is what lies in a hidden folder. A link to nothing is a file, so that the command says that it cannot be
read. Links to files are followed, wherever they lead. Links to folders are not, since they may lead to a folder around
them; a glob that spells such a link out follows it. A folder that would be looked into and cannot be read is an
``OSError`` that names it, and never passed over. The order is the same on every machine.
"""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

__all__ = ["in_folder", "is_glob", "links_to_folders", "matching"]


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


def links_to_folders(folder: str | Path) -> list[Path]:
    """The links in a folder that lead to other folders, and are not followed."""
    found: list[Path] = []
    for where, folders, _ in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += (Path(where, name) for name in folders if os.path.islink(os.path.join(where, name)))
    return sorted(found)


def matching(pattern: str) -> list[str]:
    """The files that a glob matches. ``**`` stands for folders at any depth, and does not pass through links."""
    return sorted({path for path in _matches(pattern) if _is_file(Path(path))}, key=Path)


def _matches(pattern: str) -> Iterator[str]:
    parts = re.split(r"[\\/]" if os.altsep else "/", pattern)
    if "**" not in parts:
        for folder in _looked_into(pattern):  # `glob` passes over what cannot be read.
            _require_readable(folder)
        yield from glob.iglob(pattern)
        return
    at = parts.index("**")
    before, behind = os.sep.join(parts[:at]), os.sep.join(parts[at + 1 :])
    tops = filter(os.path.isdir, _matches(before or os.sep)) if at else [""]
    for top in tops:
        for folder in _folders_in(top):
            yield from _matches(os.path.join(glob.escape(folder), behind or "*"))


def _folders_in(top: str) -> Iterator[str]:
    """A folder and those in it that show, without what links lead to, which may be the folder itself."""
    for where, folders, _ in os.walk(top or os.curdir, onerror=_refuse):
        _require_readable(where)
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield where if top else os.path.relpath(where) if where != os.curdir else ""


def _looked_into(pattern: str) -> Iterator[str]:
    """The folders in which a glob without ``**`` looks for names."""
    beginning, _ = os.path.split(pattern)
    if not glob.has_magic(pattern) or beginning == pattern:
        return
    yield from _looked_into(beginning)
    yield from glob.iglob(os.path.join(beginning, "")) if beginning else [os.curdir]


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
