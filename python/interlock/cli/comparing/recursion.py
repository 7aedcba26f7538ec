"""Whether a source recurses: then it has infinitely many states, and no limit is high enough to count or compare it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from interlock.explain.references import Place, References, enter
from interlock.explain.subschemas import subschemas

if TYPE_CHECKING:
    from interlock.cli.sources.source_arguments import Source

NOT_APPLIED = ("$defs", "definitions")
"""Keywords that hold schemas which count only where something refers to them."""
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def recurses(source: Source) -> bool:
    """Whether a schema reaches itself through its references. False for other sources, and where that is not known."""
    if source.kind != "json_schema":
        return False
    try:
        documents = {uri: json.loads(text) for uri, text in source.options.get("documents", {}).items()}
        return _reaches_itself(source.document, References(source.document, documents))
    except (ValueError, RecursionError):
        return False


def recursive_rule(source: Source) -> str | None:
    """A rule of a grammar that leads back to itself; ``None`` where there is none, and for other sources."""
    if source.kind != "grammar" or source.compiled is not None:
        return None
    from interlock.drawing.grammar_outline import outline  # The reader of drawings, for grammars alone.

    rules = outline(source.text, source.options["syntax"]).definitions
    names = {name: {other for part in rule.names for other in part} for name, rule in rules.items()}
    for name in names:
        reached, waiting = set[str](), [name]
        while waiting:
            new = names.get(waiting.pop(), set()) - reached
            reached |= new
            waiting += new
        if name in reached:
            return name
    return None


def _reaches_itself(root: Any, references: References) -> bool:
    """A walk in depth: a schema that is still being walked when it is met again contains itself."""
    open_now, done = set(), set()
    place = Place()
    ways: list[tuple[int, Iterator[tuple[Any, Place]]]] = []

    def enters(schema: Any, place: Place) -> bool:
        """Begin a schema. True if it is open already."""
        if not isinstance(schema, dict) or id(schema) in done:
            return False
        if id(schema) in open_now:
            return True
        open_now.add(id(schema))
        ways.append((id(schema), _parts(schema, enter(schema, place), references)))
        return False

    enters(root, place)
    while ways:
        name, parts = ways[-1]
        part = next(parts, None)
        if part is None:
            ways.pop()
            open_now.discard(name)
            done.add(name)
        elif enters(*part):
            return True
    return False


def _parts(schema: dict[str, Any], place: Place, references: References) -> Iterator[tuple[Any, Place]]:
    """The schemas that one applies, and those that it refers to."""
    for keyword in REFERENCES:
        if isinstance(name := schema.get(keyword), str) and (found := references.find(name, place)) is not None:
            yield found
    for keyword, part, pointer in subschemas(schema, place.pointer):
        if keyword not in NOT_APPLIED:
            yield part, replace(place, pointer=pointer)
