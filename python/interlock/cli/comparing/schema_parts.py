"""What stands where in a part of a schema: its types, constants, elements, references; and the groups of keywords."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from interlock.cli.comparing.objects_in_documents import objects_in
from interlock.schema_hints import ANNOTATIONS
from interlock.util.json_pointer import unescaped, value_at

SCALARS = frozenset(
    "type enum const format pattern minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"
    .split()
)  # fmt: skip
"""Keywords about values without parts, whose meaning the engine is asked for."""
ANYTHING: dict[str, Any] = {}
NOTHING: dict[str, Any] = {"not": {}}
LEAST = ("minLength", "minItems", "minProperties")
MOST = ("maxLength", "maxItems", "maxProperties")
OBJECTS = ("properties", "patternProperties", "additionalProperties")
ARRAYS = ("prefixItems", "items", "additionalItems")
TOGETHER = ("if", "then", "else", "contains", "minContains", "maxContains")
"""Keywords that say something only with others of these."""
SILENT = ANNOTATIONS | {"$defs", "definitions", "$anchor"}
"""What asserts nothing where it stands. References to anchors are not followed."""
IN_PLACE = ("allOf", "anyOf", "oneOf", "$ref", "if", "dependentSchemas", "dependencies", "not")
TYPES = frozenset({"null", "boolean", "string", "number", "array", "object"})
OLD_DRAFTS = ("draft-04", "draft-06", "draft-07")
"""Where nothing beside ``$ref`` counts."""


class NotKnown(Exception):
    """A part that the comparison cannot follow."""


def parse(text: str | bytes) -> Any:
    """A schema with its numbers as they are written."""
    return json.loads(text, parse_float=Decimal)


def elements_of(part: dict[str, Any]) -> tuple[list[Any], Any]:
    """The schemas of the first elements, and the schema of all others."""
    items = part.get("items", True)
    if isinstance(items, list):
        return items, part.get("additionalItems", True)
    return part.get("prefixItems", []), items


def types_of(part: dict[str, Any]) -> set[str]:
    """The types that a schema names, or all of them where it names none."""
    named = part.get("type", list(TYPES))
    return set(named) if isinstance(named, list) else {named}


def constants_of(part: dict[str, Any]) -> list[Any]:
    """The values that ``enum`` and ``const`` list."""
    return [*part.get("enum", []), *([part["const"]] if "const" in part else [])]


def are_apart(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether no value can belong to both schemas, as far as types and constant members tell."""
    ours, theirs = ({"number" if t == "integer" else t for t in types_of(part)} for part in (a, b))
    if "type" in a and "type" in b and not ours & theirs:
        return True
    if ours != {"object"} or theirs != {"object"}:
        return False
    for name in {*a.get("required", ())} & {*b.get("required", ())}:
        kinds = [part.get("properties", {}).get(name) for part in (a, b)]
        texts = [{text_of_json(value) for value in constants_of(kind)} for kind in kinds if isinstance(kind, dict)]
        strings = all(isinstance(v, str) for kind in kinds if isinstance(kind, dict) for v in constants_of(kind))
        if len(texts) == 2 and all(texts) and strings and not texts[0] & texts[1]:
            return True
    return False


def draft_of(root: Any) -> Any:
    """What ``$schema`` of a document says; ``None`` where it says nothing."""
    return root.get("$schema") if isinstance(root, dict) else None


def target_of(root: Any, reference: Any) -> Any:
    """What a reference into the same document leads to. ``NotKnown`` for other references."""
    if not isinstance(reference, str) or reference[:2] not in ("#", "#/") or "%" in reference:
        raise NotKnown
    steps = reference[2:].split("/") if reference != "#" else []
    found = value_at(root, map(unescaped, steps), NotKnown)
    if found is NotKnown:
        raise NotKnown
    return found


def references_in(value: Any) -> list[str]:
    """All ``$ref`` inside a schema. ``NotKnown`` where one depends on who refers to it."""
    found = []
    for part in objects_in(value):
        if {"$dynamicRef", "$recursiveRef"} & part.keys():
            raise NotKnown
        if "$ref" in part:
            found.append(part["$ref"])
    return found


def has_ids_inside(root: Any) -> bool:
    """Whether a part inside has an identifier of its own, from which its references would count."""
    key = "id" if "draft-04" in str(draft_of(root)) else "$id"
    return any(isinstance(part.get(key), str) for part in objects_in(root) if part is not root)


def text_of_json(value: Any) -> str:
    """JSON, with the numbers as they stand in the schema."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {text_of_json(part)}" for key, part in value.items()) + "}"
    return "[" + ", ".join(map(text_of_json, value)) + "]" if isinstance(value, list) else json.dumps(value)


def dependents(part: dict[str, Any]) -> dict[str, list[Any]]:
    """What an object needs that has a key: lists of keys, and schemas, by the key."""
    found: dict[str, list[Any]] = {}
    for keyword in ("dependentRequired", "dependentSchemas"):
        for key, needs in part.get(keyword, {}).items():
            found.setdefault(key, []).append(needs)
    return found


def is_new(draft: Any) -> bool:
    """Whether a draft has all keywords that are compared by what follows from them."""
    return draft is None or any(name in str(draft) for name in ("json-schema.org/draft/2019-09", "2020-12"))
