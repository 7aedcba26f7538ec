"""Vocabularies kept in files, so that a server's processes make each of them once and share its memory.

Making the vocabulary of 129,000 tokens takes about a second, loading its pack some milliseconds, and a pack is mapped:
processes that load one file share its memory. A pack is found by a digest of all that the tokenizer says of itself.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
from collections.abc import Callable
from pathlib import Path

import interlock
from interlock import ArtifactError, Vocabulary
from interlock.locks import locked

__all__ = ["digest_of", "load_or_make"]

logger = logging.getLogger("interlock.vocabulary_packs")


def digest_of(*parts: object) -> str:
    """64 hexadecimal digits of ``parts``, which are texts or what `repr` tells apart, and of interlock's version."""
    digest = hashlib.sha256(interlock.__version__.encode())
    for part in parts:
        text = part if isinstance(part, str) else repr(part)
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def load_or_make(folder: Path, digest: str, make: Callable[[], Vocabulary]) -> tuple[Vocabulary, bool]:
    """The vocabulary of this digest, and whether a pack held it.

    Without a pack ``make`` is called, by one process at a time, and the pack written for the others. A folder that
    cannot be written, or a pack that cannot be read, costs time and nothing else. Errors are those of ``make``.
    """
    path = folder / f"{digest}.vocabulary"
    found = _load(path)
    if found is not None:
        return found, True
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Whoever may write a pack decides what tokens mean, so the folder is the user's alone.
        with contextlib.suppress(OSError):
            os.chmod(folder, 0o700)
        with locked(folder / f"{digest}.lock"):
            found = _load(path)
            if found is not None:
                return found, True
            made = make()
            try:
                made.save(path)
            except ArtifactError as error:
                logger.warning("the vocabulary is not kept for the next start: %s", error)
                return made, False
        # Mapped, its memory is shared with those who load it later.
        return _load(path) or made, False
    except OSError as error:
        logger.warning("the vocabulary is not kept for the next start: %s", error)
        return make(), False


def _load(path: Path) -> Vocabulary | None:
    if not path.is_file():
        return None
    try:
        return Vocabulary.load(path)
    except ArtifactError as error:
        logger.warning("%s is made anew: %s", path, error)
        return None
