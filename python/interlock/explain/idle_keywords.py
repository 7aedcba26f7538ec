"""Keywords that are written for nothing: those about values of another type than the only one that is allowed, and
names in ``required`` that are slips of names in ``properties``. A schema that has them is valid, and means something
else than its author does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from interlock.explain.subschemas import subschemas
from interlock.schema_hints import ANNOTATIONS
from interlock.schema_hints.types_of_keywords import TYPES_OF_KEYWORDS
from interlock.util.json_pointer import escaped
from interlock.util.near_words import nearest

__all__ = ["IdleKeyword", "idle_keywords", "unused_definitions"]

DEFINITIONS = ("$defs", "definitions")
"""Keywords that hold schemas and assert nothing."""

ALIKE = 0.85
"""From this likeness on (``difflib``), a required name that is not declared is taken for a slip of a declared one."""


@dataclass(frozen=True)
class IdleKeyword:
    """A keyword of the schema at ``pointer``, and why it probably does not do what it is written for."""

    pointer: str
    keyword: str
    reason: str

    def __str__(self) -> str:
        at = f" (at {self.pointer})" if self.pointer else ""
        return f"`{self.keyword}`{at} {self.reason}"

    def moved(self, place: Callable[[str], str]) -> IdleKeyword:
        """The same with another pointer: that of a document that the schema is a part of."""
        return replace(self, pointer=place(self.pointer))


def idle_keywords(schema: Any) -> list[IdleKeyword]:
    """The keywords of a schema that are probably written for nothing, in the order of their places. Definitions that
    are all that a schema has are not among them: see ``unused_definitions``.

    >>> print(*idle_keywords({"type": "string", "maximum": 3}))
    `maximum` asserts nothing: it is about numbers, and the type here is string
    """
    found: list[IdleKeyword] = []
    ways: list[tuple[Any, str]] = [(schema, "")]
    while ways:
        part, pointer = ways.pop()
        if isinstance(part, dict):
            found += _of_another_type(part, pointer)
            found += _undeclared(part, pointer)
            ways += reversed([(inner, place) for _, inner, place in subschemas(part, pointer)])
    return found


def unused_definitions(schema: Any) -> list[str]:
    """The JSON Pointers of the definitions of a schema that has nothing else but annotations, and so accepts every
    value; empty for other schemas.

    >>> unused_definitions({"title": "all", "$defs": {"item": {"type": "string"}}})
    ['/$defs/item']
    >>> unused_definitions({"$ref": "#/$defs/item", "$defs": {"item": {"type": "string"}}})
    []
    """
    if not isinstance(schema, dict) or not schema.keys() <= {*ANNOTATIONS, *DEFINITIONS}:
        return []
    held = [(keyword, schema[keyword]) for keyword in DEFINITIONS if isinstance(schema.get(keyword), dict)]
    return [f"/{keyword}/{escaped(name)}" for keyword, there in held for name in there]


def _of_another_type(part: dict[str, Any], pointer: str) -> Iterator[IdleKeyword]:
    types = part.get("type")
    named = [types] if isinstance(types, str) else types if isinstance(types, list) else []
    for keyword in part if named else ():
        about = TYPES_OF_KEYWORDS.get(keyword)
        if about and not {*about} & {str(name) for name in named}:
            here = (
                f"the type here is {named[0]}"
                if len(named) == 1
                else f"the types here are {', '.join(map(str, named))}"
            )
            yield IdleKeyword(pointer, keyword, f"asserts nothing: it is about {about[0]}s, and {here}")


def _undeclared(part: dict[str, Any], pointer: str) -> Iterator[IdleKeyword]:
    declared, required = part.get("properties"), part.get("required")
    if not isinstance(declared, dict) or not isinstance(required, list) or part.get("patternProperties"):
        return
    free = [name for name in declared if name not in required]
    for name in required:
        if isinstance(name, str) and name not in declared and (meant := nearest(name, free, ALIKE)):
            reason = f"asks for `{name}`, which properties does not declare; did you mean {meant}?"
            yield IdleKeyword(pointer, "required", reason)
