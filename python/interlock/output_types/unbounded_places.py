"""Where a JSON Schema lets a value have any length: which bound is missing, for a message."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from interlock.string_formats import FORMATS
from interlock.util.json_pointer import escaped, unescaped

__all__ = ["long_fraction", "unbounded_place", "unbounded_within"]

_OF_TYPE = {
    "string": ("maxLength", "minLength", "pattern", "format"),
    "array": ("maxItems", "items", "prefixItems"),
    "object": ("properties", "additionalProperties", "maxProperties"),
}
_NESTS = "how deep it nests: make a class for each level"
_OPEN = '"additionalProperties": false, or pass the class itself in the place of its schema'
_KINDS = ("string", "number", "array", "object")
_STRING = re.compile(r'"(?:\\.|[^"\\])*"?', re.DOTALL)
_ESCAPES_AND_CLASSES = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]", re.DOTALL)


def unbounded_place(schema: Any) -> str | None:
    """The first place whose values can be of any length, with the bound that it lacks, in words; ``None`` if there is
    none. A type that holds itself is of any length. A number with bounds on both sides is not.

    >>> unbounded_place({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False})
    '/a (maxLength, in Python max_length)'
    """
    root = schema if isinstance(schema, Mapping) else {}
    return _Search(root).place(schema, "", ())


def unbounded_within(schema: Any, value: Any) -> str | None:
    """The place that took at least half of the text of all members of ``value``, or one inside of it, if its values can
    be of any length; ``None`` where none did. The elements of a list are looked at before the list.

    >>> text = {"type": "string"}
    >>> schema = {"type": "object", "properties": {"a": text, "b": text}, "additionalProperties": False}
    >>> unbounded_within(schema, {"a": "short", "b": "a text that goes on and on"})
    '/b (maxLength, in Python max_length)'
    """
    search = _Search(schema if isinstance(schema, Mapping) else {})
    at = ""
    places: list[tuple[str, Any]] = []
    while isinstance(value, dict | list) and value:
        members = value.items() if isinstance(value, dict) else enumerate(value)
        sizes = {step: len(json.dumps(member)) for step, member in members}
        unknown = [size for step, size in sizes.items() if search.inner(schema, step, ()) is None]
        if _is_open(schema) and 2 * sum(unknown) >= sum(sizes.values()):
            return _said(at, _OPEN)
        step = max(sizes, key=lambda one: sizes[one])
        value, schema = value[step], search.inner(schema, step, ())
        if schema is None or 2 * sizes[step] < sum(sizes.values()):
            break
        at = f"{at}/{escaped(step)}"
        places.append((at, schema))
    found = (search.place(inner, place, ()) for place, inner in reversed(places))
    # Of a type that holds itself, the schema's place is shorter than the value's.
    return next((one for one in found if one is not None and _NESTS not in one), None)


class _Search:
    """One schema, whose references that were found bounded are not followed again."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._bounded: set[str] = set()

    def place(self, schema: Any, at: str, within: tuple[str, ...]) -> str | None:
        """The first unbounded place of ``schema``, which stands at ``at`` inside of the references ``within``."""
        if schema is False:
            return None
        if not isinstance(schema, Mapping):
            return _said(at, "a type with bounds")
        if "enum" in schema or "const" in schema:
            return None
        found: list[str | None] = []
        # Each of these has to hold, so one that is bounded is enough.
        if isinstance(ref := schema.get("$ref"), str):
            found.append(self._referred(ref, at, within))
        if isinstance(parts := schema.get("allOf"), list) and parts:
            merged: dict[str, Any] = {}
            for part in (*(one for one in parts if isinstance(one, Mapping)), schema):
                merged |= {key: value for key, value in part.items() if key != "allOf"}
            return self.place(merged, at, within)
        for keyword in ("anyOf", "oneOf"):
            if isinstance(options := schema.get(keyword), list):
                found.append(next(filter(None, (self.place(one, at, within) for one in options)), None))
        if not found or any(key in schema for keys in _OF_TYPE.values() for key in keys):
            types = schema.get("type", _KINDS)
            named = [types] if isinstance(types, str) else types
            found.append(next(filter(None, (self._of_kind(kind, schema, at, within) for kind in named)), None))
        return None if None in found else found[0]

    def inner(self, schema: Any, step: str | int, within: tuple[str, ...]) -> Any:
        """The schema of a member or an element; ``None`` where it cannot be told."""
        if not isinstance(schema, Mapping):
            return None
        if isinstance(step, int):
            first = schema.get("prefixItems")
            first = first if isinstance(first, list) else []
            found = first[step] if step < len(first) else schema.get("items")
        else:
            properties = schema.get("properties")
            found = properties.get(step) if isinstance(properties, Mapping) else None
            if found is None and not schema.get("patternProperties"):
                found = schema.get("additionalProperties")
        if isinstance(found, Mapping):
            return found
        ref = schema.get("$ref")
        options = [part for key in ("allOf", "anyOf", "oneOf") for part in schema.get(key) or ()]
        if isinstance(ref, str) and ref not in within:
            options.append(self._target(ref))
            within = (*within, ref)
        return next((one for part in options if (one := self.inner(part, step, within)) is not None), None)

    def _target(self, ref: str) -> Any:
        """What a reference inside of the schema leads to."""
        target: Any = self._root if ref == "#" else None
        if ref.startswith("#/"):
            target = self._root
            for step in ref[2:].split("/"):
                target = target.get(unescaped(step)) if isinstance(target, Mapping) else None
        return target

    def _referred(self, ref: str, at: str, within: tuple[str, ...]) -> str | None:
        if ref in self._bounded:
            return None
        if ref in within:
            return _said(at, _NESTS)
        found = self.place(self._target(ref), at, (*within, ref))
        if found is None:
            self._bounded.add(ref)
        return found

    def _of_kind(self, kind: str, schema: Mapping[str, Any], at: str, within: tuple[str, ...]) -> str | None:
        if kind == "string":
            is_short = "maxLength" in schema or _has_short_format(schema) or _is_short(schema.get("pattern"))
            return None if is_short else _said(at, "maxLength, in Python max_length")
        if kind in ("integer", "number"):
            is_closed = _has(schema, "Minimum") and _has(schema, "Maximum")
            return None if is_closed else _said(at, "minimum and maximum, in Python ge and le")
        if kind == "array":
            return self._array(schema, at, within)
        return self._object(schema, at, within) if kind == "object" else None

    def _array(self, schema: Mapping[str, Any], at: str, within: tuple[str, ...]) -> str | None:
        first = schema.get("prefixItems")
        first = first if isinstance(first, list) else []
        rest = schema.get("items", True)
        most = schema.get("maxItems")
        if most is None and rest is not False:
            return _said(at, "maxItems, in Python max_length")
        found = [self.place(one, f"{at}/{i}", within) for i, one in enumerate(first)]
        if rest is not False and (most is None or most > len(first)):
            found.append(self.place(rest, f"{at}/*", within))
        return next(filter(None, found), None)

    def _object(self, schema: Mapping[str, Any], at: str, within: tuple[str, ...]) -> str | None:
        properties = schema.get("properties")
        for name, inner in properties.items() if isinstance(properties, Mapping) else ():
            if (found := self.place(inner, f"{at}/{escaped(name)}", within)) is not None:
                return found
        others = [*(schema.get("patternProperties") or {}).values(), schema.get("additionalProperties", True)]
        others = [one for one in others if one is not False]
        is_closed = schema.get("unevaluatedProperties") is False and "additionalProperties" not in schema
        if not others or is_closed:
            return None
        if "maxProperties" not in schema:
            if _is_open(schema):
                return _said(at, _OPEN)
            return _said(at, "maxProperties, in Python max_length")
        names = {"type": "string", **(schema.get("propertyNames") or {})}
        return self.place(names, f"{at} names", within) or next(
            filter(None, (self.place(one, f"{at}/*", within) for one in others)), None
        )


def _is_open(schema: Any) -> bool:
    """Whether an object may have more properties than those that its schema names, since the schema does not say."""
    closing = ("additionalProperties", "unevaluatedProperties", "maxProperties")
    return isinstance(schema, Mapping) and bool(schema.get("properties")) and not any(key in schema for key in closing)


def long_fraction(text: str) -> str | None:
    """The first number of a JSON text with more than 15 digits behind its point, if there is one.

    >>> long_fraction('{"price": 1.1000000000000000, "note": "0.12345678901234567"}')
    '1.1000000000000000'
    """
    found = re.search(r"-?[0-9]+\.[0-9]{16,}", _STRING.sub('""', text))
    return found and found[0]


def _said(at: str, lacks: str) -> str:
    return f"{at or 'the value itself'} ({lacks})"


def _has(schema: Mapping[str, Any], side: str) -> bool:
    """Whether a number has the bound ``"Minimum"`` or ``"Maximum"``."""
    return side.lower() in schema or f"exclusive{side}" in schema


def _has_short_format(schema: Mapping[str, Any]) -> bool:
    name = schema.get("format")
    return isinstance(name, str) and name in FORMATS and FORMATS[name].is_short


def _is_short(pattern: Any) -> bool:
    """Whether a pattern has both anchors and no repetition without an end."""
    if not isinstance(pattern, str) or not pattern.startswith("^") or not pattern.endswith("$"):
        return False
    return re.search(r"[*+]|\{[0-9]*,\}", _ESCAPES_AND_CLASSES.sub("_", pattern)) is None
