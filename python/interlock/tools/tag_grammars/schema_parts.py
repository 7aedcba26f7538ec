"""Schemas taken apart for the encodings that are no JSON: objects by property, values by type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from re import escape
from typing import Any

from interlock._core import UnsupportedError
from interlock.tools.notations.schema_types import resolved

__all__ = [
    "KINDS", "ObjectPart", "combined", "constants_of", "document", "excluding", "kinds_of", "object_parts",
    "refuse", "refuse_unwritable", "says_anything",
]  # fmt: skip

#: The types of JSON values.
KINDS = ("string", "integer", "number", "boolean", "null", "object", "array")

_NOTES = {
    "title", "description", "$schema", "$id", "$comment", "$defs", "definitions", "default", "examples", "example",
    "deprecated", "readOnly", "writeOnly", "strict", "x-guidance", "nullable", "optional", "$anchor", "id",
}  # fmt: skip
_OBJECT = {"type", "properties", "required", "additionalProperties"}
_VALUE = {
    *_OBJECT, "enum", "const", "anyOf", "items", "minItems", "maxItems", "minLength", "maxLength", "pattern", "format",
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
}  # fmt: skip
_DEPTH = 40


def refuse(reason: str, pointer: str) -> UnsupportedError:
    """The error for what cannot be enforced exactly."""
    return UnsupportedError(f"at {pointer}: {reason}")


@dataclass(frozen=True)
class ObjectPart:
    """One way in which an object may look."""

    properties: Mapping[str, Any]
    required: frozenset[str]
    additional: Any
    declares: bool = False
    """Whether the schema says which properties there are."""


def combined(schema: Any, root: Any, pointer: str, depth: int = 0) -> Iterator[tuple[Any, str]]:
    """A schema as alternatives without ``$ref``, ``allOf``, ``anyOf`` and ``oneOf``, each with its place."""
    if depth > _DEPTH:
        raise refuse("references go round in a circle", pointer)
    if not isinstance(schema, Mapping):
        yield schema, pointer
        return
    for word in ("$ref", "allOf", "anyOf", "oneOf"):
        if word not in schema:
            continue
        rest = {key: value for key, value in schema.items() if key != word}
        parts = [resolved(schema[word], root)] if word == "$ref" else schema[word]
        if word == "oneOf":
            kinds = [kinds_of(part, root) for part in parts]
            for index, own in enumerate(kinds):
                if any(_meet(own, other) for other in kinds[:index]) and not _constants_differ(parts):
                    raise refuse(
                        "oneOf of values that may be of the same type cannot be enforced here", f"{pointer}/{word}"
                    )
        if word == "allOf":
            merged: Any = rest
            for index, part in enumerate(parts):
                merged = _merged(merged, part, f"{pointer}/allOf/{index}")
            yield from combined(merged, root, pointer, depth + 1)
            return
        for index, part in enumerate(parts):
            place = pointer if word == "$ref" else f"{pointer}/{word}/{index}"
            yield from combined(_merged(part, rest, place), root, place, depth + 1)
        return
    yield schema, pointer


def _constants_differ(parts: Any) -> bool:
    values = [part["const"] if "const" in part else None for part in parts if isinstance(part, Mapping)]
    texts = {repr(value) for value in values}
    return len(values) == len(parts) == len(texts) and all("const" in part for part in parts)


def _meet(one: set[str], other: set[str]) -> bool:
    return bool(one & other) or ("number" in one and "integer" in other) or ("integer" in one and "number" in other)


def _merged(one: Any, other: Any, pointer: str) -> Any:
    """Both schemas at once."""
    if one is False or other is False:
        return False
    if not isinstance(one, Mapping):
        return other
    if not isinstance(other, Mapping):
        return one
    found = dict(one)
    for key, value in other.items():
        if key not in found or found[key] == value or key in _NOTES:
            found.setdefault(key, value)
        elif key == "required":
            found[key] = list(dict.fromkeys([*found[key], *value]))
        elif key == "properties":
            found[key] = {name: _both(found[key].get(name), value.get(name)) for name in [*found[key], *value]}
        elif key == "type":
            both = [kind for kind in _listed(found[key]) if kind in _listed(value)]
            found[key] = both
            if not both:
                return False
        elif key == "allOf":
            found[key] = [*found[key], *value]
        else:
            raise refuse(f"two values of {key} at once cannot be enforced here", f"{pointer}/{key}")
    if {"additionalProperties"} & (set(one) | set(other)) and one.get("properties") != other.get("properties"):
        for this, that in ((one, other), (other, one)):
            if this.get("additionalProperties", True) is not True and set(that.get("properties", {})) - set(
                this.get("properties", {})
            ):
                raise refuse(
                    "additionalProperties beside properties of another part", f"{pointer}/additionalProperties"
                )
    return found


def _both(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return other if one is None else one
    return one if one == other else {"allOf": [one, other]}


def _listed(kind: Any) -> list[Any]:
    return list(kind) if isinstance(kind, list | tuple) else [kind]


def kinds_of(schema: Any, root: Any, depth: int = 0) -> set[str]:
    """The types of the values of a schema, ``integer`` beside every ``number``."""
    from interlock.tools.notations.schema_types import declared_types

    found = declared_types(schema, root)
    kinds = set(KINDS) if found is None else set(found)
    return kinds | {"integer"} if "number" in kinds else kinds


def object_parts(schema: Any, root: Any, pointer: str) -> list[ObjectPart]:
    """The ways in which an object of ``schema`` may look. ``UnsupportedError`` for keywords that are not one property
    each."""
    found = []
    for part, place in combined(schema, root, pointer):
        if part is False or (isinstance(part, Mapping) and "object" not in kinds_of(part, root)):
            continue
        part = part if isinstance(part, Mapping) else {}
        odd = next((key for key in part if key not in _OBJECT | _NOTES and key in _CONSTRAINTS), None)
        if odd is not None:
            raise refuse(f"{odd} of an object that is no JSON cannot be enforced", f"{place}/{odd}")
        properties = part.get("properties", {})
        found.append(
            ObjectPart(
                properties if isinstance(properties, Mapping) else {},
                frozenset(part.get("required", ())),
                part.get("additionalProperties", True),
                "properties" in part,
            )
        )
    return found


#: Keywords that say something about objects and are not taken apart here.
_CONSTRAINTS = {
    "minProperties", "maxProperties", "propertyNames", "patternProperties", "dependentRequired", "dependentSchemas",
    "dependencies", "unevaluatedProperties", "not", "if", "then", "else", "enum", "const", "$dynamicRef",
    "$recursiveRef",
}  # fmt: skip


def document(schema: Any, root: Any) -> Any:
    """A schema that stands for itself: with the definitions of ``root`` that its references name."""
    if schema is root or not isinstance(schema, Mapping) or not isinstance(root, Mapping):
        return schema
    own = {key: root[key] for key in ("$defs", "definitions", "$schema") if key in root and key not in schema}
    return {**own, **schema}


def excluding(schema: Any, texts: Any) -> Any:
    """``schema`` for values in which none of ``texts`` stands in a string or a key."""
    if not texts:
        return schema
    pattern = "|".join(escape(text).replace("\\ ", " ").replace("\\-", "-") for text in texts)
    pattern = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in pattern)
    name = "text-without"
    free = {
        "not": {"type": "string", "pattern": pattern},
        "propertyNames": {"not": {"pattern": pattern}},
        "additionalProperties": {"$ref": f"#/$defs/{name}"},
        "items": {"$ref": f"#/$defs/{name}"},
    }
    if not isinstance(schema, Mapping):
        return {"$ref": f"#/$defs/{name}", "$defs": {name: free}} if schema is not False else False
    kept = {key: schema[key] for key in ("$schema", "definitions") if key in schema}
    inner = {key: value for key, value in schema.items() if key not in ("$schema", "$defs", "definitions")}
    return {
        **kept,
        "allOf": [inner, {"$ref": f"#/$defs/{name}"}],
        "$defs": {**schema.get("$defs", {}), name: free},
    }


def constants_of(schema: Mapping[str, Any]) -> list[Any] | None:
    """The values of ``const`` or ``enum``; ``None`` without them."""
    if "const" in schema:
        return [schema["const"]]
    return list(schema["enum"]) if isinstance(schema.get("enum"), list) else None


def says_anything(schema: Any) -> bool:
    """Whether a schema constrains a value at all."""
    notes = {"title", "description", "default", "examples", "$comment", "deprecated", "x-guidance"}
    return isinstance(schema, Mapping) and bool(set(schema) - notes)


def refuse_unwritable(schema: Mapping[str, Any], place: str) -> None:
    """``UnsupportedError`` for a keyword that cannot be enforced of a value that is not written as JSON."""
    for word in ("not", "if", "prefixItems", "uniqueItems", "contains", "unevaluatedItems"):
        if schema.get(word, False) is not False:
            raise refuse(f"{word} of a value that is no JSON cannot be enforced", f"{place}/{word}")
