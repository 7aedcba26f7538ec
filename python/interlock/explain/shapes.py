"""Which schemas apply to a value, to a member of it or an element, as far as one can say without the value.

For drawing and for examples: alternatives are all taken together, so a shape says what may be there. An example that
is to be of one alternative lets chance choose it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from interlock.explain.references import Place, References, enter

INPLACE = ("allOf", "anyOf", "oneOf")
MOST = 200
"""Schemas of one value that are looked at."""


@dataclass(frozen=True)
class Shape:
    """A schema and its place."""

    schema: dict[str, Any]
    place: Place


def _weight(part: Any) -> int:
    """How often an alternative is drawn: null is mostly what stands for a value that is missing."""
    return 1 if isinstance(part, dict) and part.get("type") == "null" else 4


class Shapes:
    """The schemas that a schema applies: those of all alternatives; with a ``chance``, those of one that it draws."""

    def __init__(self, references: References, chance: random.Random | None = None) -> None:
        self.references = references
        self.chance = chance

    def root(self, schema: Any) -> list[Shape]:
        """The schemas of the whole document."""
        return self.of([(schema, Place())])

    def of(self, begin: list[tuple[Any, Place]]) -> list[Shape]:
        """These schemas and those that they apply to the same value."""
        out: list[Shape] = []
        seen: set[int] = set()
        stack = list(reversed(begin))
        while stack and len(out) < MOST:
            schema, place = stack.pop()
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            seen.add(id(schema))
            place = enter(schema, place)
            out.append(Shape(schema, place))
            stack.extend(reversed(list(self._inplace(schema, place))))
        return out

    def _inplace(self, schema: dict[str, Any], place: Place) -> Iterator[tuple[Any, Place]]:
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            name = schema.get(keyword)
            if isinstance(name, str) and (found := self.references.find(name, place)):
                yield found
        for keyword in INPLACE:
            parts = schema.get(keyword)
            parts = list(enumerate(parts if isinstance(parts, list) else ()))
            if self.chance and parts and keyword != "allOf":
                parts = self.chance.choices(parts, [_weight(part) for _, part in parts])
            for i, part in parts:
                yield part, place.at(keyword, i)
        for keyword in self._taken(("if", "then"), ("else",)) if "if" in schema else ():
            if keyword in schema:
                yield schema[keyword], place.at(keyword)
        dependents = schema.get("dependentSchemas")
        for key, part in dependents.items() if isinstance(dependents, dict) else ():
            if self._taken((key,), ()):
                yield part, place.at("dependentSchemas", key)

    def _taken(self, one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
        """One of the two, or both where nothing is left to chance."""
        return self.chance.choice((one, other)) if self.chance else one + other

    def names(self, shapes: list[Shape]) -> list[str]:
        """The keys that these schemas name, in the order in which they are declared."""
        names: dict[str, None] = {}
        for shape in shapes:
            properties = shape.schema.get("properties")
            names.update(dict.fromkeys(properties if isinstance(properties, dict) else ()))
        for name in self.required(shapes):
            names.setdefault(name)
        return list(names)

    def required(self, shapes: list[Shape]) -> list[str]:
        """The keys that some of these schemas require."""
        found: dict[str, None] = {}
        for shape in shapes:
            required = shape.schema.get("required")
            found.update(
                dict.fromkeys(n for n in (required if isinstance(required, list) else ()) if isinstance(n, str))
            )
        return list(found)

    def member(self, shapes: list[Shape], key: str) -> list[Shape]:
        """The schemas of a member."""
        begin = []
        for shape in shapes:
            properties = shape.schema.get("properties")
            if isinstance(properties, dict) and key in properties:
                begin.append((properties[key], shape.place.at("properties", key)))
            else:
                patterns = shape.schema.get("patternProperties")
                for pattern, part in patterns.items() if isinstance(patterns, dict) else ():
                    begin.append((part, shape.place.at("patternProperties", pattern)))
                if "additionalProperties" in shape.schema:
                    begin.append((shape.schema["additionalProperties"], shape.place.at("additionalProperties")))
        return self.of(begin)

    def element(self, shapes: list[Shape], i: int) -> list[Shape]:
        """The schemas of an element."""
        begin = []
        for shape in shapes:
            schema, place = shape.schema, shape.place
            for keyword in ("prefixItems", "items"):
                prefix = schema.get(keyword)
                if isinstance(prefix, list):
                    if i < len(prefix):
                        begin.append((prefix[i], place.at(keyword, i)))
                    elif "additionalItems" in schema:
                        begin.append((schema["additionalItems"], place.at("additionalItems")))
                elif isinstance(prefix, dict) and not i < len(schema.get("prefixItems", [])):
                    begin.append((prefix, place.at(keyword)))
            if "contains" in schema:
                begin.append((schema["contains"], place.at("contains")))
        return self.of(begin)
