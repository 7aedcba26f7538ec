"""Where the documents of two schemas come from: what the reader of a comparison should know of it.

An answer about two versions of a tree is worth nothing if one of them was read with files of the other.
"""

from __future__ import annotations

import os
from typing import Any

from interlock.cli.sources.document_folders import Documents
from interlock.cli.sources.source_arguments import Source

__all__ = ["notes_on_documents", "without_other_names"]

NAMES = ("first", "second")


def notes_on_documents(read: list[Source]) -> list[str]:
    """For each of two sources, which files it was given in the place of those beside it, or from the other's folder."""
    out = []
    given = [_documents(source) for source in read]
    for name, documents, other, beside in zip(NAMES, given, given[::-1], NAMES[::-1]):
        out += [f"in the {name}, {note}" for note in documents.notes()]
        taken = documents.nearer_to(other.home) if documents.home and other.home else []
        if taken:
            shown = ", ".join(map(os.path.relpath, taken[:3])) + (", ..." if taken[3:] else "")
            out.append(f"in the {name}, $ref leads to {shown}, in the folder of the {beside}")
    return out


def without_other_names(read: list[Source], values: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The documents of two sources by URI, without those whose file the other one has by another name, as ``a.json``
    and ``../s/a.json`` in the folder ``s``: such a file is neither added nor removed.
    """
    paths = [_documents(source).paths for source in read]
    files = [{os.path.realpath(path) for path in some.values()} for some in paths]
    return [
        {
            uri: value
            for uri, value in ours.items()
            if uri in theirs or uri not in named or os.path.realpath(named[uri]) not in others
        }
        for ours, theirs, named, others in zip(values, values[::-1], paths, files[::-1])
    ]


def _documents(source: Source) -> Documents:
    found: Any = source.options.get("documents")
    return found if isinstance(found, Documents) else Documents()
