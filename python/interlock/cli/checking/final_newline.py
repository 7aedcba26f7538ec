"""The newline at the end of a file, which an editor puts there: of a text that is no JSON, it may be a part.

A file is read without it. Where such a text is refused, the text with the newline is asked about, too: what is accepted
either way is accepted.
"""

from __future__ import annotations

from typing import Any

import interlock
from interlock.cli.checking.verdict import Verdict, Walker
from interlock.cli.checking.walk import Speller
from interlock.cli.terminal.style import NOTE, Line

TAKEN = "the newline at the end of the file is a part of the text"
REFUSED = "the newline at the end of the file is left out; with it, the text is refused, too"
REFUSED_WITH = "the newline at the end of the file is kept here; without it, the text is refused, too"


def walk_either(
    walker: Walker,
    speller: Speller,
    data: bytes,
    newline: bytes,
    trace: list[dict[str, Any]] | None = None,
    bytes: bool = False,
) -> Verdict:
    """The verdict about ``data``, or the better one about ``data + newline``, which says that it is about that."""
    steps: list[dict[str, Any]] | None = None if trace is None else []
    found = walker.walk(speller.spell(data), data, steps, bytes)
    if found.accepted or not newline or walker.source.kind == "json_schema":
        return _traced(found, trace, steps)
    longer = data + newline
    other_steps: list[dict[str, Any]] | None = None if trace is None else []
    try:
        other = walker.walk(speller.spell(longer), longer, other_steps, bytes)
    except interlock.VocabularyError:  # No token spells the newline.
        return _traced(found, trace, steps)
    if other.accepted:
        other.people[0] += "; " + TAKEN
        other.note = TAKEN
        other.machine["final_newline"] = True
        return _traced(other, trace, other_steps)
    if found.machine["at"] < len(data):  # It is refused before its end, so that the newline does not matter.
        return _traced(found, trace, steps)
    is_kept = other.machine["at"] > found.machine["at"]
    if is_kept:
        found, steps = other, other_steps
    said = REFUSED_WITH if is_kept else REFUSED
    found.machine["final_newline"] = is_kept
    found.people.append(Line(("  note: ", NOTE), said))
    found.said += f" ({said})"
    return _traced(found, trace, steps)


def _traced(found: Verdict, trace: list[dict[str, Any]] | None, steps: list[dict[str, Any]] | None) -> Verdict:
    if trace is not None:
        trace += steps or []
    return found
