"""What to do about a reference to a document that was not given: the file that was probably meant, and the option."""

from __future__ import annotations

import os
import posixpath
import shlex
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from interlock.cli.sources.document_folders import (
    SUFFIXES,
    Documents,
    folder_of,
    inside,
    is_relative,
    lies_in,
    names_in_folders,
)
from interlock.cli.sources.yaml_files import from_yaml, is_yaml
from interlock.cli.terminal.named_files import in_folder
from interlock.cli.terminal.suggest import near_file
from interlock.util.near_words import nearest

if TYPE_CHECKING:
    from interlock.cli.sources.source_arguments import Source

__all__ = ["beside", "way_to"]

MOST_FOLDERS = 200
"""Folders beside a source that are looked into."""
MOST_FILES = 2_000
"""Files of each folder of ``--document`` whose names are compared."""


def way_to(reference: str, start: str, uri: str = "", documents: Documents | None = None) -> str:
    """How ``--document`` reaches what a reference of a file in the folder ``start`` leads to, and nothing does yet.
    ``uri`` is the whole of the reference, and ``documents`` are those that ``--document`` gives already.
    """
    address = unquote(reference.partition("#")[0])
    uri = uri or address
    tops = [top for _, top in documents.tops] if documents is not None else []
    if not is_relative(address):
        return _of_absolute(uri, start, documents)
    path = os.path.normpath(os.path.join(start, address))
    if os.path.isfile(path):
        way = _of_file(address, path, start)
        if tops and way.endswith(os.path.relpath(path)) and not any(lies_in(path, top) for top in tops):
            return f"{way}, which lies outside of {' and '.join(map(shlex.quote, tops))}"
        return way
    if os.path.isdir(path):
        return f"{os.path.relpath(path)} is a folder, and $ref names a file"
    if "\\" in address and os.path.isfile(os.path.join(start, slashed := address.replace("\\", "/"))):
        return f'write the reference with slashes: "{slashed}", which is a file'
    if other := next((path + ending for ending in SUFFIXES if os.path.isfile(path + ending)), ""):
        return f"--document {_pair(uri, other)} gives $ref the file {os.path.relpath(other)}"
    if other := _of_other_case(path):
        return f"{path} is not there; did you mean {other}?"
    # Most short names are near to some other.
    if len(Path(path).stem) > 3 and (meant := near_file(path, set(SUFFIXES))):
        return f"{path} is not there; did you mean {meant}?"
    if documents is not None and (meant := _near_name(address, uri, start, documents)):
        return f'did you mean "{meant}"?'
    if other := next(_in_folders_beside(os.path.basename(path), start), ""):
        return f"--document {_pair(uri, other)} gives $ref the file {os.path.relpath(other)}"
    if any(os.path.isdir(top) and lies_in(path, top) for top in tops):
        other = f"--document {_pair(uri, 'FILE')} gives another file"
        return f"{path} is not there: write it, or change the reference; {other}"
    return "--document URI=FILE gives a schema that $ref may reach; --document FOLDER the files of a folder"


def beside(source: Source, other: Source) -> str:
    """What to do about a version of a schema that lies outside of the folders of ``--document``, while the other one
    lies inside; empty where that is not so.
    """
    tops = [top for _, top in getattr(other.options.get("documents"), "tops", ()) if os.path.isdir(top)]
    file, home = source.file, folder_of(other.file)
    if not file or not other.file or folder_of(file) == home:
        return ""
    if any(lies_in(file, top) for top in tops) or not any(lies_in(other.file, top) for top in tops):
        return ""
    there = shlex.quote(os.path.join(home, os.path.basename(file)))
    return f"write {file} beside {other.file}, as {there}: its references start from its own folder"


def _of_file(address: str, path: str, start: str) -> str:
    if is_yaml(path):
        return from_yaml(path, "refer to")
    top = os.path.commonpath([os.path.abspath(start), os.path.abspath(folder_of(path))])
    if inside(start, address, top) is None:
        return f"--document {_pair(address, path)} gives $ref this file, which is a link to another folder"
    there = shlex.quote(os.path.relpath(top))
    whose = "this folder" if there == "." else there
    return f"--document {there} gives the files in {whose} to $ref, among them {os.path.relpath(path)}"


def _near_name(address: str, uri: str, start: str, documents: Documents) -> str:
    """The name of a given document that was probably meant, as ``$ref`` would say it; empty if none is near.

    Of the name of a folder and that of a file in it, one may be wrong: of whole URIs, most are near to each other.
    """
    relative, absolute = _names_given(start, documents)
    known = [(address, relative), (uri, absolute)] if is_relative(address) else [(uri, absolute)]
    for wanted, names in known:
        folder, last = posixpath.split(wanted)
        in_folder_names = {posixpath.basename(name): name for name in names if posixpath.dirname(name) == folder}
        stems = {posixpath.splitext(name)[0]: name for name in in_folder_names}
        stem = posixpath.splitext(last)[0]
        if len(stem) > 3 and (meant := nearest(stem, stems)):
            return in_folder_names[stems[meant]]
        elsewhere = {posixpath.dirname(name): name for name in names if posixpath.basename(name) == last}
        if len(elsewhere) == 1 or (meant := nearest(folder, elsewhere)):
            return next(iter(elsewhere.values())) if len(elsewhere) == 1 else elsewhere[meant]
    return ""


def _names_given(start: str, documents: Documents) -> tuple[list[str], list[str]]:
    """What the files of ``--document`` are called: the paths to them from a folder, and their URIs."""
    relative: list[str] = []
    absolute: list[str] = []
    for uri in documents:
        (absolute if ":" in uri else relative).append(uri)
    for prefix, top in documents.tops:
        for found in islice(in_folder(top, SUFFIXES) if os.path.isdir(top) else [top], MOST_FILES):
            path = str(found)
            # Those of a schema without a file start there.
            begin = start if documents.home or start != "." else top if os.path.isdir(top) else folder_of(top)
            relative.append(Path(os.path.relpath(path, begin)).as_posix())
            if prefix:
                absolute.append(prefix + Path(os.path.relpath(path, top)).as_posix())
    return relative, [*absolute, *(name for name, _ in islice(names_in_folders(documents), MOST_FILES))]


def _of_absolute(uri: str, start: str, documents: Documents | None) -> str:
    """Of a URI whose last part is a file from the folder of the source on: what the URIs of that folder begin with."""
    parts = [place for place, mark in enumerate(uri) if mark in "/:"]
    for place in parts:
        path = os.path.join(start, unquote(uri[place + 1 :]))
        if uri[place + 1 :] and not uri[place + 1 :].startswith("/") and os.path.isfile(path):
            whole = os.path.normpath(path)
            if is_yaml(whole):
                return from_yaml(whole, "refer to")
            prefix = uri[: place + 1]
            pair = _pair(prefix, start) if prefix.endswith("/") else _pair(uri, whole)
            what = "the file" if not prefix.endswith("/") else "the files there, among them"
            return f"--document {pair} gives $ref {what} {os.path.relpath(whole)}"
    if documents is not None and (meant := _near_name(uri, uri, start, documents)):
        return f'did you mean "{meant}"?'
    return "--document URI=FILE gives a schema that $ref may reach; --document URI=FOLDER those whose URIs begin so"


def _pair(uri: str, path: str) -> str:
    return shlex.quote(f"{uri}={os.path.relpath(path)}")


def _of_other_case(path: str) -> str:
    """The file beside a path that is called the same but for upper and lower case; empty if none."""
    folder, name = os.path.split(path)
    try:
        found = next((one for one in sorted(os.listdir(folder or ".")) if one.lower() == name.lower()), "")
    except OSError:
        return ""
    return os.path.join(folder, found) if found else ""


def _in_folders_beside(name: str, start: str) -> Iterator[str]:
    """The files of this name in the folders of a folder, and in the one around it."""
    try:
        with os.scandir(start) as entries:
            folders = sorted(entry.path for entry in islice(entries, MOST_FOLDERS) if not entry.name.startswith("."))
    except OSError:
        return
    for folder in [*folders, os.path.join(start, os.pardir)]:
        if os.path.isfile(path := os.path.join(folder, name)):
            yield os.path.normpath(path)
