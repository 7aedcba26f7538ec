"""What an index in a store is made from, as the text that its key is made of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from interlock import _core
from interlock._core import ArgumentError, Limits

__all__ = ["KINDS", "recipe_of"]

KINDS = ("regex", "json_schema", "choices", "grammar", "structural_tag", "tools", "response_format")
"""What an index is made from: `Index.from_...`."""


def _limits(limits: Limits | Mapping[str, int] | None) -> dict[str, int]:
    made = limits if isinstance(limits, Limits) else Limits(**(limits or {}))
    values: dict[str, int] = made.__reduce__()[1][0]
    return values


def recipe_of(kind: str, source: Any, options: Mapping[str, Any]) -> str:
    """What ``Index._recipe`` says of the index that these arguments make, without making it."""
    given = dict(options)
    limits = _limits(given.pop("limits", None))
    arguments: list[Any]
    after: list[Any] = []  # What follows the limits.
    if kind == "regex":
        text, flags = _core._pattern_text(source, given.pop("flags", ""))
        arguments = [text, None, given.pop("dialect", "python"), flags]
    elif kind == "json_schema":
        documents = given.pop("documents", None) or {}
        arguments = [_core._schema_text(source), None, given.pop("whitespace", "flexible")]
        arguments += [given.pop("property_order", "schema"), given.pop("on_unsupported", "error")]
        arguments += [given.pop("formats", "assert")]
        # In the order of the URIs, as an index has them.
        in_order = sorted(documents.items(), key=lambda pair: str(pair[0]))
        arguments += [{uri: _core._schema_text(document) for uri, document in in_order}]
        after = [given.pop("spelling", None)]
    elif kind == "choices":
        if isinstance(source, str) or not isinstance(source, Iterable):
            raise TypeError(f"source must be a sequence of str, not {type(source).__name__}")
        arguments = [list(source), None]
    elif kind == "grammar":
        if not isinstance(source, str):
            raise ArgumentError(f"grammar must be a str, not {type(source).__name__}")
        lexer = given.pop("lexer", None)
        if lexer is None:  # A text of `interlock.grammars` brings its own.
            lexer = getattr(source, "lexer", None)
        arguments = [source, None, given.pop("syntax", "lark"), given.pop("start", None), lexer]
        arguments += [dict(sorted((given.pop(name, None) or {}).items())) for name in ("imports", "grammars")]
    else:
        raise ArgumentError(f"kind must be one of {', '.join(map(repr, KINDS))}, not {kind!r}")
    if given:
        from interlock._recipe import OPTIONS

        known = ", ".join(OPTIONS[f"from_{kind}"])
        raise ArgumentError(f"no option of kind {kind!r} is named {sorted(given)[0]!r}; there are {known}")
    return json.dumps([f"from_{kind}", [*arguments, limits, *after]])
