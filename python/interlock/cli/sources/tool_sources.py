"""The tools of a request as a source: everything that a model may write in one turn, in the notation of its format.

The text is a list of tools, or the body of a request that has one. Of a body its ``tool_choice``,
``parallel_tool_calls`` and format of the answer count too, as they do in a server.
"""

from __future__ import annotations

import argparse
import os
import pathlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import interlock
from interlock.cli.terminal.exits import UsageError
from interlock.cli.terminal.place_in_source import PlaceInSource
from interlock.util.client_messages import without_hint
from interlock.util.near_words import nearest

MODES = ("auto", "required", "none")
"""What ``--tool-choice`` takes besides the name of a tool."""
EXAMPLE = """'[{"name": "now"}]' --tool-format hermes"""
MISSING = "--tool-format NAME says how the model writes calls: hermes, qwen3_coder, llama3_json, mistral and others"


@dataclass(frozen=True)
class Request:
    """The tools, and the options of ``Index.from_tools``."""

    tools: Any
    options: dict[str, Any]


def add_arguments(group: Any) -> None:
    """Add the options of tools to those of sources."""
    group.add_argument(
        "--tool-format",
        metavar="FORMAT",
        help="of tools, how the model writes calls: the name of a format (hermes, qwen3_coder, ...), or a .toml file",
    )
    group.add_argument(
        "--tool-choice",
        metavar="CHOICE",
        help="of tools: auto, required, none, or the name of the tool that is called (default: the request's, or auto)",
    )


def format_names() -> tuple[str, ...]:
    """The names of the formats of tool calls."""
    from interlock.tools.notations.format_files import format_names as names

    return names()


def is_asked(args: argparse.Namespace) -> bool:
    """Whether an option says that JSON in the place of a schema may be a list of tools."""
    return getattr(args, "tool_format", None) is not None


def request(document: Any, args: argparse.Namespace, name: str) -> Request:
    """What a list of tools, or a body with one, asks under the options. ``UsageError`` for options that fit no tool or
    no format, ``RequestError`` with the place for what is wrong in the document.
    """
    from interlock.tools import format_of_request

    if not is_asked(args):
        raise UsageError(f"{name} is a list of tools, and what a model writes depends on the format of calls", MISSING)
    options: dict[str, Any] = {"format": _format(args.tool_format)}
    tools = document
    if isinstance(document, Mapping):
        if "tools" not in document:
            error = interlock.RequestError("this is neither a list of tools nor a request with one", "")
            error.located = _beside(document)  # type: ignore[attr-defined]
            raise error
        tools = document["tools"]
        for field, option in (("tool_choice", "tool_choice"), ("parallel_tool_calls", "parallel")):
            if document.get(field) is not None:
                options[option] = document[field]
        if (asked := format_of_request(document)) is not None:
            options["response_format"] = asked
    if args.tool_choice is not None:
        options["tool_choice"] = _choice(args.tool_choice, tools)
    return Request(tools, options)


def _beside(document: Mapping[str, Any]) -> PlaceInSource:
    """What to do about an object without tools."""
    slip = nearest("tools", document)
    single = "name" in document or "function" in document
    way = "write it as a list: [...]" if single else f"did you mean tools by {slip}?" if slip else ""
    return PlaceInSource("", 0, 0, way, found=False)


def _format(word: str) -> Any:
    """The format that a name or a file stands for."""
    from interlock.tools.errors import ToolFormatError
    from interlock.tools.notations.format_files import format_hint, tool_format
    from interlock.tools.notations.parser_names import format_of_parser

    is_file = word.endswith(".toml") or os.sep in word
    if not is_file and format_of_parser(word) not in format_names():
        way = format_hint(word).rstrip() or f"there are {', '.join(format_names())}; or a .toml file"
        raise UsageError(f"--tool-format {word}: no format of tool calls has this name", way)
    try:
        return tool_format(pathlib.Path(word) if is_file else word)
    except ToolFormatError as error:
        raise UsageError(f"--tool-format {word}: {without_hint(error)}", error.hint or "") from error


def _choice(word: str, tools: Any) -> Any:
    """The ``tool_choice`` that a word stands for. ``UsageError`` for what no tool is named."""
    from interlock.tools.requests.tool_list import tools_of

    if word in (*MODES, "any"):
        return word
    names = [tool.name for tool in tools_of(tools)]
    if word not in names:
        meant = nearest(word, [*names, *MODES])
        way = f"did you mean {meant}?" if meant else f"it is {', '.join(MODES)}, or one of {', '.join(names)}"
        raise UsageError(f"--tool-choice {word}: no tool has this name", way)
    return {"name": word}


def place_of(error: interlock.InterlockError, text: str) -> PlaceInSource | None:
    """Where an error of tools lies in the text: its pointer begins at a request that has them."""
    from interlock import explain
    from interlock.cli.sources.locate_error import node_at

    pointer = getattr(error, "pointer", None)
    if pointer is None:
        return None
    document = explain.parse(text)
    if document.kind == "array":
        pointer = pointer.removeprefix("/tools")
    node = node_at(document, pointer)
    if node is None:
        return None
    for member in node.members:
        if member.key == error.keyword:
            node = member.value
    is_large = node.kind in ("object", "array")
    return PlaceInSource(text, node.start, node.start + 1 if is_large else node.end)
