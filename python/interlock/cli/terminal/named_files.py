"""The files that a folder or a glob names: by the same rules in every command that takes several.

A folder has its own files and those of the folders in it. What is hidden, by a name that begins with a dot, is left
out, and so is what lies in a hidden folder. A link to nothing is a file, so that the command says that it cannot be
read. The order is the same on every machine.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Collection
from pathlib import Path

__all__ = ["in_folder", "is_glob", "matching"]


def is_glob(word: str) -> bool:
    """Whether a word is a glob that the shell has left as it is. A file of this very name is no glob."""
    return not os.path.lexists(word) and glob.has_magic(word)


def in_folder(folder: str | Path, suffixes: Collection[str] | None = None) -> list[Path]:
    """The files of a folder that show, of all endings or of some, in lower case."""
    top = Path(folder)
    return sorted(
        path
        for path in top.rglob("*")
        if (suffixes is None or path.suffix.lower() in suffixes)
        and not any(part.startswith(".") for part in path.relative_to(top).parts)
        and _is_file(path)
    )


def matching(pattern: str) -> list[str]:
    """The files that a glob matches; ``**`` stands for folders at any depth."""
    return sorted((path for path in glob.glob(pattern, recursive=True) if _is_file(Path(path))), key=Path)


def _is_file(path: Path) -> bool:
    return path.is_file() or (path.is_symlink() and not path.exists())
