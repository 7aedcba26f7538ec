"""Which tools may, must or must not be called: ``tool_choice`` in every shape that clients send."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from interlock.tools.errors import RequestError
from interlock.tools.requests.tool_list import Tool, named
from interlock.tools.spec.fields import kind_of, shown
from interlock.util.near_words import meant, nearest
from interlock.util.quoting import quoted

__all__ = ["Mode", "choose"]

Mode = Literal["auto", "required", "none"]


def choose(tools: Sequence[Tool], choice: Any) -> tuple[list[Tool], Mode, bool]:
    """The tools in question, whether one may, must or must not be called, and whether exactly one call is meant.

    ``choice`` is ``"auto"``, ``"required"`` (or ``"any"``), ``"none"``, ``None`` (auto), ``{"name": …}``,
    ``{"type": "function", "function": {"name": …}}``, ``{"type": "custom", …}``, ``{"type": "allowed_tools", …}`` in
    both of OpenAI's shapes, or a list of names, of which one must be called. ``RequestError`` for others, and
    for names that no tool has.

    >>> choose([Tool("a"), Tool("b")], {"name": "b"})
    ([Tool(name='b', parameters=True, is_strict=None, input=None)], 'required', True)
    """
    if choice is None or choice == "auto":
        return list(tools), "auto" if tools else "none", False
    if choice == "none":
        return list(tools), "none", False
    if choice in ("required", "any"):
        return _some(list(tools)), "required", False
    if isinstance(choice, list | tuple):
        return (
            _some([_of_reference(tools, one, f"/tool_choice/{at}") for at, one in enumerate(choice)]),
            "required",
            False,
        )
    if not isinstance(choice, Mapping):
        raise RequestError(
            f'tool_choice is "auto", "required" (or "any"), "none", a name in an object or a list of names, '
            f"not {shown(choice)}{_way(tools, choice)}",
            "/tool_choice",
        )
    kind = choice.get("type")
    if kind in ("auto", "any", "none", "required"):
        return choose(tools, kind)
    if kind == "allowed_tools":
        return _of_allowed_tools(tools, choice)
    return [_of_reference(tools, choice, "/tool_choice")], "required", True


def _of_allowed_tools(tools: Sequence[Tool], choice: Mapping[str, Any]) -> tuple[list[Tool], Mode, bool]:
    inner = choice.get("allowed_tools", choice)
    place = "/tool_choice" if inner is choice else "/tool_choice/allowed_tools"
    if not isinstance(inner, Mapping):
        raise RequestError(f"allowed_tools is an object with mode and tools, not {kind_of(inner)}", place)
    mode = inner.get("mode", "auto")
    if mode not in ("auto", "required"):
        raise RequestError(f'the mode of allowed_tools is "auto" or "required", not {shown(mode)}', f"{place}/mode")
    listed = inner.get("tools")
    if not isinstance(listed, list | tuple):
        raise RequestError("allowed_tools has a list of tools", f"{place}/tools" if "tools" in inner else place)
    some = [_of_reference(tools, one, f"{place}/tools/{at}") for at, one in enumerate(listed)]
    return _some(some, f"{place}/tools"), mode, False


def _way(tools: Sequence[Tool], choice: Any) -> str:
    """The end of a message about an invalid choice: what to write if it is a tool's name or a misspelt word."""
    if not isinstance(choice, str):
        return ""
    names = [tool.name for tool in tools]
    if choice not in names and (hint := meant(choice, ("auto", "required", "none", "any"))):
        return hint
    name = choice if choice in names else nearest(choice, names, 0.8)
    tool = next((tool for tool in tools if tool.name == name), None)
    if tool is None:
        return ""
    kind = "function" if tool.input is None else "custom"
    return f"; write {json.dumps({'type': kind, kind: {'name': tool.name}}, ensure_ascii=False)}"


def _some(tools: list[Tool], place: str = "/tool_choice") -> list[Tool]:
    if not tools:
        raise RequestError("tool_choice asks for a call, and there are no tools", place)
    unique = {tool.name: tool for tool in tools}
    return list(unique.values())


def _of_reference(tools: Sequence[Tool], reference: Any, pointer: str) -> Tool:
    if isinstance(reference, str):
        return named(tools, reference, pointer)
    if not isinstance(reference, Mapping):
        raise RequestError(f"a tool is named by a text or an object with a name, not {shown(reference)}", pointer)
    kind = next((key for key in ("function", "custom") if key in reference), None)
    inner = reference if kind is None else reference[kind]
    place = pointer if kind is None else f"{pointer}/{kind}"
    name = inner.get("name") if isinstance(inner, Mapping) else None
    if not isinstance(name, str):
        fields = ("name",) if inner is not reference else ("name", "function", "custom", "type")
        odd = next((key for key in inner if key not in fields), None) if isinstance(inner, Mapping) else None
        hint = "" if odd is None else meant(odd, fields)
        said = f", and has {quoted(odd)}{hint}" if hint else ""
        has_name = isinstance(inner, Mapping) and inner.get("name") is not None
        needs = (
            "the name of a tool is a text" if has_name else f"the object names no tool: it needs the field 'name'{said}"
        )
        raise RequestError(needs, f"{place}/name" if has_name else place)
    return named(tools, name, f"{place}/name")
