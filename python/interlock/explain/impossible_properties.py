"""Properties that no object has because nothing satisfies their schema.

A required property of that kind makes its object impossible, and compiling says so. An optional one is left out of
every output in silence. Each is found with the engine, which compiles the property's schema alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

import interlock
from interlock import schema_hints
from interlock.explain.contradicting_keywords import Keyword, contradiction, without_slashes
from interlock.explain.subschemas import HOLDERS, subschemas
from interlock.util.json_pointer import unescaped

__all__ = ["ImpossibleProperty", "impossible_properties"]

MOST_CHARACTERS = 1 << 20
"""Characters of schemas that are compiled for this. The properties that come after them are not looked at."""
WHOLE = "urn:interlock:schema"
#: What these describe is not what comes out.
_NOT_ASSERTING = ("if", "not", "propertyNames")


@dataclass(frozen=True)
class ImpossibleProperty:
    """A property whose schema, at ``pointer``, accepts nothing. ``keywords`` contradict each other, as far as known."""

    pointer: str
    keywords: tuple[Keyword, ...]

    def __str__(self) -> str:
        name = unescaped(self.pointer.rpartition("/")[2])
        said = [str(word) + (f" (at {word.pointer})" if word.pointer != self.pointer else "") for word in self.keywords]
        why = ""
        if len(said) > 1:
            why = f": {', '.join(said[:-1])} and {said[-1]} contradict each other"
        elif said:
            why = f": because of {said[0]}"
        way = _way_without_slashes(self.keywords)
        return f"no value satisfies the schema of `{name}` (at {self.pointer}), so it is always left out{why}{way}"

    def moved(self, place: Callable[[str], str]) -> ImpossibleProperty:
        """The same with other pointers: those of a document that the schema is a part of."""
        words = tuple(replace(word, pointer=place(word.pointer)) for word in self.keywords)
        return ImpossibleProperty(place(self.pointer), words)


def _way_without_slashes(keywords: tuple[Keyword, ...]) -> str:
    ways = [without_slashes(word.value) for word in keywords if word.keyword == "pattern"]
    return "".join(f"; {way}" for way in ways if way)


def impossible_properties(schema: Any, options: Mapping[str, Any]) -> list[ImpossibleProperty]:
    """The properties of a schema that compiles for which no value is valid, those that are written as ``false`` or
    ``{"not": {}}`` aside. ``options`` are those of the compile; ``documents``, ``formats`` and ``limits`` matter here.
    """
    chosen = {name: options[name] for name in ("formats", "limits") if options.get(name) is not None}
    documents = dict(options.get("documents") or {})
    left = MOST_CHARACTERS
    try:
        places, size = list(_asserting(schema, "")), len(json.dumps(schema, default=str))
    except RecursionError:
        return []

    def accepts_nothing(whole: Any, pointer: str) -> bool:
        nonlocal left
        left -= size
        if left < 0:
            return False
        asked = {"$ref": f"{WHOLE}#{quote(pointer)}"}
        if isinstance(schema.get("$schema"), str):
            asked["$schema"] = schema["$schema"]
        try:
            # What has no exact form is left out, so that more is accepted: nothing is called impossible that is not.
            interlock.check_json_schema(asked, documents=documents | {WHOLE: whole}, on_unsupported="warn", **chosen)
        except interlock.UnsatisfiableError:
            return True
        except interlock.InterlockError:
            pass
        return False

    found: list[ImpossibleProperty] = []
    with schema_hints.quiet():
        # The inner ones first: what needs a property that is impossible is so for no reason of its own.
        for pointer in reversed(places):
            if any(known.pointer.startswith(pointer + "/") for known in found) or not accepts_nothing(schema, pointer):
                continue
            words = contradiction(schema, pointer, lambda whole, at=pointer: accepts_nothing(whole, at))  # type: ignore[misc]
            kinds = [word for word in words if word.keyword == "type" and word.pointer == pointer]
            others = [word for word in words if word not in kinds]
            found.append(ImpossibleProperty(pointer, tuple(others if len(others) > 1 else words)))
    return found[::-1]


def _asserting(schema: Any, pointer: str) -> Iterator[str]:
    """The places of properties with a schema that may contradict itself: it has two keywords that assert something, or
    one that can do so alone.
    """
    if not isinstance(schema, dict):
        return
    inner = [one for one in subschemas(schema, pointer) if one[0] not in _NOT_ASSERTING]
    for keyword, part, place in sorted(inner, key=lambda one: HOLDERS.index(one[0])):
        if keyword == "properties" and isinstance(part, dict):
            says = set(part) & schema_hints.KEYWORDS - schema_hints.ANNOTATIONS - {"$defs", "definitions"}
            if len(says) > 1 or says & {"allOf", "$ref"} or part.get("enum") == []:
                yield place
        yield from _asserting(part, place)
