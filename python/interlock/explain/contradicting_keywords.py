"""Which keywords of an unsatisfiable schema contradict each other.

Keywords are left out one by one, and one stays left out where the schema still accepts nothing: what is left at the end
contradicts itself, and would not if any of it were missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import interlock
from interlock.explain.wording import literal
from interlock.util.json_pointer import escaped, unescaped, value_at
from interlock.util.quoting import shortened

TRIES = 80
"""Compiles that a search may cost."""
WITHIN = ("allOf", "properties", "prefixItems", "items", "contains", "additionalProperties", "dependentRequired")
STAYS = frozenset(["$schema", "$id", "$defs", "definitions", "title", "description", "$comment", "examples", "default"])


@dataclass(frozen=True)
class Keyword:
    """A keyword of a schema: the pointer of the schema that holds it, its name and its value."""

    pointer: str
    keyword: str
    value: Any

    def __str__(self) -> str:
        return f"{self.keyword} {shortened(literal(self.value), 40)}"


def slashed(pattern: str, dialect: str) -> tuple[str, str] | None:
    """The pattern between slashes, and the letters behind them; ``None`` where none stands there."""
    found = re.fullmatch(r"/(.*)/([a-z]*)", pattern, re.DOTALL)
    if found is None:
        return None
    try:
        interlock.check_regex(found[1], dialect=dialect)  # type: ignore[arg-type]
    except interlock.InterlockError:
        return None
    return found[1], found[2]


def without_slashes(pattern: Any) -> str:
    """What to do about a ``pattern`` between slashes that matches nothing; empty where it has none.

    >>> without_slashes("/^a$/"), without_slashes("^a$")
    ('leave out the slashes around the pattern', '')
    """
    found = slashed(pattern, "ecma") if isinstance(pattern, str) else None
    if found is None:
        return ""
    flags = "; a schema has no flags: write both cases of a letter, as in [Aa]" if "i" in found[1] else ""
    return f"leave out the slashes around the pattern{flags}"


def contradiction(schema: Any, pointer: str, accepts_nothing: Callable[[Any], bool]) -> list[Keyword]:
    """A least set of keywords at ``pointer`` and below that contradict each other; empty if none was found.

    ``accepts_nothing`` says of a whole schema whether it is unsatisfiable. Costs up to ``TRIES`` of its calls.
    """
    whole = json.loads(json.dumps(schema, default=_number))
    part = value_at(whole, map(unescaped, pointer.split("/")[1:]))
    if not isinstance(part, dict):
        return []
    left = TRIES
    kept: list[Keyword] = []

    def reduce(holder: dict[str, Any], where: str, depth: int) -> None:
        nonlocal left
        for name in [n for n in holder if n not in STAYS]:
            if left <= 0:
                return
            left -= 1
            value = holder.pop(name)
            if not accepts_nothing(whole):
                holder[name] = value
        _restore_order(holder)
        for name, value in list(holder.items()):
            if name in STAYS:
                continue
            inner = f"{where}/{escaped(name)}"
            if name in WITHIN and depth < 3:
                begun = len(kept)
                if isinstance(value, list) and name in ("allOf", "prefixItems"):
                    for i, item in enumerate(value):
                        if isinstance(item, dict):
                            reduce(item, f"{inner}/{i}", depth + 1)
                elif isinstance(value, dict) and name == "properties":
                    for key, item in value.items():
                        if isinstance(item, dict):
                            reduce(item, f"{inner}/{escaped(key)}", depth + 1)
                elif isinstance(value, dict) and name in ("items", "contains", "additionalProperties"):
                    reduce(value, inner, depth + 1)
                if len(kept) > begun:
                    continue
            kept.append(Keyword(where, name, value))

    try:
        if accepts_nothing(whole):
            reduce(part, pointer, 0)
    except interlock.InterlockError:
        return []
    return kept


def _restore_order(holder: dict[str, Any]) -> None:
    """``type`` first, as one writes it."""
    if "type" in holder:
        rest = {name: value for name, value in holder.items() if name != "type"}
        kind = holder["type"]
        holder.clear()
        holder["type"] = kind
        holder.update(rest)


def _number(value: Any) -> Any:
    return int(value) if value == int(value) else float(value)
