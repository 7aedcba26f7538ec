"""What a schema says of a document that stands inside of a text, in the notation in which it is written there."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import interlock
from interlock.explain import Explanation, Problem, byte_vocabulary, explain
from interlock.schema_hints import quiet

if TYPE_CHECKING:
    from interlock.tools.notations.tool_format import Arguments


@dataclass(frozen=True)
class DocumentProblems:
    """What a schema says of a document: ``start`` and ``end`` are its place in the text, and the places of
    ``problems`` are places in the text. ``alone`` is what the schema says of the document as JSON.
    """

    start: int
    end: int
    problems: list[Problem]
    alone: Explanation


@quiet()
def read_document(
    written: Arguments, text: str, begin: int, place: int, schema: Any, **options: Any
) -> DocumentProblems | None:
    """What ``schema`` says of the document that begins at ``begin``, in a text that is refused at ``place``; ``None``
    where no document stands there. ``options`` are those of ``Index.from_json_schema``.
    """
    from interlock.tools.notations.argument_parsing import Places, read_with_places

    places: Places = {}
    try:
        if written.encoding == "json":
            begin = len(text) - len(text[begin:].lstrip())
            end = json.JSONDecoder().raw_decode(text, begin)[1]
            document = text[begin:end]
        else:
            value, end, places = read_with_places(written, text, begin, schema)
            document = json.dumps(value, ensure_ascii=False)
        alone = explain(interlock.Index.from_json_schema(schema, byte_vocabulary(), **options), document)
    except (interlock.InterlockError, ValueError, RecursionError):
        return None
    if written.encoding == "json":
        moved = [replace(p, start=begin + p.start, end=begin + p.end, until=begin + p.until) for p in alone.problems]
        return DocumentProblems(begin, end, moved, alone)
    nowhere = (place, place + 1)
    moved = []
    for problem in alone.problems:
        # A key that is missing has no place of its own.
        start, stop = nowhere if problem.missing else places.get(_innermost(problem.pointer, places), nowhere)
        moved.append(replace(problem, start=start, end=stop, until=stop))
    return DocumentProblems(begin, end, sorted(moved, key=lambda one: one.start), alone)


def _innermost(pointer: str, places: dict[str, tuple[int, int]]) -> str:
    """The innermost value with a place that ``pointer`` is in: a value may be written as JSON inside of its tags."""
    while pointer and pointer not in places:
        pointer = pointer.rpartition("/")[0]
    return pointer
