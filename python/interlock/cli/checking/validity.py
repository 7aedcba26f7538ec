"""Whether a document is valid under its schema, in whatever order, blanks and spelling it is written.

Masks allow what is to be generated: keys in one order, numbers without needless digits. A document of another origin
may be valid and written in another way. It is asked of the engine, too: about the same value, written as the engine
writes, by an index that takes keys in any order.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cached_property

import interlock
from interlock.cli.sources.source_arguments import Source
from interlock.explain import NotJson, byte_vocabulary, parse
from interlock.explain.document import Node

__all__ = ["FREE", "ONLY_FORM", "Validity", "in_any_form"]

FREE = {"property_order": "any", "whitespace": "flexible", "spelling": "any"}
"""The options under which the engine takes the most documents of a schema."""
ONLY_FORM = "valid JSON for the schema, but not in the generated form: "
"""What is said of a valid document that is refused."""
MOST_DIGITS = 80
"""Digits of a number up to which it is written in full."""


def in_any_form(source: Source) -> Source:
    """A schema that is read without options of how documents are written."""
    return replace(source, options=source.options | FREE, compiled=None)


class Validity:
    """Says whether documents are valid under a schema; of another source, that none is."""

    def __init__(self, source: Source) -> None:
        self._source = source

    @cached_property
    def _guide(self) -> interlock.Guide | None:
        if self._source.kind != "json_schema":
            return None
        try:
            return in_any_form(self._source).make(byte_vocabulary()).guide()
        except interlock.InterlockError:  # Keys in any order may be beyond a limit.
            return None

    def holds(self, written: bytes) -> bool:
        """Whether a text is a document that is valid for certain."""
        guide = self._guide
        if guide is None:
            return False
        try:
            text = written.decode()
            data = _written(parse(text), text).encode()
        except (NotJson, RecursionError, UnicodeError):
            return False
        guide.reset()
        return guide.advance_many(list(data)) == len(data) and guide.is_accepting


def _written(node: Node, text: str) -> str:
    """A value as the engine writes it, its keys in their order.

    >>> text = '{ "n": 1.50e1 , "s": "\\\\u0061" }'
    >>> _written(parse(text), text)
    '{"n":15,"s":"a"}'
    """
    if node.kind == "object":
        members = (f"{_string(member.key)}:{_written(member.value, text)}" for member in node.members)
        return "{" + ",".join(members) + "}"
    if node.kind == "array":
        return "[" + ",".join(_written(item, text) for item in node.items) + "]"
    if isinstance(node.value, str):
        return _string(node.value)
    value, spelt = node.value, text[node.start : node.end]
    if node.kind != "number" or value is None or isinstance(value, bool):
        return spelt
    if not value:
        return "0"
    if not -MOST_DIGITS < value.adjusted() < MOST_DIGITS:
        return spelt
    plain = format(value, "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _string(text: str) -> str:
    # One half of a pair of surrogates is written as an escape only.
    return json.dumps(text, ensure_ascii=any("\ud800" <= char <= "\udfff" for char in text))
