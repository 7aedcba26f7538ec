"""Tools in words for a model: what a prompt says of them where a chat template has no place for tools."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from interlock.output_types.prompt_schema import prompt_schema
from interlock.tools.notations.format_files import tool_format
from interlock.tools.notations.render import Call, render, render_calls
from interlock.tools.notations.tool_format import ToolFormat
from interlock.tools.requests.tool_list import Tool, tools_of

__all__ = ["describe_tools", "description_of", "for_template"]


def describe_tools(tools: Iterable[Any], format: str | os.PathLike[str] | Mapping[str, Any] | ToolFormat) -> str:
    """A text for a prompt that says which tools there are, with their descriptions and the JSON Schemas of their
    parameters, and how a call is written in ``format``. It belongs into a system message, for a model whose chat
    template has no place for tools. Empty for no tools.

    ``tools`` and errors are those of ``Index.from_tools``.

    >>> def add(a: int, b: int) -> int:
    ...     "Add two numbers."
    >>> print(describe_tools([add], "mistral"))
    You can call tools. Each line is one of them, with the JSON Schema of its parameters:
    {"name": "add", "description": "Add two numbers.", "parameters": {"additionalProperties": false, "properties": \
{"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"], "type": "object"}}
    <BLANKLINE>
    A call of the tool NAME is written in this way:
    [TOOL_CALLS]NAME[ARGS]{"PARAMETER": "VALUE"}
    """
    listed = list(tools) if isinstance(tools, Iterable) and not isinstance(tools, Mapping | str | bytes) else tools
    form = tool_format(format)
    known = tools_of(listed)
    if not known:
        return ""
    call = Call("NAME", {"PARAMETER": "VALUE"})
    written = render(form, [call]) if form.layout.kind == "messages" else render_calls(form, [call])
    said = [
        "You can call tools. Each line is one of them, with the JSON Schema of its parameters:",
        *(_line(tool, description_of(given)) for tool, given in zip(known, listed)),
        "",
        f"A call of the tool NAME is written in this way:\n{written}",
    ]
    if any(tool.input is not None for tool in known):
        said.append('A tool with an "input" has one parameter, "input", which is such a text.')
    return "\n".join(said)


def _line(tool: Tool, description: str) -> str:
    said: dict[str, Any] = {"name": tool.name}
    if description:
        said["description"] = description
    if tool.input is not None:
        said["input"] = {"syntax": tool.input[0], "definition": tool.input[1]} if tool.input[1] else "text"
    elif isinstance(tool.parameters, Mapping):
        schema = prompt_schema(dict(tool.parameters))
        # A class says the same of itself twice.
        if schema.get("description") == description:
            del schema["description"]
        said["parameters"] = schema
    return json.dumps(said, ensure_ascii=False)


def for_template(tool: Tool, function: Any) -> dict[str, Any]:
    """A tool as chat templates take it; ``function`` is what it was made of."""
    parameters = tool.parameters if isinstance(tool.parameters, Mapping) else {"type": "object", "properties": {}}
    said = {"name": tool.name, "description": description_of(function), "parameters": parameters}
    return {"type": "function", "function": said}


def description_of(tool: Any) -> str:
    """What a tool says of itself: a function its docstring, an object its ``description``."""
    if inspect.isroutine(tool):
        return inspect.getdoc(tool) or ""
    if not isinstance(tool, type) and callable(dump := getattr(tool, "model_dump", None)):
        tool = dump(exclude_none=True)
    if isinstance(tool, Mapping):
        inner = next((tool[key] for key in ("function", "custom") if isinstance(tool.get(key), Mapping)), tool)
        said = inner.get("description")
        return said if isinstance(said, str) else ""
    return ""
