"""Keywords of JSON Schema by what their values hold, for code that walks a schema as plain JSON."""

from __future__ import annotations

__all__ = ["MAPS", "VALUES"]

MAPS = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
"""Keywords that hold schemas by name: below them names stand, and no keywords."""
VALUES = frozenset(("const", "default", "enum", "examples"))
"""Keywords that hold values, in which nothing is a keyword."""
