"""Where the references of a schema lead: pointers, anchors, ``$id`` and documents that were passed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from urllib.parse import unquote

from interlock import _core
from interlock.schema_hints.schema_keywords import MAPS, VALUES
from interlock.util.json_pointer import escaped, unescaped
from interlock.util.uri_references import joined

OLD_NAME, NEW_NAME = ("id",), ("$id",)
"""The keyword by which a schema names itself: in draft 4, and in later drafts."""
_DRAFT = re.compile(r"https?://json-schema\.org/(?:draft-0([4-7])|draft/20(?:19-09|20-12))/(?:hyper-)?schema#*")


@dataclass(frozen=True)
class Place:
    """A schema's place: the document that it stands in (empty for the schema itself), its JSON Pointer there, and the
    URI that references in it start from."""

    document: str = ""
    pointer: str = ""
    base: str = ""
    draft: int | None = None
    """The draft that the schema is read by, where ``$schema`` says so: 4 to 7, or 8 for later ones."""
    entered: str | None = None
    """The pointer of the schema whose names gave the base: those of one schema count once."""

    def at(self, *parts: str | int) -> Place:
        """A place below this one."""
        return replace(self, pointer=self.pointer + "".join("/" + escaped(str(p)) for p in parts))

    def __str__(self) -> str:
        return f"{self.document}#{self.pointer}" if self.document else self.pointer


class References:
    """All schemas that a reference may name. With ``metaschemas`` those of the specification are among them."""

    def __init__(self, schema: Any, documents: Mapping[str, Any], metaschemas: bool = False) -> None:
        self.metaschemas = metaschemas
        self.named: dict[str, tuple[Any, Place]] = {}
        self.dynamic: set[str] = set()
        own = enter(schema, Place()) if isinstance(schema, dict) else Place()
        roots = {"": schema} | {uri.rstrip("#"): document for uri, document in documents.items()}
        for uri, root in roots.items():
            # A document that names no draft is read by that of the schema.
            place = Place(uri, "", uri, own.draft if uri else None)
            self.named.setdefault(uri, (root, enter(root, place) if isinstance(root, dict) else place))
            self._register(root, place)

    def _named(self, uri: str) -> tuple[Any, Place] | None:
        """The schema of a URI without a fragment."""
        if uri not in self.named and self.metaschemas and (text := _core._metaschema(uri)) is not None:
            root, place = json.loads(text, parse_float=Decimal, parse_int=Decimal), Place(uri, "", uri)
            self.named[uri] = (root, enter(root, place))
            self._register(root, place)
        return self.named.get(uri)

    def _register(self, schema: Any, place: Place) -> None:
        """The names of a schema and of those inside of it."""
        if isinstance(schema, list):
            for i, item in enumerate(schema):
                self._register(item, place.at(i))
        if not isinstance(schema, dict):
            return
        outer, place = place, enter(schema, place)
        for name in _names(schema, place):
            address, _, fragment = name.partition("#")
            uri = joined(outer.base, address) if address else place.base
            if uri:
                self.named.setdefault(uri, (schema, place))
            if fragment and not fragment.startswith("/"):
                self.named.setdefault(f"{place.base}#{fragment}", (schema, place))
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(anchor := schema.get(keyword), str):
                self.named.setdefault(f"{place.base}#{anchor}", (schema, place))
                if keyword == "$dynamicAnchor":
                    self.dynamic.add(f"{place.base}#{anchor}")
        if schema.get("$recursiveAnchor") is True:
            self.dynamic.add(f"{place.base}#")
        for key, value in schema.items():
            if key in MAPS and isinstance(value, dict):
                for inner, part in value.items():
                    self._register(part, place.at(key, inner))
            elif key not in VALUES:
                self._register(value, place.at(key))

    def find(self, reference: str, place: Place) -> tuple[Any, Place] | None:
        """The schema that ``reference`` names where it stands at ``place``; ``None`` if it is not known here."""
        address, _, fragment = reference.partition("#")
        uri = joined(place.base, address)
        fragment = unquote(fragment)
        found = self._named(uri)
        if found is None or not fragment:
            return found
        if not fragment.startswith("/"):
            return self.named.get(f"{uri}#{fragment}")
        schema, at = found
        for part in fragment[1:].split("/"):
            part = unescaped(part)
            if isinstance(schema, dict) and part in schema:
                schema, at = schema[part], at.at(part)
            elif isinstance(schema, list) and part.isdecimal() and int(part) < len(schema):
                schema, at = schema[int(part)], at.at(part)
            else:
                return None
            if isinstance(schema, dict):
                at = enter(schema, at)
        return schema, at

    def find_dynamic(self, name: str, scope: tuple[Place, ...]) -> tuple[Any, Place] | None:
        """The outermost schema on the way here whose resource has the dynamic anchor ``name`` (empty: recursive)."""
        for place in scope:
            uri = f"{place.base}#{name}"
            if uri in self.dynamic:
                return self.named.get(uri if name else place.base)
        return None


def enter(schema: dict[str, Any], place: Place) -> Place:
    """``place`` with the draft and the base that the schema's own names give."""
    if place.entered == place.pointer:
        return place
    place = replace(place, entered=place.pointer)
    if not place.pointer or isinstance(schema.get("$id"), str):
        place = replace(place, draft=_draft(schema.get("$schema")) or place.draft)
    for name in _names(schema, place):
        # A nested `id` in a schema of no stated draft is a name for references, but it leaves the base alone.
        address = name.partition("#")[0]
        if address and ("$id" in schema or place.draft is not None or not place.pointer):
            return replace(place, base=joined(place.base, address))
    return place


def _names(schema: dict[str, Any], place: Place) -> list[str]:
    """What a schema calls itself, by the draft that it is read by."""
    if place.draft in (4, 6, 7) and "$ref" in schema:  # It hides what stands beside it.
        return []
    keywords = OLD_NAME if place.draft == 4 else NEW_NAME if place.draft is not None else NEW_NAME + OLD_NAME
    return [name for keyword in keywords if isinstance(name := schema.get(keyword), str)][:1]


def _draft(uri: Any) -> int | None:
    found = _DRAFT.fullmatch(uri) if isinstance(uri, str) else None
    # Draft 5 changed no keyword.
    return None if found is None else 8 if found[1] is None else 4 if found[1] == "5" else int(found[1])
