"""The files of documents that a folder or a glob names."""

from __future__ import annotations

import os
from collections.abc import Iterable

from interlock.cli.sources.source_words import file_of
from interlock.cli.terminal.exits import InputError
from interlock.cli.terminal.named_files import in_folder, is_glob, matching
from interlock.util.plurals import counted

JSON = (".json", ".jsonl", ".ndjson")
"""How files with documents for a JSON Schema are called."""
FEW = 3
"""Files that are named where some were left out."""


def is_many(word: str) -> bool:
    """Whether a word stands for several files: a folder, or a glob that the shell has left as it is."""
    return os.path.isdir(word) or is_glob(word) and not _is_text(word)


def _is_text(word: str) -> bool:
    """Whether this is a document in the place of a file's name."""
    return word.lstrip()[:1] in ("{", '"') or word.lstrip()[:1] == "[" and "/" not in word and "." not in word


def expanded(words: list[str], source: str, kind: str, schemas: Iterable[str] = ()) -> list[str]:
    """The files that all words name: those of a folder and of the folders in it, and those that a glob matches.

    The file of the source is no document, and neither are ``schemas``, the files that its ``$ref`` lead to.
    ``InputError`` where a folder or a glob has none.
    """
    own = {_identity(path) for path in (file_of(source), *schemas)} - {None}
    out: list[str] = []
    for word in words:
        if not is_many(word):
            out.append(word)
            continue
        files = _in_folder(word, kind) if os.path.isdir(word) else matching(word)
        files = [path for path in files if _identity(path) not in own]
        if not files:
            if not os.path.isdir(word):
                raise InputError(f"{word} matches no file", "check the spelling of the glob, or name the file itself")
            wanted = f"files that end in {', '.join(JSON)}" if kind == "json_schema" else "files"
            raise InputError(f"{word} has no documents", f"name a folder that has {wanted}, or the file itself")
        out += (path for path in files if path not in out)
    return out


def left_out(words: list[str], kind: str) -> list[str]:
    """The files of the folders among the words that are no documents of a schema by their names."""
    if kind != "json_schema":
        return []
    found = (path for word in words if os.path.isdir(word) for path in in_folder(word))
    return list(dict.fromkeys(str(path) for path in found if path.suffix.lower() not in JSON))


def said_of(paths: list[str]) -> str:
    """What is said of files that were left out."""
    shown = ", ".join(paths[:FEW]) + (", ..." if len(paths) > FEW else "")
    whose = "its name ends" if len(paths) == 1 else "their names end"
    return f"{counted(len(paths), 'file')} left out, since {whose} in none of {', '.join(JSON)}: {shown}"


def _in_folder(folder: str, kind: str) -> list[str]:
    """The files of a folder that may be documents of a source: those of JSON for a schema, else all that show."""
    return [str(path) for path in in_folder(folder, JSON if kind == "json_schema" else None)]


def _identity(path: str) -> tuple[int, int] | None:
    """What two names of one file have in common; ``None`` where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
