"""A schema and the documents that it refers to, as one document whose references stay inside of it.

The documents stand in ``$defs`` under their URIs, and each reference that leads to a place is a JSON Pointer from the
root, so that what compares schemas needs to know nothing of documents, of names and of anchors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from interlock.cli.sources.source_arguments import Source
from interlock.cli.terminal.place_in_source import json_value
from interlock.explain.references import Place, References, enter
from interlock.schema_hints.schema_keywords import MAPS, VALUES
from interlock.util.json_pointer import escaped

__all__ = ["documents_of", "whole"]


def documents_of(source: Source, read: Callable[[Any], Any] = json_value) -> dict[str, Any]:
    """The documents that a source may refer to, as values, by URI."""
    return {uri.rstrip("#"): read(text) for uri, text in source.options.get("documents", {}).items()}


def whole(source: Source, read: Callable[[Any], Any] = json_value) -> Any:
    """The schema of a source with its documents inside; ``None`` for other sources, and where it is nested too deeply.

    A reference stays as it is where it leads to no place, or to one of another draft. So does ``$id`` of a part that is
    of another draft.
    """
    if source.document is None:
        return None
    try:
        return of_documents(read(source.text), documents_of(source, read))
    except (RecursionError, ValueError):
        return source.document


def of_documents(schema: Any, documents: dict[str, Any]) -> Any:
    """A schema with its documents inside.

    >>> of_documents({"$ref": "m#n"}, {"m": {"not": {"$anchor": "n"}}})
    {'$ref': '#/$defs/m/not', '$defs': {'m': {'not': {'$anchor': 'n'}}}}
    """
    held = schema.get("$defs", {}) if isinstance(schema, dict) else None
    if not isinstance(held, dict):
        return schema
    names: dict[str, str] = {}
    for uri in documents:
        name = uri.replace("%", "~")  # Pointers in references may be percent-encoded, and these are not.
        while name in held or name in names.values():
            name += "#"
        names[uri] = name
    own = enter(schema, Place())
    roots = {uri: f"/$defs/{escaped(name)}" for uri, name in names.items()}
    writer = _Writer(References(schema, documents), own.draft, {"": ""} | roots)
    out = writer.schema(schema, Place())
    if documents:
        inner = {names[uri]: writer.schema(part, Place(uri, "", uri, own.draft)) for uri, part in documents.items()}
        out["$defs"] = out.get("$defs", {}) | inner
    return out


@dataclass
class _Writer:
    """Writes schemas with other references; ``roots`` are the pointers to where each document comes to stand."""

    references: References
    draft: int | None
    roots: dict[str, str]

    def schema(self, schema: Any, place: Place, are_names: bool = False) -> Any:
        """A schema at a place; or schemas by names, which are no keywords."""
        if isinstance(schema, list):
            return [self.schema(part, place.at(i)) for i, part in enumerate(schema)]
        if not isinstance(schema, dict):
            return schema
        place = place if are_names else enter(schema, place)
        out: dict[str, Any] = {}
        for key, part in schema.items():
            if are_names or key not in VALUES:
                part = self.schema(part, place.at(key), not are_names and key in MAPS)
            if not are_names and isinstance(part, str):
                if key in ("$id", "id") and self._is_of_the_draft(place):
                    continue
                if key == "$ref":
                    part = self._reference(part, place)
            out[key] = part
        return out

    def _reference(self, reference: str, place: Place) -> str:
        found = self.references.find(reference, place)
        if found is None or not self._is_of_the_draft(found[1]) or found[1].document not in self.roots:
            return reference
        return f"#{self.roots[found[1].document]}{found[1].pointer}"

    def _is_of_the_draft(self, place: Place) -> bool:
        newest = 8
        return (place.draft or newest) == (self.draft or newest)
