"""The arguments that give the text to walk: a file, the text itself, or token ids."""

from __future__ import annotations

import argparse
import json
import os
import re
from typing import Any

import interlock
from interlock.cli.checking.walk import Speller
from interlock.cli.sources import source_arguments as sources
from interlock.cli.sources import source_words, vocabularies
from interlock.cli.sources.schema_or_answer import is_answer, is_doubtful
from interlock.cli.sources.yaml_files import is_yaml
from interlock.cli.terminal import atomic_files, exits
from interlock.cli.terminal.suggest import near_file


def one_of(args: argparse.Namespace, ways: dict[str, Any]) -> None:
    """``UsageError`` unless exactly one of the ways to give an output was taken."""
    given = [way for way, value in ways.items() if value not in (None, [])]
    *names, last = ways
    if not given:
        raise exits.UsageError(
            f"there is nothing to {args.command}: give {', '.join(names)} or {last}",
            f"interlock {args.command} {args.source} FILE; - in the place of FILE is the standard input",
        )
    if len(given) > 1:
        both = "both " if len(given) == 2 else ""
        raise exits.UsageError(f"you gave {both}{' and '.join(given)}; give one of them")


def in_order(args: argparse.Namespace) -> sources.Source:
    """The source. ``UsageError`` where it is a document, and the document is a source.

    That the two were swapped is said only where the first is no source: an option that is wrong says nothing of them.
    """
    try:
        return sources.read(args.source, args)
    except (exits.UsageError, interlock.SchemaError) as error:
        first_is_none = error.no_source if isinstance(error, exits.UsageError) else _is_document(args.source)
        # A schema in YAML is in its right place: what helps is the command that makes JSON of it.
        swapped = first_is_none and os.path.isfile(args.source) and not is_yaml(args.source)
        if swapped and _names_source(_first(args)) and not _is_document(_first(args)):
            raise exits.UsageError(_swapped(args)) from error
        raise


def swapped_perhaps(args: argparse.Namespace) -> str:
    """A warning where the source may be an answer, and the document is surely a schema; else empty."""
    first = _first(args)
    if args.take_all or not all(
        path.lower().endswith(".json") and os.path.isfile(path) for path in (args.source, first)
    ):
        return ""
    given, document = (_json(atomic_files.read(path)) for path in (args.source, first))
    is_schema = isinstance(document, dict) and {"type", "properties"} <= document.keys() and not is_answer(document)
    if not is_schema or args.schema_key or not is_doubtful(given):
        return ""
    return (
        f"most keys of {args.source} are no keywords, and {first} is a schema: are the two swapped? "
        f"The source comes first, interlock {args.command} {first} {args.source}"
    )


def _first(args: argparse.Namespace) -> str:
    """The first file that is given; empty if none is."""
    given = args.given[0] if isinstance(args.given, list) and args.given else args.given
    return given if isinstance(given, str) else ""


def _swapped(args: argparse.Namespace) -> str:
    first = _first(args)
    return (
        f"{args.source} is no source, and {first} is one: the source comes first, "
        f"interlock {args.command} {first} {args.source}"
    )


def _names_source(path: str) -> bool:
    """Whether a word names a file that is a source by its name, or a JSON file that may be one."""
    return os.path.splitext(path)[1].lower() in source_words.SUFFIXES and os.path.isfile(path)


def _is_document(path: str) -> bool:
    """Whether a file is JSON that is no schema."""
    path = source_words.file_of(path)
    return path.lower().endswith(".json") and os.path.isfile(path) and bool(is_answer(_json(atomic_files.read(path))))


def _json(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return {}


def token_ids(args: argparse.Namespace, vocabulary: interlock.Vocabulary) -> list[int]:
    """The ids that ``--ids`` names, with commas or blanks between them; a list as Python writes it is one, too.
    ``UsageError`` for what is none, and for an id that no token has.
    """
    ids = []
    text = args.ids.strip().removeprefix("[").removesuffix("]")
    for part in text.replace(",", " ").split() or [text]:
        try:
            ids.append(int(part))
        except ValueError:
            raise exits.UsageError(f"--ids: {part.strip()!r} is no token id; write numbers, as in 5018,606") from None
    for token in ids:
        vocabularies.require_token("--ids", token, vocabulary)
    return ids


def tokens_of(
    args: argparse.Namespace, vocabulary: interlock.Vocabulary, given: str | None, text: str | None
) -> tuple[list[int], bytes]:
    """The ids that the arguments name, or those that spell the file or the text; and the bytes that they spell."""
    if args.ids is not None:
        ids = token_ids(args, vocabulary)
        return ids, vocabulary.decode(ids)
    data = of_text(text) if text is not None else of_file(given or "")
    return Speller(vocabulary).spell(data), data


def of_text(text: str) -> bytes:
    """The bytes of ``--text``. ``UsageError`` where it names a file."""
    if os.path.isfile(text):
        raise exits.UsageError(f"--text takes the output itself, and {text} is a file: leave out --text")
    return text.encode("utf-8", "surrogateescape")


def of_file(path: str) -> bytes:
    """The bytes of a file, without one newline at its end. ``UsageError`` for a text in the place of a file."""
    return of_file_and_newline(path)[0]


def of_file_and_newline(path: str) -> tuple[bytes, bytes]:
    """The bytes of a file without one newline at its end, and that newline; empty where there is none."""
    require_file(path)
    data = atomic_files.read(path)
    text = data.removesuffix(b"\n").removesuffix(b"\r")
    return text, data[len(text) :]


def require_file(path: str) -> None:
    """``UsageError`` for a text in the place of a file."""
    if path != "-" and not os.path.exists(path) and _is_text(path):
        raise exits.UsageError(f"{path!r} is no file; the output itself is given with --text {path!r}")


def _is_text(word: str) -> bool:
    """Whether a word that names no file is an output rather than a misspelt name."""
    return word.lstrip()[:1] in ("{", "[", '"') or not (re.search(r"[./\\]", word) or near_file(word))
