"""Where two JSON documents differ, keyword by keyword: a JSON Pointer and what stands there in each."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any

from interlock.cli.terminal.style import Line
from interlock.schema_hints import KEYWORDS
from interlock.schema_hints.schema_keywords import MAPS
from interlock.util.json_pointer import escaped
from interlock.util.plurals import counted

ABSENT = object()
"""What stands in a document that has nothing at a place."""
MOST = 200
"""Places that are listed."""
MOST_CHANGES = 20
"""Changes that people are shown; ``--json`` has more."""
SHOWN = 60
"""Characters of a value that are shown."""
_NONE: Mapping[str, Any] = MappingProxyType({})


def differences(
    first: Any, second: Any, ours: Mapping[str, Any] = _NONE, theirs: Mapping[str, Any] = _NONE
) -> list[dict[str, Any]]:
    """At most ``MOST`` places, in the order of the first document, with what only one has behind what both have.

    ``first`` or ``second`` is left out where that document has nothing there. Lists of plain values (``required``,
    ``enum``, ``type``) are compared as wholes, and other lists place by place. ``ours`` and ``theirs`` are the
    documents that each refers to, by URI, which stands before ``#`` and the pointer in them.
    """
    pairs = [("", first, second)]
    pairs += [(f"{uri}#", ours.get(uri, ABSENT), theirs.get(uri, ABSENT)) for uri in dict.fromkeys([*ours, *theirs])]
    rows = (row for prefix, one, other in pairs for row in _walk(one, other, prefix))
    return [
        {"pointer": pointer} | _side("first", one) | _side("second", other)
        for pointer, one, other in islice(rows, MOST)
    ]


def _side(name: str, value: Any) -> dict[str, Any]:
    return {} if value is ABSENT else {name: value}


def _walk(first: Any, second: Any, pointer: str) -> Iterator[tuple[str, Any, Any]]:
    ways = [(first, second, pointer)]
    while ways:
        one, other, where = ways.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            keys = [*one, *(key for key in other if key not in one)]
            inner = [(one.get(k, ABSENT), other.get(k, ABSENT), f"{where}/{escaped(k)}") for k in keys]
        elif isinstance(one, list) and isinstance(other, list) and any(isinstance(v, dict) for v in [*one, *other]):
            longest = range(max(len(one), len(other)))
            inner = [(_at(one, i), _at(other, i), f"{where}/{i}") for i in longest]
        else:
            if not _same(one, other):
                yield where, one, other
            continue
        ways += reversed(inner)


def _at(values: list[Any], place: int) -> Any:
    return values[place] if place < len(values) else ABSENT


def _same(one: Any, other: Any) -> bool:
    """Equality of JSON: 1 is not true, and the order of keys does not count."""
    if one is ABSENT or other is ABSENT:
        return one is other
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def shown(row: dict[str, Any], name: str) -> str:
    """What stands at a place in one of the documents, for people."""
    if name not in row:
        return "(absent)"
    text = json.dumps(row[name], ensure_ascii=False)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def sides(row: dict[str, Any]) -> tuple[str, str]:
    """What stands at a place in both documents, for people: of lists of which only the beginning could be shown, what
    the second has more and less.
    """
    first, second = row.get("first"), row.get("second")
    if not isinstance(first, list) or not isinstance(second, list):
        return shown(row, "first"), shown(row, "second")
    if max(len(json.dumps(side, ensure_ascii=False)) for side in (first, second)) <= SHOWN:
        return shown(row, "first"), shown(row, "second")
    added, removed = _without(second, first), _without(first, second)
    parts = [_counted_values(values, word) for values, word in ((added, "added"), (removed, "removed")) if values]
    if not parts:
        place = next(i for i, (one, other) in enumerate(zip(first, second)) if not _same(one, other))
        parts = [f"the same values in another order, from the {place + 1}. on"]
    return f"... {len(first)}", f"{counted(len(second), 'value')}: {'; '.join(parts)}"


def _without(values: list[Any], others: list[Any]) -> list[Any]:
    """The values that are not among the others; one that is there more often counts as often as it is there more."""
    left = Counter(json.dumps(value, sort_keys=True) for value in others)
    found = []
    for value in values:
        written = json.dumps(value, sort_keys=True)
        if left[written]:
            left[written] -= 1
        else:
            found.append(value)
    return found


def _counted_values(values: list[Any], word: str) -> str:
    """How many values were added or removed, and as many of them as a line can show."""
    texts: list[str] = []
    for value in values:
        text = shown({"value": value}, "value")
        if texts and len(", ".join([*texts, text])) > SHOWN:
            return f"{len(values)} {word}: {', '.join(texts)}, ..."
        texts.append(text)
    return f"{len(values)} {word}: {', '.join(texts)}"


def changes(rows: list[dict[str, Any]], most: int | None = MOST_CHANGES) -> list[Line]:
    """What changed from the first schema to the second, a line each: the place, the keyword, and both values. At most
    so many, or all.
    """
    lines = []
    for row in rows[:most]:
        place, _, last = row["pointer"].rpartition("/")
        if last in KEYWORDS and place.rpartition("/")[2] not in MAPS:
            what = f"{place or '(root)'}: {last}"
        else:
            what = f"{row['pointer'] or '(root)'}:"
        lines.append(Line(f"  {what} {' -> '.join(sides(row))}"))
    if most is not None and len(rows) > most:
        lines.append(Line(f"  and {len(rows) - most} other places; --json has them"))
    return lines


def is_reordered(first: Any, second: Any) -> bool:
    """Whether properties that two schemas declare at the same place come in another order in the second."""
    ways = [(first, second, False)]
    for one, other, are_properties in ways:
        if isinstance(one, dict) and isinstance(other, dict):
            if are_properties and [key for key in one if key in other] != [key for key in other if key in one]:
                return True
            ways += [(one[key], other[key], key == "properties" and not are_properties) for key in one if key in other]
        elif isinstance(one, list) and isinstance(other, list):
            ways += [(one_part, other_part, False) for one_part, other_part in zip(one, other)]
    return False
