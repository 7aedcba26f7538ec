"""Which keys an object has if it has others, by ``required`` and the keywords that depend on a key; and which keys a
part of a schema names at all, since the order of keys is made from those.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from interlock.cli.comparing.schema_parts import SCALARS, SILENT, NotKnown, dependents
from interlock.schema_hints import KEYWORDS

__all__ = ["few_names", "is_without_keys", "named_in_place", "order_follows", "present"]

BELOW = ("patternProperties", "propertyNames", "additionalProperties", "unevaluatedProperties")
"""Keywords that, where they are denied, may name a key that no other keyword names."""


def present(part: dict[str, Any], keys: Iterable[str]) -> set[str]:
    """The keys that an object has which satisfies a part and has some keys.

    >>> sorted(present({"required": ["k"], "dependentRequired": {"a": ["b"], "b": ["c"]}}, ["a"]))
    ['a', 'b', 'c', 'k']
    """
    found = {*keys, *part.get("required", ())}
    rules = [(key, needs) for key, all_needs in dependents(part).items() for needs in all_needs]
    grown = -1
    while grown != len(found):
        grown = len(found)
        for key, needs in rules:
            if key in found and not isinstance(needs, bool):
                found |= set(needs if isinstance(needs, list) else needs.get("required", ()))
    return found


_DECLARING = frozenset({"type", "properties", "required", "additionalProperties"})
"""Keywords of objects whose keys have their places by ``properties`` and ``required`` alone."""


def order_follows(a: dict[str, Any], b: dict[str, Any], says: Iterable[str]) -> bool:
    """Whether the keys of an object that satisfies ``a`` come as ``b`` has them; ``says`` are the keywords of both, and
    no other part is about the same object. Declared keys come first, then those that are required and not declared,
    both as they are listed, and others last. Not if that is not known.

    >>> one, two = {"properties": {"a": {}}}, {"properties": {"a": {}, "b": {}}, "required": ["b"]}
    >>> order_follows(two, one, [*one, *two]), order_follows(one, two, [*one, *two])
    (True, False)
    """
    if not _DECLARING.issuperset(says):
        return False
    ours, theirs = (
        [*part.get("properties", ()), *(k for k in part.get("required", ()) if k not in part.get("properties", ()))]
        for part in (a, b)
    )
    if a.get("additionalProperties") is False:  # Others do not come.
        theirs = [key for key in theirs if key in ours]
    return theirs == ours[: len(theirs)]


def named_in_place(part: Any, denied: bool = False) -> set[str]:
    """The keys of an object that a part names, and what stands in it about the same object does; those of its own
    ``properties`` aside. ``NotKnown`` where that depends on more than names.
    """
    if not isinstance(part, dict):
        return set()
    if "$ref" in part or denied and any(key in part for key in BELOW):
        raise NotKnown
    found = set(part.get("required", ()))
    for key, needs in dependents(part).items():
        found.add(key)
        for one in needs:
            found |= set(one) if isinstance(one, list) else _inner(one, denied)
    names = part.get("propertyNames")
    if isinstance(names, dict):
        found |= {name for name in [*names.get("enum", ()), names.get("const")] if isinstance(name, str)}
    for key in ("allOf", "anyOf", "oneOf"):
        for inner in part.get(key, ()):
            found |= _inner(inner, denied or key == "oneOf")
    for key in ("if", "then", "else", "not"):
        if key in part and key not in SILENT:
            found |= _inner(part[key], denied or key in ("if", "not"))
    return found


def _inner(part: Any, denied: bool) -> set[str]:
    declared = set(part.get("properties", ())) if isinstance(part, dict) else set()
    return declared | named_in_place(part, denied)


def few_names(part: dict[str, Any]) -> list[str] | None:
    """All names that the keys of an object may have, where ``propertyNames`` lists them; else ``None``."""
    names = part.get("propertyNames")
    if not isinstance(names, dict) or not {"enum", "const"} & names.keys():
        return None
    return [name for name in (names["enum"] if "enum" in names else [names["const"]]) if isinstance(name, str)]


def is_without_keys(part: Any) -> bool:
    """Whether a part says nothing of the keys of objects, so that it is without meaning for their order."""
    if not isinstance(part, dict):
        return isinstance(part, bool)
    asserting = {key for key in part if key in KEYWORDS and key not in SILENT}
    combining = asserting & {"anyOf", "oneOf", "allOf"}
    return asserting - combining <= SCALARS and all(is_without_keys(x) for key in combining for x in part[key])
