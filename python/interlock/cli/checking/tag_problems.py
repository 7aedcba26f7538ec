"""Why a text of a structural tag is refused, in the words of the schema of the tag that the place is in. Elsewhere, and
where that schema accepts what stands there, the grammar of the tag says which character does not fit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import interlock
from interlock.explain import Explanation, byte_vocabulary, explain
from interlock.schema_hints import quiet


@quiet()
def in_words_of_schemas(found: Explanation, tag: Any) -> Explanation:
    """An explanation of a text that is refused, with what the schema of its tag says."""
    text, place = found.text, found.character
    begun = [
        (at + len(begin), begin, schema)
        for begin, schema in _schemas(tag)
        if (at := text.rfind(begin, 0, place)) >= 0 and at + len(begin) <= place
    ]
    if not begun:
        return found
    start, begin, schema = max(begun, key=lambda one: (one[0], len(one[1])))
    if any(other != schema for at, same, other in begun if (at, same) == (start, begin)):
        return found
    try:
        first = len(text) - len(text[start:].lstrip())
        end = json.JSONDecoder().raw_decode(text, first)[1]
        if place > end:
            return found
        index = interlock.Index.from_json_schema(schema, byte_vocabulary())
        problems = explain(index, text[start:end]).problems
    except (interlock.InterlockError, ValueError, RecursionError):
        return found
    shifted = [replace(p, start=start + p.start, end=start + p.end, until=start + p.until) for p in problems]
    return replace(found, problems=shifted) if shifted else found


def _schemas(part: Any) -> Iterator[tuple[str, Any]]:
    """What stands before each JSON document of a structural tag, and the document's schema."""
    todo = [("", part)]
    while todo:
        begin, part = todo.pop()
        if isinstance(part, list):
            todo += [("", item) for item in part]
        if not isinstance(part, dict):
            continue
        if part.get("type") == "json_schema" and part.get("style", "json") == "json":
            if begin:
                yield begin, part.get("json_schema")
            continue
        own = part.get("begin")
        if isinstance(own, str) and own and "schema" in part:
            yield own, part["schema"]
        for key, value in part.items():
            todo.append((own if key == "content" and isinstance(own, str) else "", value))
