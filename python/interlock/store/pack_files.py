"""The files of a store on a disk: whether a pack is there, the packs of a folder, and what is wrong with them."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from interlock import _core
from interlock._core import ArtifactError

SUFFIX = ".ilk"


def status_of(file: Path) -> os.stat_result | None:
    """What the system says of a pack, or ``None`` if there is none. What has the name of one and is no file is none: a
    folder, a pipe, a link that leads nowhere. A folder that may not be searched is no missing file."""
    try:
        status = file.stat()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return None
        raise
    return status if stat.S_ISREG(status.st_mode) else None


def packs_within(folder: Path) -> list[Path]:
    """The packs of a folder; what ``glob`` finds would leave out that it may not look."""
    return sorted(folder / name for name in os.listdir(folder) if name.endswith(SUFFIX))


def problems_of(vocabularies: Iterable[Path], packs: Iterable[Path]) -> list[str]:
    """One line for each file that is damaged, or lies under a name that is not its own."""
    found = []
    for file in vocabularies:
        try:
            if _core._verify_vocabulary(file) + SUFFIX != file.name:
                found.append(f"{file} lies under a fingerprint that is not its own")
        except ArtifactError as error:
            found.append(str(error))
    for file in packs:
        try:
            vocabulary, _, recipe = _core._verify_pack(file)
        except ArtifactError as error:
            with contextlib.suppress(FileNotFoundError):  # Evicted meanwhile.
                file.lstat()
                found.append(str(error))
            continue
        if _core._store_key(recipe, vocabulary) + SUFFIX != file.name:
            found.append(f"{file} lies under a key that is not its own")
    return found
