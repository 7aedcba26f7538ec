"""``--document``: schemas in other files, for ``$ref``.

``URI=FILE`` gives one file a URI. ``FOLDER`` gives the files in it that the references of a schema lead to, and no
others of it. A reference is a path as files have them: it starts from the folder of the file that it stands in, or else
from FOLDER itself. ``URI=FOLDER`` gives the files of a folder the URIs that begin so, and ``FILE`` is a folder of one
file. A file that names itself by ``$id`` has that name as well. No schema outside of what is named is taken. A folder
of sources (``precompute schemas/``, ``diff v1/ v2/``) is named as well; a source that is a file names itself alone.

Of several folders, the one that the source lies in comes first: two versions of a tree have files of the same names.
Where a reference would lead to a file of another folder, and a different file of that name lies beside its own, an
error names both.
"""

from __future__ import annotations

import filecmp
import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import unquote

from interlock.cli.terminal import atomic_files
from interlock.cli.terminal.exits import UsageError
from interlock.cli.terminal.named_files import in_folder
from interlock.cli.terminal.place_in_source import json_value
from interlock.cli.terminal.suggest import near_file
from interlock.util.json_pointer import pointer_of
from interlock.util.uri_references import joined

SUFFIXES = (".json", ".schema")
MOST_BESIDE = 200
"""Files beside a schema that are looked into for a name."""
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef", "$schema")
DRAFTS = re.compile(r"https?://json-schema\.org/(draft-\d\d|draft/\d{4}-\d\d)/schema")
"""What ``$schema`` mostly says: no file has it."""


class Documents(dict[str, bytes]):
    """Schemas by URI, as ``Index.from_json_schema`` takes them."""

    def __init__(self) -> None:
        super().__init__()
        self.paths: dict[str, str] = {}
        """The file of each."""
        self.tops: list[tuple[str, str]] = []
        """What further files may be taken from: a folder, or a file without a URI, and what its URIs begin with (empty
        where nothing is said)."""
        self.named: dict[str, list[tuple[str, str]]] = {}
        """Of each folder that was looked through, the absolute URIs by which its files name themselves, and the files.
        All copies share it."""
        self.home = ""
        """The folder of the source that they are for; empty where it has none."""
        self.also: dict[str, dict[str, bytes]] = {}
        """Of each URI that is given a file, every file that it is given."""
        self.passed_over: dict[str, tuple[str, str]] = {}
        """Of URIs that are given a file while another one lies beside the file that refers to them: that other one,
        and the one that is given."""

    def copied(self) -> Documents:
        """The same documents, to which others may be added."""
        copy = Documents()
        copy.update(self)
        copy.paths.update(self.paths)
        copy.named = self.named
        return copy

    def nearer_to(self, other: str) -> list[str]:
        """The files that lie nearer to another schema, in the folder ``other``, than to the source."""
        told = [taken for _, taken in self.passed_over.values()]
        own = self.home or "."
        return [
            path for path in self.paths.values() if path not in told and _nearness(path, other) > _nearness(path, own)
        ]

    def notes(self) -> tuple[str, ...]:
        """What a reader should know of files that were passed over."""
        return tuple(
            f"$ref leads to {os.path.relpath(taken)}, as --document says, and not to {os.path.relpath(beside)} beside "
            "the file that refers to it"
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
            documents.also.setdefault(uri, {})[path] = documents[uri]
    return documents


def with_reached(documents: Documents, text: Any, file: str) -> Documents:
    """The documents with those that a schema reaches besides; ``file`` is the schema's, empty where it has none."""
    all_of = Documents()
    for uri, files in documents.also.items():
        nearest = _own_of(uri, list(files), file)
        all_of[uri], all_of.paths[uri] = files[nearest], nearest
    all_of.named = documents.named
    documents, tops = all_of.copied(), documents.tops
    if file:
        all_of.home = folder_of(file)
        all_of.tops = sorted(tops, key=lambda top: -len(os.path.realpath(top[1])) if lies_in(file, top[1]) else 0)
    else:
        all_of.tops = tops
    first = tops[0][1] if tops else "."
    start = folder_of(file) if file else first if os.path.isdir(first) else folder_of(first)
    value = json_value(text)
    own = set(_own_names(value))
    todo = [_File(value, start, "")]
    for given_uri, data in documents.items():
        todo.append(_File(json_value(data), folder_of(documents.paths[given_uri]), given_uri))
    for one in todo:
        for uri, reference in _references(one):
            if uri in documents and (beside := _other_beside(reference, uri, one.folder, documents.paths[uri])):
                all_of.passed_over[uri] = (beside, documents.paths[uri])
            if uri in own or uri in documents or not (path := _find(all_of, reference, uri, one.folder)):
                continue
            _refuse_other(all_of, reference, uri, one.folder, path)
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


def _own_of(uri: str, files: list[str], source: str) -> str:
    """Of the files that a URI is given, the one that lies nearest to the source."""
    if len(files) == 1:
        return files[0]
    shared = [_nearness(file, folder_of(source)) if source else 0 for file in files]
    if shared.count(max(shared)) > 1:
        raise UsageError(f"--document: {uri} is given {files[0]} and {files[1]}", "leave out one of the two")
    return files[shared.index(max(shared))]


def _nearness(file: str, folder: str) -> int:
    """How much of the path of a folder a file shares."""
    return len(os.path.commonpath([os.path.realpath(folder), os.path.realpath(file)]))


def _refuse_other(documents: Documents, reference: str, uri: str, folder: str, path: str) -> None:
    """``UsageError`` where a reference leads to ``path``, and the file beside its own is another one outside of all
    that is given: nothing says which of the two is meant.
    """
    beside = _other_beside(reference, uri, folder, path)
    if not beside or any(lies_in(beside, top) for _, top in documents.tops):
        return
    tops = [f"{prefix}={top}" if prefix else top for prefix, top in documents.tops]
    prefix = next((prefix for prefix, top in documents.tops if prefix and lies_in(path, top)), "")
    whole = os.path.abspath(folder)
    own = os.path.relpath(os.path.commonpath([whole, os.path.abspath(folder_of(beside))]))
    both = " ".join(f"--document {shlex.quote(word)}" for word in [*tops, f"{prefix}={own}" if prefix else own])
    raise UsageError(
        f"$ref {reference} would lead to {os.path.relpath(path)} by --document, and {os.path.relpath(beside)}, another "
        "file, lies beside the file that refers to it",
        f"{both} takes for each source the files of its own folder; "
        f"or --document {shlex.quote(f'{uri}={os.path.relpath(path)}')}, where that is the one for all",
    )


def _other_beside(reference: str, uri: str, folder: str, path: str) -> str:
    """The file beside that of a reference which the reference means if nothing else is said, where it is another one
    than ``path`` and says something else; empty where there is none.
    """
    if ":" in uri:
        # A file that has no $id is named by the path to it.
        may_be_path = is_relative(reference)
        called = ((one, _names_in(one)) for one in _beside(reference, folder))
        beside = next((one for one, names in called if uri in names or may_be_path and not names), "")
    else:
        beside = next(iter(_beside(reference, folder)), "")
    if not beside or _same(beside, path) or not os.path.isfile(path):
        return ""
    return "" if filecmp.cmp(beside, path, shallow=False) else beside


def _beside(reference: str, folder: str) -> Iterator[str]:
    """The file of a relative reference that starts from ``folder``; of another one, the schemas in ``folder``."""
    if is_relative(reference):
        path = os.path.normpath(os.path.join(folder, unquote(reference.partition("?")[0])))
        if os.path.isfile(path) and os.access(path, os.R_OK):
            yield path
    else:
        names = sorted(name for name in os.listdir(folder) if name.lower().endswith(SUFFIXES))[:MOST_BESIDE]
        yield from filter(os.path.isfile, (os.path.normpath(os.path.join(folder, name)) for name in names))


def is_relative(reference: str) -> bool:
    """Whether a reference is a path from the place where it stands."""
    return ":" not in reference.partition("/")[0] and not reference.startswith("/")


def _find(documents: Documents, reference: str, uri: str, folder: str) -> str | None:
    """The file that a reference in a file of ``folder`` leads to; ``uri`` is the whole of it."""
    for prefix, top in documents.tops:
        if prefix and uri.startswith(prefix) and (there := inside(top, uri[len(prefix) :].lstrip("/"), top)):
            return there
    tops = [top for _, top in documents.tops]
    beside = None
    if is_relative(reference):
        beside = next((path for top in tops if (path := inside(folder, reference, top))), None)
    if ":" in uri:
        all_named = [path for name, path in names_in_folders(documents) if name == uri]
        named = max(all_named, key=lambda path: _nearness(path, documents.home or folder), default=None)
        home = next((top for top in tops if lies_in(folder, top)), None)
        # Another tree may have a file of this name, where the one beside has none.
        if named and (beside is None or home is None or lies_in(named, home)):
            return named
        if beside and named and set(_names_in(beside)):
            return named
    if beside or not is_relative(reference):
        return beside
    starts = [(top if os.path.isdir(top) else folder_of(top), top) for top in tops]
    return next((path for start, top in starts if (path := inside(start, reference, top))), None)


def names_in_folders(documents: Documents) -> Iterator[tuple[str, str]]:
    """The absolute URIs by which files of the folders name themselves or a part of them, and the files."""
    for _, top in documents.tops:
        if top not in documents.named:
            files = in_folder(top, SUFFIXES) if os.path.isdir(top) else [top]
            documents.named[top] = [(name, str(path)) for path in files for name in _names_in(str(path))]
        yield from documents.named[top]


def _names_in(path: str) -> tuple[str, ...]:
    """The absolute URIs by which a file names itself or a part of it."""
    return _names_of(os.path.realpath(path), os.stat(path).st_mtime_ns)


@cache
def _names_of(path: str, _changed: int) -> tuple[str, ...]:
    """The names that a file gives itself; read once for all sources of a run."""
    return tuple(_own_names(json_value(atomic_files.read(path))))


def folder_of(file: str) -> str:
    """The folder that a file lies in."""
    return os.path.dirname(file) or "."


def lies_in(file: str, top: str) -> bool:
    """Whether a file or a folder is ``top``, or lies in it."""
    real, within = os.path.realpath(file), os.path.realpath(top)
    return real == within or real.startswith(os.path.join(within, ""))


def _same(first: str, second: str) -> bool:
    return os.path.realpath(first) == os.path.realpath(second)


def inside(folder: str, reference: str, top: str) -> str | None:
    """The file at a reference that starts from ``folder``, where it lies in ``top``."""
    path = os.path.normpath(os.path.join(folder, unquote(reference.partition("?")[0])))
    if not os.path.isfile(path):
        return None
    return path if lies_in(path, top) else None


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


class Reference(NamedTuple):
    """A reference of a schema to another place."""

    pointer: str
    """The schema that has it."""
    uri: str
    """What it leads to, without the fragment: joined to the URI of where it stands."""
    address: str
    """The same as it is written."""
    fragment: str


def _references(file: _File) -> Iterator[tuple[str, str]]:
    """What the references of a file lead to: the URI, and the reference as it is written, without fragments."""
    for one in references_of(file.value, file.uri):
        if one.address:
            yield one.uri, one.address


def references_of(document: Any, uri: str) -> Iterator[Reference]:
    """Every reference in a document of this URI, in the order of its text, also those in examples; that to the draft
    is none.
    """
    todo: list[tuple[Any, Any, tuple[str, ...]]] = [(document, None, (uri,))]
    while todo:
        part, way, bases = todo.pop()
        if isinstance(part, list):
            todo += reversed([(item, (way, number), bases) for number, item in enumerate(part)])
        if not isinstance(part, dict):
            continue
        if isinstance(name := part.get("$id"), str):
            bases = tuple(_join(base, name) for base in bases)
        if isinstance(name := part.get("id"), str):  # It depends on the draft whether that is a name.
            bases = (*bases, *(_join(base, name) for base in bases))[:8]
        for key in REFERENCES:
            if isinstance(reference := part.get(key), str):
                address, _, fragment = reference.partition("#")
                if key == "$schema" and (not address or DRAFTS.fullmatch(address)):
                    continue
                for base in bases:
                    yield Reference(pointer_of(way), _join(base, address), address, unquote(fragment))
        todo += reversed([(value, (way, key), bases) for key, value in part.items()])


def referred_from(document: Any, documents: Documents, uri: str, pointer: str) -> list[tuple[str, str]]:
    """How the references of a schema reach a place in another document: the URI and the pointer of each reference on
    the way, the first of which stands in the schema itself and has an empty URI. Empty where none does.

    A reference to the place, or to a schema around it, comes before one to another part of its document.
    """
    own = {"", *_own_names(document)}
    values = {known: json_value(data) for known, data in documents.items()}
    todo: list[tuple[str, str, list[tuple[str, str]]]] = [("", "", [])]
    seen = {("", "")}
    last_resort: list[tuple[str, str]] = []
    for where, inside_of, way in todo:
        for one in references_of(document if not where else values[where], where):
            target = "" if one.uri in own else one.uri
            if not _is_around(inside_of, one.pointer) or target and target not in values:
                continue
            there = target, one.fragment if one.fragment.startswith("/") else ""
            here = [*way, (where, one.pointer)]
            if target == uri and _is_around(there[1], pointer):
                return here
            last_resort = last_resort or (here if target == uri else [])
            if there not in seen:
                seen.add(there)
                todo.append((*there, here))
    return last_resort


def _is_around(outer: str, pointer: str) -> bool:
    return not outer or pointer == outer or pointer.startswith(outer + "/")


def _join(base: str, reference: str) -> str:
    """A reference seen from a base, without a fragment."""
    return joined(base, reference.partition("#")[0])
