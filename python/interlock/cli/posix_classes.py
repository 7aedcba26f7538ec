"""POSIX classes in the patterns of a schema, which are a mistake that no error shows."""

from __future__ import annotations

from typing import Any

from interlock.json_pointer import escaped
from interlock.pattern_hints import posix_class


def posix_classes(schema: Any) -> list[str]:
    """What is probably a mistake in the patterns of a schema, each with its place."""
    found: list[str] = []
    todo = [("", schema)]
    while todo:
        pointer, value = todo.pop()
        if isinstance(value, dict):
            pattern = value.get("pattern")
            if isinstance(pattern, str) and (hint := posix_class(pattern)):
                found.append(hint + (f" (at {pointer})" if pointer else ""))
            todo += [(f"{pointer}/{escaped(key)}", inner) for key, inner in reversed(value.items())]
        elif isinstance(value, list):
            todo += [(f"{pointer}/{i}", inner) for i, inner in reversed(list(enumerate(value)))]
    return found
