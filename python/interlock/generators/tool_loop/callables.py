"""What runs the tools of a loop: functions that are tools themselves, and those that are given for descriptions."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from interlock._core import ArgumentError
from interlock.generators.call_arguments.arguments import MISSING
from interlock.generators.tool_loop.awaited_functions import awaits_functions
from interlock.output_types import output_type_of
from interlock.tools import Tool, tools_of
from interlock.util.near_words import meant
from interlock.util.quoting import quoted

__all__ = ["callables_of"]

Read = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Makes the values that a function takes of the arguments that the model wrote."""


def callables_of(tools: Any, functions: Any) -> dict[str, tuple[Callable[..., Any], Read]]:
    """By the names of ``tools`` what is called for each, and what reads its arguments. ``ArgumentError`` where nothing
    runs a tool, where a function does not fit its tool, and for what is no list of tools.
    """
    if tools is MISSING or tools is None:
        raise ArgumentError(
            "the tools are missing: gen.tool_loop(prompt, [function, ...]). Without tools call the generator itself, "
            "gen(prompt)"
        )
    if not isinstance(tools, Sequence) or isinstance(tools, str):
        raise ArgumentError(f"tools are a list of functions, not {type(tools).__name__}: write [tool] for a single one")
    if not tools:
        raise ArgumentError("there are no tools: call the generator itself, gen(prompt)")
    if not isinstance(functions, Mapping | None):
        raise ArgumentError(
            f"functions is a dict of names of tools to what runs them, not {type(functions).__name__}: "
            'functions={"add": add}'
        )
    given = dict(functions or {})
    found: dict[str, tuple[Callable[..., Any], Read]] = {}
    for tool, one in zip(tools_of(list(tools)), tools):
        run = given.pop(tool.name, one if inspect.isroutine(one) else None)
        if run is None:
            takes = "It is called with "
            takes += f"an object of {tool.name}" if isinstance(one, type) else "the arguments by name"
            raise ArgumentError(
                f"nothing runs the tool {quoted(tool.name)}, which is described by a {_kind(one)}: pass "
                f"functions={{{tool.name!r}: function}}. {takes}"
            )
        if not callable(run):
            raise ArgumentError(f"functions[{tool.name!r}] is no function, but of the type {type(run).__name__}")
        if inspect.iscoroutinefunction(run) and not awaits_functions():
            raise ArgumentError(
                f"{getattr(run, '__name__', tool.name)} is an async function, and tool_loop awaits nothing: await "
                "gen.atool_loop, or wrap it in a function that calls asyncio.run"
            )
        if inspect.isroutine(one):
            found[tool.name] = run, _reader(one)
        elif isinstance(one, type):
            found[tool.name] = _of_instance(one, run), dict
        else:
            _check_parameters(tool, run)
            found[tool.name] = run, dict
    for name in given:
        known = ", ".join(map(repr, found))
        raise ArgumentError(f"functions has {quoted(name)}, and the tools are {known}{meant(name, list(found))}")
    return found


def _kind(tool: Any) -> str:
    return "class" if isinstance(tool, type) else type(tool).__name__


def _reader(function: Callable[..., Any]) -> Read:
    """Values of the types that a function is annotated with."""

    def read(arguments: Mapping[str, Any]) -> dict[str, Any]:
        if not inspect.signature(function).parameters:
            return dict(arguments)
        return dict(output_type_of(function).parse(json.dumps(arguments)))

    return read


def _of_instance(kind: type, function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, which takes an object of the class ``kind``, called with the fields of it."""

    @functools.wraps(function)
    def call(**arguments: Any) -> Any:
        return function(output_type_of(kind).parse(json.dumps(arguments)))

    return call


def _check_parameters(tool: Tool, function: Callable[..., Any]) -> None:
    """``ArgumentError`` for a function that cannot be called with the arguments which the schema of its tool names."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return
    schema = tool.parameters if isinstance(tool.parameters, Mapping) else {}
    named = schema.get("properties")
    names = set(named) if isinstance(named, Mapping) else {"input"} if tool.input is not None else None
    if names is None:
        return
    by_name = {one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)}
    is_open = any(one.kind is one.VAR_KEYWORD for one in parameters)
    if not is_open and (odd := sorted(names - by_name)):
        raise ArgumentError(
            f"the function of the tool {quoted(tool.name)} has no parameter {odd[0]!r}, which the tool has"
            f"{meant(odd[0], sorted(by_name))}"
        )
    for one in parameters:
        if one.default is one.empty and one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL) and one.name not in names:
            raise ArgumentError(
                f"the function of the tool {quoted(tool.name)} needs {one.name!r}, and the tool has no such parameter"
            )
