"""The tools of a request, in every shape that clients and Python programs have them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from interlock._core import ArgumentError, UnsupportedError
from interlock.output_types import output_type_of
from interlock.tools.errors import RequestError
from interlock.tools.spec.fields import is_unicode, kind_of, shown
from interlock.util.client_messages import with_hint
from interlock.util.json_pointer import escaped
from interlock.util.near_words import meant, nearest
from interlock.util.nesting import bounded_nesting

__all__ = ["GRAMMARS", "NO_PARAMETERS", "Tool", "tools_of"]


NO_PARAMETERS = {"type": "object", "properties": {}, "additionalProperties": False}
"""The schema of the arguments of a strict tool that gives no parameters."""
_DEFINITION = re.compile(r"/(?:parameters|input_schema|inputSchema|format/(?:grammar/)?definition)$")
"""The end of ``Tool.place``, behind the object that has the name."""
GRAMMARS = ("lark", "gbnf", "ebnf")
"""The syntaxes of ``Tool.input`` that are grammars."""


@dataclass(frozen=True)
class Tool:
    """One tool: its name and what its arguments are."""

    name: str
    parameters: Any = True
    """The JSON Schema of the arguments; ``True`` where the tool gives none."""
    is_strict: bool | None = None
    """The tool's own ``strict``, where it has one."""
    input: tuple[Literal["text", "lark", "gbnf", "ebnf", "regex"], str] | None = None
    """For a custom tool: the syntax and the definition of its one input, a string. Custom tools have Lark's notation
    of grammars alone."""
    place: str = field(default="", repr=False, compare=False)
    """Where the request has the parameters or the definition, as a JSON Pointer that begins with ``/tools``; empty
    where that is not known."""
    has_no_parameters: bool = field(default=False, repr=False, compare=False)
    """Whether the tool gave none, so that any arguments are meant unless the request is strict."""

    @property
    def pointer(self) -> str:
        """Where the request has the tool itself, as a JSON Pointer.

        >>> Tool("now", place="/tools/3/function/parameters").pointer, Tool("now").pointer
        ('/tools/3', '/tools')
        """
        return "/".join(self.place.split("/")[:3]) or "/tools"

    @property
    def name_place(self) -> str:
        """Where the request has the name of the tool; the tool itself where that is no object.

        >>> Tool("now", place="/tools/3/function/parameters").name_place, Tool("now", place="/tools/3").name_place
        ('/tools/3/function/name', '/tools/3')
        """
        outer = _DEFINITION.sub("", self.place)
        return self.pointer if outer == self.place else f"{outer}/name"


@bounded_nesting("the list of tools")
def tools_of(tools: Any) -> list[Tool]:
    """The tools of a request.

    Each is an object of OpenAI's interfaces (``{"type": "function", "function": {…}}``, or flat with ``name`` and
    ``parameters``), one of Anthropic's (``name`` and ``input_schema``) or MCP's (``inputSchema``), a custom tool
    (``{"type": "custom", "name": …, "format": {"type": "grammar", "syntax": "lark", "definition": …}}``), a class
    (pydantic, dataclass, ``TypedDict``: its fields are the arguments), an annotated function, or a ``Tool``.
    ``RequestError`` names the tool at fault by JSON Pointer, and a field that is misspelt. Names are unique. A
    tool that is strict and gives no parameters has none.

    >>> def add(a: int, b: int = 0) -> int: ...
    >>> tools_of([add, {"name": "now"}])[1]
    Tool(name='now', parameters=True, is_strict=None, input=None)
    """
    if isinstance(tools, Mapping | str | bytes) or not isinstance(tools, Iterable):
        way = ": write [tool] for a single one" if isinstance(tools, Mapping) or callable(tools) else ""
        error = RequestError(f"tools are a list, not {kind_of(tools)}{way}", "/tools")
        raise with_hint(error, "json.loads reads a text") if isinstance(tools, str | bytes) else error
    found: dict[str, Tool] = {}
    for index, tool in enumerate(tools):
        one = _tool(tool, f"/tools/{index}")
        one = one if one.place else replace(one, place=f"/tools/{index}")
        if one.name in found:
            first = found[one.name].pointer
            raise RequestError(f"two tools have the name {one.name!r}: this one and {first}", one.name_place)
        found[one.name] = one
    return list(found.values())


def _tool(tool: Any, pointer: str) -> Tool:
    if isinstance(tool, Tool):
        return tool
    if isinstance(tool, Mapping):
        return _of_object(tool, pointer)
    dump = getattr(tool, "model_dump", None)
    if callable(dump) and not isinstance(tool, type):
        return _of_object(dump(exclude_none=True), pointer)
    if tool is None or isinstance(tool, bool | int | float | str | list):  # What JSON can have in the place of a tool.
        error = RequestError(f"a tool is an object with type and function, not {kind_of(tool)}", pointer)
        raise with_hint(error, "a class or an annotated function is a tool too")
    if not (isinstance(tool, type) or inspect.isroutine(tool)):
        if callable(tool):
            error = RequestError(f"a tool is an annotated function, and {kind_of(tool)} is an object", pointer)
            raise with_hint(error, "write a function with annotations that calls it (def ...), and pass that")
        raise RequestError(
            f"a tool is an object with a name, a class or an annotated function, not {kind_of(tool)}", pointer
        )
    if inspect.isroutine(tool) and not any(name not in ("self", "cls") for name in inspect.signature(tool).parameters):
        return Tool(tool.__name__, {"type": "object", "properties": {}, "additionalProperties": False})
    try:
        found = output_type_of(tool)
    except (ArgumentError, UnsupportedError) as error:
        raise RequestError(f"{getattr(tool, '__name__', tool)} is no tool: {error}", pointer) from error
    if found.kind != "json_schema":
        raise RequestError(f"{found.name} has no named arguments: it is no tool", pointer)
    name, parameters = getattr(tool, "__name__", found.name), found.source
    if inspect.isroutine(tool):
        # What a function does is no part of its parameters.
        parameters = {key: value for key, value in parameters.items() if key != "description"}
    return Tool(name, parameters)


def _of_object(tool: Mapping[str, Any], pointer: str) -> Tool:
    kind = tool.get("type", "function")
    if kind == "custom":
        inner = tool.get("custom", tool)
        if isinstance(inner, Mapping):
            _check_fields(inner, pointer + ("/custom" if inner is not tool else ""), _CUSTOM_FIELDS)
        name = _name(inner, pointer + ("/custom" if inner is not tool else ""))
        place = pointer + ("/custom/format" if inner is not tool else "/format")
        is_nested = isinstance(inner.get("format"), Mapping) and "grammar" in inner["format"]
        place += "/grammar/definition" if is_nested else "/definition"
        outer = pointer + ("/custom/format" if inner is not tool else "/format")
        return Tool(name, input=_custom_input(inner.get("format"), outer), place=place)
    _refuse_other_shapes(tool, pointer)
    if kind != "function" and "name" not in tool and "parameters" not in tool:
        if meant := _type_meant(kind):
            raise RequestError(f"no tool has the type {shown(kind)}; did you mean {meant!r}?", f"{pointer}/type")
        raise RequestError(
            f"{kind!r} is a tool of a provider: give its name and its parameters, or leave it out", f"{pointer}/type"
        )
    inner = tool.get("function", tool)
    place = f"{pointer}/function" if inner is not tool else pointer
    if not isinstance(inner, Mapping):
        raise RequestError(f"the function of a tool is an object with a name, not {kind_of(inner)}", place)
    _check_fields(inner, place)
    if inner is not tool:
        _check_fields(tool, pointer)
    field_name = next((name for name in _SCHEMA_FIELDS if name in inner), "input_schema")
    parameters = inner.get(field_name)
    if parameters is not None and not isinstance(parameters, Mapping | bool):
        error = RequestError(
            f"the parameters of a tool are a JSON Schema, which is an object, not {kind_of(parameters)}",
            f"{place}/{field_name}",
        )
        raise with_hint(error, "json.loads reads a text") if isinstance(parameters, str) else error
    if isinstance(parameters, Mapping) and not _may_be_object(parameters.get("type", "object")):
        raise RequestError(
            f'the arguments of a call are an object, so the schema has the type "object", not {parameters["type"]!r}',
            f"{place}/{field_name}/type",
        )
    strict = inner.get("strict", tool.get("strict"))
    if strict is not None and not isinstance(strict, bool):
        raise RequestError("strict is true or false", f"{place if 'strict' in inner else pointer}/strict")
    if parameters is None and strict:
        # OpenAI: a function without parameters has none.
        parameters = NO_PARAMETERS
    place_of_parameters = f"{place}/{field_name}"
    if parameters is None:
        return Tool(_name(inner, place), True, strict, place=place_of_parameters, has_no_parameters=True)
    return Tool(_name(inner, place), parameters, strict, place=place_of_parameters)


_FUNCTION = '{"type": "function", "function": {"name": …, "parameters": …}}'
_OTHER_SHAPES = {
    "toolSpec": f"this is Bedrock's shape of a tool: write {_FUNCTION}",
    "functionDeclarations": f"this is Gemini's shape of tools: write {_FUNCTION} for each function",
    "function_declarations": f"this is Gemini's shape of tools: write {_FUNCTION} for each function",
}
"""Fields that hold a tool in other interfaces, and what to write in their place."""


def _refuse_other_shapes(tool: Mapping[str, Any], pointer: str) -> None:
    """``RequestError`` for a tool as another interface has it."""
    if "name" in tool or "function" in tool:
        return
    shape = next((name for name in _OTHER_SHAPES if name in tool), None)
    if shape is not None:
        raise RequestError(_OTHER_SHAPES[shape], f"{pointer}/{shape}")


def _type_meant(kind: Any) -> str:
    """The type of a tool that ``kind`` is a slip or a beginning of; empty if it is neither.

    >>> _type_meant("func"), _type_meant("web_search")
    ('function', '')
    """
    if not isinstance(kind, str):
        return ""
    types = ("function", "custom")
    begun = next((name for name in types if len(kind) >= 3 and name.startswith(kind.lower())), "")
    return begun or nearest(kind, types, 0.8)


def _may_be_object(kind: Any) -> bool:
    """Whether objects are of a type of JSON Schema. What is no type is refused when the schema is compiled."""
    kinds = kind if isinstance(kind, list) else [kind]
    return "object" in kinds or not all(isinstance(one, str) and one in _KINDS for one in kinds)


_KINDS = ("string", "integer", "number", "boolean", "null", "array")
_SCHEMA_FIELDS = ("parameters", "input_schema", "inputSchema")
"""The schema of arguments, as OpenAI, Anthropic and MCP name it."""
_FIELDS = ("type", "function", "name", "description", *_SCHEMA_FIELDS, "strict")
_CUSTOM_FIELDS = ("type", "custom", "name", "description", "format")
# Other names of the schema of arguments.
_PARAMETERS = ("arguments", "args", "params", "schema", "json_schema", "parameter")


def _check_fields(tool: Mapping[str, Any], pointer: str, known: Sequence[str] = _FIELDS) -> None:
    """``RequestError`` for a misspelt field. Others are no mistake: providers have fields of their own."""
    has_parameters = known is not _FIELDS or "function" in tool or any(name in tool for name in _SCHEMA_FIELDS)
    for field_name in tool:
        if field_name in known or not isinstance(field_name, str):
            continue
        near = nearest(field_name, [name for name in known if name not in tool], 0.8)
        meant = "parameters" if field_name in _PARAMETERS and not has_parameters else near
        if meant:
            raise RequestError(
                f"a tool has no field {field_name!r}; did you mean {meant!r}?", f"{pointer}/{escaped(field_name)}"
            )


def _name(tool: Any, pointer: str) -> str:
    name = tool.get("name") if isinstance(tool, Mapping) else None
    if not isinstance(name, str) or not name:
        is_there = isinstance(tool, Mapping) and "name" in tool
        raise RequestError(
            "a tool has a name, which is a text that is not empty", f"{pointer}/name" if is_there else pointer
        )
    if not is_unicode(name):
        raise RequestError("the name holds a lone surrogate, which is not text", f"{pointer}/name")
    return name


def _custom_input(format: Any, pointer: str) -> tuple[Literal["text", "lark", "regex"], str]:
    if format is None or (isinstance(format, Mapping) and format.get("type") == "text"):
        return "text", ""
    if not isinstance(format, Mapping) or format.get("type") != "grammar":
        pointer += "/type" if isinstance(format, Mapping) and "type" in format else ""
        raise RequestError('the format of a custom tool has the type "text" or "grammar"', pointer)
    inner = format.get("grammar", format)
    if "grammar" in format:
        pointer += "/grammar"
    if not isinstance(inner, Mapping):
        raise RequestError("the grammar of a custom tool is an object", pointer)
    syntax, definition = inner.get("syntax"), inner.get("definition")
    if syntax not in ("lark", "regex"):
        raise RequestError(
            f'the syntax of a custom tool is "lark" or "regex", not {shown(syntax)}',
            f"{pointer}/syntax" if "syntax" in inner else pointer,
        )
    if not isinstance(definition, str):
        if "definition" not in inner:
            _check_fields(inner, pointer, ("type", "grammar", "syntax", "definition"))
        raise RequestError(
            f"the definition of a custom tool is a text, not {kind_of(definition)}",
            f"{pointer}/definition" if "definition" in inner else pointer,
        )
    if not is_unicode(definition):
        raise RequestError("the definition holds a lone surrogate, which is not text", f"{pointer}/definition")
    return syntax, definition


_MOST_NAMES = 8
"""Names of tools that a message lists."""


def named(tools: Sequence[Tool], name: Any, pointer: str) -> Tool:
    """The tool with this name. ``RequestError`` where there is none."""
    for tool in tools:
        if tool.name == name:
            return tool
    names = [tool.name for tool in tools]
    known = ", ".join(map(repr, names[:_MOST_NAMES])) or "none"
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    raise RequestError(f"no tool has the name {name!r}; there are {known}{more}{meant(name, names)}", pointer)
