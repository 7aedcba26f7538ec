"""What a schema says of a document that stands inside of a text, in the notation in which it is written there."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import interlock
from interlock.explain import Explanation, Problem, byte_vocabulary, explain, line_column
from interlock.explain.document import BLANKS
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
    where none can be read. ``options`` are those of ``Index.from_json_schema``.
    """
    from interlock.tools.notations.argument_parsing import Places, read_with_places

    places: Places = {}
    try:
        if written.encoding == "json":
            begin = len(text) - len(text[begin:].lstrip(BLANKS))
            end = _end_of_json(text, begin)
            document = text[begin:end]
        else:
            value, end, places = read_with_places(written, text, begin, schema)
            document = json.dumps(value, ensure_ascii=False)
        alone = explain(interlock.Index.from_json_schema(schema, byte_vocabulary(), **options), document)
    except (interlock.InterlockError, ValueError, RecursionError):
        return None
    if written.encoding == "json":
        return DocumentProblems(begin, end, [_behind(problem, text, begin) for problem in alone.problems], alone)
    nowhere = (place, place + 1)
    moved = []
    for problem in alone.problems:
        # A key that is missing has no place of its own.
        start, stop = nowhere if problem.missing else places.get(_innermost(problem.pointer, places), nowhere)
        moved.append(replace(problem, start=start, end=stop, until=stop))
    return DocumentProblems(begin, end, sorted(moved, key=lambda one: one.start), alone)


def _end_of_json(text: str, begin: int) -> int:
    """The end of the JSON that begins at ``begin``; that of the text where it breaks off, or is none."""
    try:
        return json.JSONDecoder().raw_decode(text, begin)[1]
    except ValueError:
        return len(text)


def _behind(problem: Problem, text: str, begin: int) -> Problem:
    """A problem of a document, with its places in the text in which the document begins at ``begin``."""
    message = problem.message
    if message.startswith("not JSON") and (inner := _PLACE.search(message)):
        # The first line of the document is one of the text that may begin before it.
        line, column = int(inner[1]), int(inner[2])
        above, left = line_column(text, begin)
        there = f"begins at line {above + line - 1}, column {column + left - 1 if line == 1 else column}"
        message = message[: inner.start()] + there + message[inner.end() :]
    start, end, until = (begin + place for place in (problem.start, problem.end, problem.until))
    return replace(problem, message=message, start=start, end=end, until=until)


_PLACE = re.compile(r"begins at line (\d+), column (\d+)")


def _innermost(pointer: str, places: dict[str, tuple[int, int]]) -> str:
    """The innermost value with a place that ``pointer`` is in: a value may be written as JSON inside of its tags."""
    while pointer and pointer not in places:
        pointer = pointer.rpartition("/")[0]
    return pointer
