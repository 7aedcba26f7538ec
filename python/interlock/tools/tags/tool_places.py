"""Where an error lies in the tools of a request, given where it lies in the structural tag that was made of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from interlock.tools.requests.tool_list import tools_of
from interlock.tools.spec import StructuralTag, nodes

__all__ = ["place_in_tools"]


def place_in_tools(pointer: str, tag: StructuralTag, tools: Any) -> str | None:
    """The place among ``tools`` of what ``pointer`` leads to in ``tag``; ``None`` if it is nothing that a tool gave.

    >>> from interlock.tools.tags.tag_index import REQUEST, tag_of_request
    >>> tools = [{"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}}]
    >>> tag = tag_of_request(tools, **REQUEST | {"format": "hermes"})
    >>> place_in_tools("/format/tags/0/content/json_schema/type", tag, tools)
    '/tools/0/function/parameters/type'
    """
    given = [(tool.place, tool.parameters if tool.input is None else tool.input[1]) for tool in tools_of(tools)]
    at: Any = tag
    parts = pointer.split("/")[1:]
    for read, part in enumerate(parts, start=1):
        outer, at = at, _member(at, part)
        if at is None:
            # A pattern inside of quotes is written as a schema, which is no part of the tag.
            return _place_of_definition(outer, given)
        if part not in ("json_schema", "grammar", "pattern"):
            continue
        rest = "".join(f"/{part}" for part in parts[read:])
        for is_it in (lambda value: value is at, lambda value: value == at):  # noqa: B023
            found = next((place for place, value in given if place and is_it(value)), None)
            if found is not None:
                return found + rest
    # A place may be a whole grammar or pattern, not a field of it.
    return _place_of_definition(at, given)


def _place_of_definition(node: Any, given: Sequence[tuple[str, Any]]) -> str | None:
    """The place of the custom tool whose definition a part of a tag is, in quotes or not."""
    inner = node.content if isinstance(node, nodes.Quoted) else node
    own = getattr(inner, "grammar", None) or getattr(inner, "pattern", None)
    return next((place for place, value in given if place and own is not None and value == own), None)


def _member(value: Any, part: str) -> Any:
    """What a part of a pointer names in a part of a structural tag."""
    if dataclasses.is_dataclass(value):
        return getattr(value, part, None)
    if isinstance(value, Sequence) and not isinstance(value, str) and part.isdecimal():
        return value[int(part)] if int(part) < len(value) else None
    return None
