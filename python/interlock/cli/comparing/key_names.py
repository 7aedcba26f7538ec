"""Keys to try in objects: those that two schemas name, keys that match their patterns, and sets of keys that belong
together.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

import interlock
from interlock.cli.comparing.objects_in_documents import objects_in

__all__ = ["key_sets", "matching", "named"]

MOST_PATTERNS = 12
"""Patterns of keys for which keys are made."""
LIMITS = {"max_flat_states": 20_000}
"""For the shortest key that matches a pattern."""


def named(document: Any) -> Iterator[str]:
    """The names of properties in a schema, in the order in which they are declared, and those that it names besides."""
    for part in objects_in(document):
        if isinstance(part.get("properties"), dict):
            yield from part["properties"]
        if isinstance(part.get("required"), list):
            yield from (name for name in part["required"] if isinstance(name, str))
    for part in objects_in(document):
        for key in ("dependentRequired", "dependentSchemas", "dependencies"):
            if isinstance(needs := part.get(key), dict):
                yield from needs
                yield from (n for need in needs.values() if isinstance(need, list) for n in need if isinstance(n, str))
        if isinstance(names := part.get("propertyNames"), dict):
            constants = [*(names["enum"] if isinstance(names.get("enum"), list) else ()), names.get("const")]
            yield from (name for name in constants if isinstance(name, str))


def key_sets(document: Any) -> Iterator[list[str]]:
    """Keys that a keyword names together, and the same without one of them."""
    for part in objects_in(document):
        groups: list[Any] = [part.get("required")]
        if isinstance(needs := part.get("dependentRequired"), dict):
            groups += ([key, *need] for key, need in needs.items() if isinstance(need, list))
        if isinstance(needs := part.get("dependentSchemas"), dict):
            inner = (
                (key, need["required"]) for key, need in needs.items() if isinstance(need, dict) and "required" in need
            )
            groups += ([key, *names] for key, names in inner if isinstance(names, list))
        for group in groups:
            if isinstance(group, list) and group and all(isinstance(name, str) for name in group):
                yield group
                yield from ([*group[:at], *group[at + 1 :]] for at in range(len(group)) if len(group) > 1)


def matching(documents: Iterable[Any], vocabulary: interlock.Vocabulary) -> Iterator[str]:
    """A shortest key for each pattern of keys, and for each ``propertyNames`` with bounds; and longer ones."""
    schemas: dict[str, None] = {}
    for document in documents:
        for part in objects_in(document):
            if isinstance(patterns := part.get("patternProperties"), dict):
                schemas |= dict.fromkeys(json.dumps({"type": "string", "pattern": pattern}) for pattern in patterns)
            if isinstance(names := part.get("propertyNames"), dict) and not {"$ref", "enum", "const"} & names.keys():
                schemas[json.dumps({"type": "string"} | names)] = None
                for bound in ("minLength", "maxLength"):
                    if isinstance(length := names.get(bound), int) and 0 < length < 400:
                        yield from ("k" * (length + step) for step in (-1, 0, 1))
    for schema in list(schemas)[:MOST_PATTERNS]:
        with contextlib.suppress(interlock.InterlockError, ValueError):
            index = interlock.Index.from_json_schema(schema, vocabulary, limits=LIMITS, spelling="plain")
            if (shortest := index.shortest_member()) is not None:
                yield json.loads(shortest)
