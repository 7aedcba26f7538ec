"""``--document``: schemas in other files, for ``$ref``.

``URI=FILE`` gives one file a URI. ``FOLDER`` gives the files in it that the references of a schema lead to, and no
others of it. A reference is a path as files have them: it starts from the folder of the file that it stands in, or else
from FOLDER itself. ``URI=FOLDER`` gives the files of a folder the URIs that begin so, and ``FILE`` is a folder of one
file. A file that names itself by ``$id`` has that name as well. Nothing outside of what is named is read.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import unquote

from interlock.cli.terminal import atomic_files
from interlock.cli.terminal.exits import UsageError
from interlock.cli.terminal.named_files import in_folder
from interlock.cli.terminal.place_in_source import json_value
from interlock.cli.terminal.suggest import near_file
from interlock.util.uri_references import joined

SUFFIXES = (".json", ".schema")
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef", "$schema")


class Documents(dict[str, bytes]):
    """Schemas by URI, as ``Index.from_json_schema`` takes them."""

    def __init__(self) -> None:
        super().__init__()
        self.paths: dict[str, str] = {}
        """The file of each."""
        self.tops: list[tuple[str, str]] = []
        """What further files may be taken from: a folder, or a file without a URI, and what its URIs begin with (empty
        where nothing is said)."""
        self.passed_over: dict[str, tuple[str, str]] = {}
        """Of references that lead to a file of another folder than that of their own file, where such a file lies as
        well: that one, and the one that was taken."""

    def notes(self) -> tuple[str, ...]:
        """What a reader should know of files that were passed over."""
        return tuple(
            f"$ref leads to {os.path.relpath(taken)}, and {os.path.relpath(beside)} beside the file that refers to it "
            f"is not used: --document {shlex.quote(os.path.relpath(folder_of(beside)))} gives it to $ref"
            for beside, taken in self.passed_over.values()
        )


def given(words: list[str]) -> Documents:
    """What each ``--document`` names."""
    documents = Documents()
    for word in words:
        uri, equals, path = word.rpartition("=")
        if os.path.exists(word):
            documents.tops.append(("", word))
        elif not equals or not uri or not path:
            remedy = f"did you mean {meant}?" if not equals and (meant := near_file(word)) else ""
            raise UsageError(
                f"--document {word}: write URI=FILE, or the name of a file or a folder that is there", remedy
            )
        elif os.path.isdir(path):
            documents.tops.append((uri, path))
        else:
            documents[uri], documents.paths[uri] = atomic_files.read(path), path
    return documents


def with_reached(documents: Documents, text: Any, file: str) -> Documents:
    """The documents with those that a schema reaches besides; ``file`` is the schema's, empty where it has none."""
    if not documents.tops:
        return documents
    all_of = Documents()
    all_of.update(documents)
    all_of.paths.update(documents.paths)
    all_of.tops = documents.tops
    first = documents.tops[0][1]
    start = folder_of(file) if file else first if os.path.isdir(first) else folder_of(first)
    value = json_value(text)
    own = set(_own_names(value))
    todo = [_File(value, start, "")]
    for given_uri, data in documents.items():
        todo.append(_File(json_value(data), folder_of(documents.paths[given_uri]), given_uri))
    for one in todo:
        for uri, reference in _references(one):
            if uri in own or uri in documents or not (path := _find(all_of, reference, uri, one.folder)):
                continue
            if (other := all_of.paths.get(uri)) is not None:
                _refuse_two(uri, other, path)
            elif read := _read(all_of, uri, path):
                todo.append(read)
    return all_of


@dataclass(frozen=True)
class _File:
    """A schema that was read: its value, the folder that it lies in, and the URI that it was reached by."""

    value: Any
    folder: str
    uri: str


def _read(documents: Documents, uri: str, path: str) -> _File | None:
    """Read a file, unless that was done under another URI and the engine finds it by its ``$id`` as well."""
    data = atomic_files.read(path)
    value = json_value(data)
    named = set(_own_names(value))
    for other, known in list(documents.paths.items()):
        if _same(known, path):
            if uri in named:
                return None
            if other in named:  # Two documents of one name would have no one meaning.
                del documents[other], documents.paths[other]
    documents[uri], documents.paths[uri] = data, path
    return _File(value, folder_of(path), uri)


def _refuse_two(uri: str, first: str, second: str) -> None:
    if not _same(first, second):
        raise UsageError(
            f"--document: {uri} is {first} where one file refers to it, and {second} where another does",
            f"give both files an $id; or --document {uri}={second}, where that is the one for all",
        )


def _find(documents: Documents, reference: str, uri: str, folder: str) -> str | None:
    """The file that a reference in a file of ``folder`` leads to; ``uri`` is the whole of it."""
    for prefix, top in documents.tops:
        if prefix and uri.startswith(prefix) and (there := inside(top, uri[len(prefix) :].lstrip("/"), top)):
            return there
    if ":" in uri and (named := next((path for name, path in _named(documents) if name == uri), None)):
        return named
    if ":" in reference.partition("/")[0] or reference.startswith("/"):
        return None
    tops = [top for _, top in documents.tops]
    starts = [*((folder, top) for top in tops), *((top if os.path.isdir(top) else folder_of(top), top) for top in tops)]
    found = next((path for start, top in starts if (path := inside(start, reference, top))), None)
    beside = os.path.normpath(os.path.join(folder, unquote(reference.partition("?")[0])))
    if found is not None and os.path.isfile(beside) and not _same(found, beside):
        documents.passed_over[uri] = (beside, found)
    return found


def _named(documents: Documents) -> Iterator[tuple[str, str]]:
    """The absolute URIs by which files of the folders name themselves or a part of them, and the files."""
    for _, top in documents.tops:
        for path in in_folder(top, SUFFIXES) if os.path.isdir(top) else [top]:
            for name in _names_of(os.path.realpath(path), os.stat(path).st_mtime_ns):
                yield name, str(path)


@cache
def _names_of(path: str, _changed: int) -> tuple[str, ...]:
    """The names that a file gives itself; read once for all sources of a run."""
    return tuple(_own_names(json_value(atomic_files.read(path))))


def folder_of(file: str) -> str:
    """The folder that a file lies in."""
    return os.path.dirname(file) or "."


def _same(first: str, second: str) -> bool:
    return os.path.realpath(first) == os.path.realpath(second)


def inside(folder: str, reference: str, top: str) -> str | None:
    """The file at a reference that starts from ``folder``, where it lies in ``top``."""
    path = os.path.normpath(os.path.join(folder, unquote(reference.partition("?")[0])))
    if not os.path.isfile(path):
        return None
    real, within = os.path.realpath(path), os.path.realpath(top)
    return path if real == within or real.startswith(os.path.join(within, "")) else None


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    """Every object of a document."""
    todo = [value]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            yield part
        todo += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()


def _own_names(value: Any) -> Iterator[str]:
    """The absolute URIs that a document and its parts have by ``$id``."""
    top = ""
    for part in _parts(value):
        for key in ("$id", "id"):
            if isinstance(name := part.get(key), str) and (name := _join(top, name)):
                top = top or name
                if ":" in name:
                    yield name


def _references(file: _File) -> Iterator[tuple[str, str]]:
    """What the references of a file lead to: the URI, and the reference as it is written, without fragments."""
    todo: list[tuple[Any, tuple[str, ...]]] = [(file.value, (file.uri,))]
    while todo:
        part, bases = todo.pop()
        if isinstance(part, list):
            todo += [(item, bases) for item in part]
        if not isinstance(part, dict):
            continue
        if isinstance(name := part.get("$id"), str):
            bases = tuple(_join(base, name) for base in bases)
        if isinstance(name := part.get("id"), str):  # It depends on the draft whether that is a name.
            bases = (*bases, *(_join(base, name) for base in bases))[:8]
        for key in REFERENCES:
            if isinstance(reference := part.get(key), str) and (address := reference.partition("#")[0]):
                yield from ((_join(base, address), address) for base in bases)
        todo += [(value, bases) for value in part.values()]


def _join(base: str, reference: str) -> str:
    """A reference seen from a base, without a fragment."""
    return joined(base, reference.partition("#")[0])
