"""Loops of references in a schema: a schema that applies to itself in place, and one whose documents have no end.

Both are errors of the engine, which names one place of the loop. Here the whole of it is found, to be read by people.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from interlock.explain.references import Place, References, enter

__all__ = ["endless_loop", "loop_in_place"]

MOST = 2_000
"""Schemas that are looked at."""
SHOWN = 8
"""Places of a loop in place that are named; of a longer one, the first and the last."""
IN_PLACE = ("allOf", "anyOf", "oneOf")
ALONE = ("not", "if", "then", "else")


@dataclass(frozen=True)
class Step:
    """A schema that another one leads to. ``through`` says by what: the reference, or the part of the value."""

    schema: Any
    place: Place
    through: str = ""
    is_reference: bool = False


def loop_in_place(schema: Any, documents: Mapping[str, Any], pointer: str) -> str:
    """The references by which a schema comes back to itself without reading any part of the value, as
    ``#/$defs/a → #/$defs/b → #/$defs/a``. The loop at ``pointer`` is preferred; empty if there is none.

    >>> loop_in_place({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}}, {}, "/$defs/a")
    '#/$defs/a → #/$defs/b → #/$defs/a'
    """
    references = References(schema, documents)
    done: set[str] = set()
    for start in _starts(references, schema, pointer):
        if loop := _back_in_place(references, start, done):
            return _chain(loop)
    return ""


def _back_in_place(references: References, start: Step, done: set[str]) -> list[Step]:
    """The first way in place from a schema on that comes back to where it was: from there to there. Empty if none."""
    path: dict[str, Step] = {}
    todo: list[tuple[Step, bool]] = [(start, False)]
    while todo and len(done) + len(path) < MOST:
        step, is_left = todo.pop()
        key = str(step.place)
        if is_left:
            del path[key]
            done.add(key)
        elif key in path:
            return [*list(path.values())[list(path).index(key) :], step]
        elif key not in done:
            path[key] = step
            todo.append((step, True))
            todo += [(other, False) for other in _in_place(references, step)][::-1]
    return []


def _opened(references: References, step: Step) -> tuple[dict[str, Any], Place, list[Step]]:
    """The keywords of a schema that count, none where it is no object, its place, and what its reference leads to."""
    schema: Any = step.schema
    referred: list[Step] = []
    if not isinstance(schema, dict):
        return {}, step.place, referred
    place = enter(schema, step.place)
    if isinstance(reference := schema.get("$ref"), str):
        if (found := references.find(reference, place)) is not None:
            referred.append(Step(*found, reference, True))
        if place.draft in (4, 6, 7):  # Whose references stand alone.
            schema = {}
    return schema, place, referred


def _in_place(references: References, step: Step) -> Iterator[Step]:
    """What applies to the same value as a schema does."""
    schema, place, referred = _opened(references, step)
    yield from referred
    for name in IN_PLACE:
        if isinstance(parts := schema.get(name), list):
            yield from (Step(part, place.at(name, i)) for i, part in enumerate(parts))
    yield from (Step(schema[name], place.at(name)) for name in ALONE if name in schema)
    if isinstance(parts := schema.get("dependentSchemas"), dict):
        yield from (Step(part, place.at("dependentSchemas", name)) for name, part in parts.items())


def _starts(references: References, schema: Any, pointer: str) -> Iterator[Step]:
    """The schema at a pointer, which may begin with the URI of a document, and the whole."""
    document, _, inside = pointer.rpartition("#")
    root = references.named.get(document if document else "")
    found = references.find(f"#{inside}", root[1]) if root is not None and inside else root
    if found is not None:
        yield Step(*found)
    yield Step(schema, Place())


def _chain(loop: list[Step]) -> str:
    """The places of a loop at which its references arrive."""
    arrived = [_name(step.place) for step in loop[1:] if step.through]
    names = [arrived[-1], *arrived] if arrived else [_name(step.place) for step in loop]
    if len(names) > SHOWN:
        names = [*names[: SHOWN - 2], "...", *names[-2:]]
    return " → ".join(names)


def _name(place: Place) -> str:
    return str(place) if place.document else f"#{place.pointer}"


# Documents without an end.


def endless_loop(schema: Any, documents: Mapping[str, Any], pointer: str) -> str:
    """The loop in which a schema asks for a value of itself inside of every value of it, so that no document comes to
    an end, in words. Empty where none is certain.

    >>> endless_loop({"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}, {}, "")
    '# needs `next`, which is # again'
    """
    references = References(schema, documents)
    for start in _starts(references, schema, pointer):
        graph = _Graph(references, start)
        if loop := graph.loop():
            return loop
    return ""


class _Graph:
    """The schemas that a schema needs, and those of them that no value ends."""

    def __init__(self, references: References, start: Step) -> None:
        self.references = references
        self.start = start
        self.needs: dict[str, list[list[Step]]] = {}
        """Of each schema, groups of what it needs: one of each group has to have a value. No group: it has one."""
        todo = [start]
        while todo and len(self.needs) < MOST:
            one = todo.pop()
            if (key := str(one.place)) in self.needs:
                continue
            self.needs[key] = list(_groups(references, one))
            todo += [step for group in self.needs[key] for step in group]
        ended: set[str] = set()
        while more := [
            key
            for key, groups in self.needs.items()
            if key not in ended and all(any(self._ends(step, ended) for step in group) for group in groups)
        ]:
            ended.update(more)
        self.ended = ended

    def _ends(self, step: Step, ended: set[str]) -> bool:
        return str(step.place) in ended or str(step.place) not in self.needs

    def loop(self) -> str:
        """The first loop from the start on, in words."""
        if self._ends(self.start, self.ended):
            return ""
        way, seen, step = [self.start], {str(self.start.place): 0}, self.start
        while True:
            groups = self.needs[str(step.place)]
            group = next((group for group in groups if not any(self._ends(one, self.ended) for one in group)), [])
            if not group:
                return ""
            step = group[0]
            way.append(step)
            if (key := str(step.place)) in seen:
                return _in_words(way[seen[key] :])
            seen[key] = len(way) - 1


def _in_words(loop: list[Step]) -> str:
    """A loop whose last step is its first one again."""
    # It is told from a schema that references lead to, which has a name that people gave it.
    ring = loop[1:]
    is_named = [one.is_reference and not after.is_reference for one, after in zip(ring, [*ring[1:], ring[0]])]
    begin = len(ring) - 1 if is_named[-1] or not any(is_named) else is_named.index(True)
    loop = [*ring[begin:], *ring[: begin + 1]]
    first, words = _name(loop[0].place), ""
    for number, step in enumerate(loop[1:], 1):
        if step.is_reference:
            words += f" ({_name(step.place)})" if number < len(loop) - 1 else ""
        elif step.through:
            words += (", which needs " if words else " needs ") + step.through
    return f"{first}{words}, which is {first} again" if words else ""


def _groups(references: References, step: Step) -> Iterator[list[Step]]:
    """What every value of a schema needs a value of: groups, of each of which one will do."""
    schema, place, referred = _opened(references, step)
    yield from ([one] for one in referred)
    if isinstance(parts := schema.get("allOf"), list):
        yield from ([Step(part, place.at("allOf", i))] for i, part in enumerate(parts))
    for name in ("anyOf", "oneOf"):
        if isinstance(parts := schema.get(name), list) and parts:
            yield [Step(part, place.at(name, i)) for i, part in enumerate(parts)]
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and len(kind) == 1 else kind
    if kind == "object":
        properties, required = schema.get("properties"), schema.get("required")
        if isinstance(properties, dict) and isinstance(required, list):
            for name in required:
                if isinstance(name, str) and name in properties:
                    yield [Step(properties[name], place.at("properties", name), f"`{name}`")]
    if kind == "array" and isinstance(least := schema.get("minItems"), int | float) and least >= 1:
        name = "items" if isinstance(schema.get("items"), list) else "prefixItems"
        if isinstance(first := schema.get(name), list) and first:
            for i, part in enumerate(first[: int(least)]):
                yield [Step(part, place.at(name, i), "an element")]
        elif isinstance(schema.get("items"), dict):
            yield [Step(schema["items"], place.at("items"), "an element")]
