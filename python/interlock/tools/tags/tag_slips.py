"""Schemas and patterns in a structural tag, and mistakes in them that no error shows."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from interlock.posix_classes import warn_of_pattern
from interlock.schema_hints import place_of_schemas, tells_of_slips
from interlock.tools.requests.parameter_checks import tell_of_slips_in
from interlock.tools.spec import JsonSchema, StructuralTag
from interlock.tools.spec.nodes import Regex

__all__ = ["patterns_in", "schemas_in", "tell_of_slips_in_tag"]


def schemas_in(tag: StructuralTag) -> list[tuple[str, Any]]:
    """The JSON Schemas in a tag, each behind its JSON Pointer.

    >>> from interlock.tools.spec import read
    >>> schemas_in(read({"type": "optional", "content": {"type": "json_schema", "json_schema": {"const": 1}}}))
    [('/format/content/json_schema', {'const': 1})]
    """
    return [(f"{at}/json_schema", node.json_schema) for at, node in _nodes(tag) if isinstance(node, JsonSchema)]


def patterns_in(tag: StructuralTag) -> list[tuple[str, str]]:
    """The patterns in a tag that stand outside of schemas, each behind its JSON Pointer."""
    return [(f"{at}/pattern", node.pattern) for at, node in _nodes(tag) if isinstance(node, Regex)]


def tell_of_slips_in_tag(tag: StructuralTag, **work: Any) -> None:
    """Tell of keywords in the tag's schemas that look like slips, as ``handling`` says, and of POSIX classes. For tags
    that compiled: ``work`` are the limits and the ``CancelToken`` under which they did.
    """
    schemas, place = schemas_in(tag), place_of_schemas()
    if tells_of_slips(len(schemas)):
        for pointer, schema in schemas:
            tell_of_slips_in(schema, place + tag.place_as_written(pointer), **work)
    for pointer, pattern in patterns_in(tag):
        warn_of_pattern(pattern, place + tag.place_as_written(pointer))


def _nodes(tag: StructuralTag) -> Iterator[tuple[str, Any]]:
    """The formats of a tag, each behind its JSON Pointer."""
    todo: list[tuple[str, Any]] = [("/format", tag.format)]
    while todo:
        pointer, node = todo.pop()
        if isinstance(node, tuple):
            todo += [(f"{pointer}/{i}", inner) for i, inner in reversed(list(enumerate(node)))]
        elif dataclasses.is_dataclass(node) and not isinstance(node, type):
            yield pointer, node
            if not isinstance(node, JsonSchema):
                fields = reversed(dataclasses.fields(node))
                todo += [(f"{pointer}/{field.name}", getattr(node, field.name)) for field in fields]
