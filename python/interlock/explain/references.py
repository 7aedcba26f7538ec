"""Where the references of a schema lead: pointers, anchors, ``$id`` and documents that were passed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from interlock.schema_hints.schema_keywords import VALUES
from interlock.util.json_pointer import escaped, unescaped


@dataclass(frozen=True)
class Place:
    """A schema's place: the document that it stands in (empty for the schema itself), its JSON Pointer there, and the
    URI that references in it start from."""

    document: str
    pointer: str
    base: str

    def at(self, *parts: str | int) -> Place:
        """A place below this one."""
        return Place(self.document, self.pointer + "".join("/" + escaped(str(p)) for p in parts), self.base)

    def __str__(self) -> str:
        return f"{self.document}#{self.pointer}" if self.document else self.pointer


class References:
    """All schemas that a reference may name."""

    def __init__(self, schema: Any, documents: Mapping[str, Any]) -> None:
        self.roots: dict[str, Any] = {"": schema, **documents}
        self.named: dict[str, tuple[Any, Place]] = {}
        self.dynamic: set[str] = set()
        for uri, root in self.roots.items():
            plain = urldefrag(uri)[0]
            place = Place(uri, "", plain)
            self.named.setdefault(plain, (root, enter(root, place) if isinstance(root, dict) else place))
            self._register(root, place)

    def _register(self, schema: Any, place: Place) -> None:
        if isinstance(schema, list):
            for i, item in enumerate(schema):
                self._register(item, place.at(i))
        if not isinstance(schema, dict):
            return
        place = enter(schema, place)
        if place.base:
            self.named.setdefault(place.base, (schema, place))
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(name := schema.get(keyword), str):
                self.named.setdefault(f"{place.base}#{name}", (schema, place))
                if keyword == "$dynamicAnchor":
                    self.dynamic.add(f"{place.base}#{name}")
        for keyword in ("$id", "id"):
            name = schema.get(keyword)
            if isinstance(name, str) and name.startswith("#") and len(name) > 1:
                self.named.setdefault(place.base + name, (schema, place))
        if schema.get("$recursiveAnchor") is True:
            self.dynamic.add(f"{place.base}#")
        for key, value in schema.items():
            if key not in VALUES:
                self._register(value, place.at(key))

    def find(self, reference: str, place: Place) -> tuple[Any, Place] | None:
        """The schema that ``reference`` names where it stands at ``place``; ``None`` if it is not known here."""
        uri, _, fragment = absolute(place.base, reference).partition("#")
        fragment = unquote(fragment)
        found = self.named.get(uri)
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
    """``place`` with the base that the schema's own name gives."""
    name = schema.get("$id", schema.get("id"))
    if not isinstance(name, str) or name.startswith("#") or "$ref" in schema and "$id" not in schema:
        return place
    return Place(place.document, place.pointer, urldefrag(absolute(place.base, name))[0])


def absolute(base: str, reference: str) -> str:
    """``reference`` as it is meant below ``base``."""
    if reference.startswith("#"):
        return base + reference
    return urljoin(base, reference) if base else reference
