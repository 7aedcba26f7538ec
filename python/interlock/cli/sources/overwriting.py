"""No command writes over what it reads, nor over a file of another kind unless it is told to."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from interlock.cli.arguments.parser import FILES
from interlock.cli.sources.source_words import SUFFIXES
from interlock.cli.terminal.exits import UsageError
from interlock.tokenizers import FILES as TOKENIZERS

__all__ = ["add_force", "refuse_inputs", "refuse_others"]

WRITTEN = ("out", "report", "junit")
"""The arguments that name what a command writes."""


PROTECTED = {*SUFFIXES, ".jsonl", ".ndjson", ".yaml", ".yml", ".toml", ".csv", ".txt", ".py", ".tiktoken", ".model"}
"""Endings of files that people write by hand or get from elsewhere, and that no command writes."""


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add the option that lets a command write over a file of another kind."""
    parser.add_argument("--force", action="store_true", help="replace the file of -o whatever it is")


def refuse_others(arguments: Mapping[str, Any]) -> None:
    """``UsageError`` if the file that shall be written exists and is, by its name, of a kind that no command writes."""
    out = str(arguments.get("out") or "")
    if "force" not in arguments or arguments["force"] or not isinstance(out, str) or not _is_file(Path(out)):
        return
    if Path(out).suffix.lower() not in PROTECTED:
        return
    from interlock.cli.sources.vocabularies import is_pack

    if not is_pack(out):
        command = arguments["command"]
        raise UsageError(
            f"--out {out}: that file exists, and {command} writes no files of such a name",
            "another name, or --force to replace it",
        )


def refuse_inputs(arguments: Mapping[str, Any]) -> None:
    """``UsageError`` if a file that shall be written is one that the command reads, by whatever name, or a source in a
    folder that it reads; or if a store shall be the folder of its own sources, among which the next run would find it.
    """
    _refuse_own_folder(arguments)
    for name in WRITTEN:
        written = arguments.get(name)
        if not isinstance(written, str) or not _is_file(Path(written)):
            continue
        for read in _paths(value for key, value in arguments.items() if key not in WRITTEN):
            if _is_part_of(Path(written), read):
                raise UsageError(
                    f"{FILES[name]} {written} is a file that this command reads, which it would destroy: "
                    "name another one"
                )


def _refuse_own_folder(arguments: Mapping[str, Any]) -> None:
    out = str(arguments.get("out") or "")
    for word in arguments.get("sources", ()) if out and "://" not in out else ():
        if _holds_sources_of(os.path.realpath(out), os.path.realpath(word)):
            raise UsageError(
                f"-o {out}: the store would lie among its sources in {word}",
                f"a folder of its own, as in -o {os.path.join(out, 'store')}, or beside it",
            )


def _holds_sources_of(out: str, word: str) -> bool:
    """Whether a folder has a source of ``word`` beside what a store would write into it: ``word`` itself, or where that
    is a folder, files of it.
    """
    if not os.path.isdir(word):
        return os.path.isfile(word) and os.path.dirname(word) == out
    if word == out:
        return True
    if not Path(out).is_relative_to(word) or not os.path.isdir(out):
        return False
    names = os.listdir(out)
    return any(Path(name).suffix in SUFFIXES and not name.startswith("report") for name in names)


def _paths(values: Any) -> Iterator[Path]:
    """The files and folders that arguments name, with ``schema:@`` and the like before them or not."""
    for value in values:
        if isinstance(value, list | tuple):
            yield from _paths(value)
        elif isinstance(value, str):
            for text in {value, value.partition("@")[2], value.partition("=")[2]}:
                if text:
                    yield Path(text)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _is_part_of(written: Path, read: Path) -> bool:
    try:
        if read.is_dir():
            # Of a folder, sources and the tokenizer of a model are read.
            is_read = written.suffix in SUFFIXES or written.name in TOKENIZERS
            return written.resolve().is_relative_to(read.resolve()) and is_read
        return read.exists() and written.samefile(read)
    except (OSError, ValueError):
        return False
