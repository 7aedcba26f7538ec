"""What to do about a reference to a document that was not given: the file that was probably meant, and the option."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from interlock.cli.sources.document_folders import SUFFIXES, folder_of, inside, is_relative, lies_in
from interlock.cli.sources.yaml_files import from_yaml, is_yaml
from interlock.cli.terminal.suggest import near_file

if TYPE_CHECKING:
    from interlock.cli.sources.source_arguments import Source

__all__ = ["beside", "way_to"]

MOST_FOLDERS = 200
"""Folders beside a source that are looked into."""


def way_to(reference: str, start: str, uri: str = "", tops: Sequence[str] = ()) -> str:
    """How ``--document`` reaches what a reference of a file in the folder ``start`` leads to, and nothing does yet.
    ``uri`` is the whole of the reference, and ``tops`` are the folders that ``--document`` names already.
    """
    address = unquote(reference.partition("#")[0])
    uri = uri or address
    if not is_relative(address):
        return _of_absolute(uri, start)
    path = os.path.normpath(os.path.join(start, address))
    if os.path.isfile(path):
        way = _of_file(address, path, start)
        if tops and way.endswith(os.path.relpath(path)) and not any(lies_in(path, top) for top in tops):
            return f"{way}, which lies outside of {' and '.join(map(shlex.quote, tops))}"
        return way
    if "\\" in address and os.path.isfile(os.path.join(start, slashed := address.replace("\\", "/"))):
        return f'write the reference with slashes: "{slashed}", which is a file'
    if other := next((path + ending for ending in SUFFIXES if os.path.isfile(path + ending)), ""):
        return f"--document {_pair(uri, other)} gives $ref the file {os.path.relpath(other)}"
    if other := _of_other_case(path):
        return f"{path} is not there; did you mean {other}?"
    # Most short names are near to some other.
    if len(Path(path).stem) > 3 and (meant := near_file(path, set(SUFFIXES))):
        return f"{path} is not there; did you mean {meant}?"
    if other := next(_in_folders_beside(os.path.basename(path), start), ""):
        return f"--document {_pair(uri, other)} gives $ref the file {os.path.relpath(other)}"
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


def _of_absolute(uri: str, start: str) -> str:
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
