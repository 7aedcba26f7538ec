"""Writes reasoning, text and tool calls as a tool format has them: what a model of the family would have written."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from interlock.tools.errors import ToolFormatError
from interlock.tools.notations import template
from interlock.tools.notations.argument_writing import write_arguments
from interlock.tools.notations.escapes import escape
from interlock.tools.notations.format_files import tool_format
from interlock.tools.notations.format_marks import marks_of
from interlock.tools.notations.json_writing import json_writing
from interlock.tools.notations.tool_format import Layout, Notation, ToolFormat
from interlock.util.argument_types import require

__all__ = ["Call", "call_of", "render", "render_calls"]


@dataclass(frozen=True)
class Call:
    """One tool call: the name of the tool and its arguments.

    >>> Call("get_weather", {"city": "Rome"}).arguments["city"]
    'Rome'
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    id: str = field(default="", compare=False)
    """The identifier that a client knows the call by: the one in the text, where the format has one."""

    def __post_init__(self) -> None:
        require(name=(self.name, "text"), id=(self.id, "text"))
        if not isinstance(self.arguments, Mapping):
            raise TypeError(f"arguments must be a dict of values by name, not {type(self.arguments).__name__}")


def call_of(call: Call | Mapping[str, Any]) -> Call:
    """A call from OpenAI's shapes: ``{"type": "function", "function": {"name", "arguments"}}`` or
    ``{"name", "arguments"}``, where arguments are an object or its JSON text. ``ToolFormatError`` for others.

    >>> call_of({"function": {"name": "add", "arguments": '{"a": 1}'}})
    Call(name='add', arguments={'a': 1}, id='')
    """
    if isinstance(call, Call):
        return call
    if not isinstance(call, Mapping):
        raise ToolFormatError(f"a call is a Call or an object with name and arguments, not {type(call).__name__}")
    inner = call.get("function", call)
    name = inner.get("name") if isinstance(inner, Mapping) else None
    if not isinstance(name, str):
        raise ToolFormatError("a call has no name")
    arguments = inner.get("arguments", inner.get("parameters", {}))
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError as error:
            raise ToolFormatError(f"the arguments of {name!r} are not JSON: {error}") from error
    if not isinstance(arguments, Mapping):
        raise ToolFormatError(f"the arguments of {name!r} are no object")
    return Call(name, arguments, str(call.get("id") or ""))


def render(
    format: str | os.PathLike[str] | Mapping[str, Any] | ToolFormat,
    calls: Sequence[Call | Mapping[str, Any]] = (),
    text: str = "",
    reasoning: str | None = None,
    *,
    whitespace: Literal["flexible", "compact"] = "flexible",
) -> str:
    """A model's whole turn: reasoning, then text, then the calls, as the format has them.

    ``reasoning=None`` leaves reasoning out, delimiters and all. The text is written as it is. ``ToolFormatError`` for
    what the format cannot hold: reasoning or a string that contains its own closing delimiter.

    The turn is whole. Where the prompt ends with the beginning of a turn, as that of ``kimi_k3`` does with
    ``<|open|>response<|sep|>``, an index of ``Index.from_tools`` accepts what comes behind this beginning alone.

    Models put blanks between the parts of JSON. ``whitespace="compact"`` writes none, as an index of
    ``Index.from_tools(..., whitespace="compact")`` demands.

    >>> render("mistral", [Call("add", {"a": 1}), Call("now")], text="Let me see.")
    'Let me see.[TOOL_CALLS]add[ARGS]{"a": 1}[TOOL_CALLS]now[ARGS]{}'
    """
    require(text=(text, "text"), reasoning=(reasoning, "text?"))
    is_compact = json_writing(whitespace, "any").most_whitespace == 0
    if isinstance(calls, str | Mapping) or not isinstance(calls, Iterable):
        raise ToolFormatError(f"calls are a list of calls, not {type(calls).__name__}")
    form = tool_format(format)
    found = [call_of(call) for call in calls]
    thought = ""
    if reasoning is not None:
        if form.reasoning is None:
            raise ToolFormatError(f"the format {form.name} has no reasoning")
        if form.reasoning.end in reasoning:
            raise ToolFormatError(f"the reasoning contains {form.reasoning.end!r}, which ends it")
        thought = form.reasoning.begin + reasoning + form.reasoning.end
    layout = form.layout
    if layout.kind == "messages":
        return _messages(form, found, text, thought, is_compact)
    written = render_calls(form, found, is_compact=is_compact)
    if layout.kind == "blocks":
        if layout.text_end in text:
            raise ToolFormatError(f"the text contains {layout.text_end!r}, which ends it")
        return thought + layout.text_begin + text + layout.text_end + written + layout.end
    return thought + (form.reasoning.after if thought and form.reasoning else "") + text + written


def _messages(form: ToolFormat, calls: Sequence[Call], text: str, thought: str, is_compact: bool) -> str:
    layout: Layout = form.layout
    messages = [thought] if thought else []
    if text:
        is_preamble = bool(calls and layout.preamble_begin)
        begin = layout.preamble_begin if is_preamble else layout.text_begin
        end = layout.preamble_end if is_preamble else layout.text_end
        if end in text:
            raise ToolFormatError(f"the text contains {end!r}, which ends it")
        messages.append(begin + text + end)
    messages += [_call(form, form.notations[0], call, index, is_compact) for index, call in enumerate(calls)]
    return layout.separator.join(messages) + layout.end


def render_calls(form: ToolFormat, calls: Sequence[Call], notation: int = 0, *, is_compact: bool = False) -> str:
    """The section of calls alone, in the notation with this number; ``""`` for no calls. ``is_compact`` writes JSON
    without blanks.

    >>> from interlock.tools import tool_format
    >>> render_calls(tool_format("lfm2"), [Call("add", {"a": 1})])
    '<|tool_call_start|>[add(a=1)]<|tool_call_end|>'
    """
    if not calls:
        return ""
    chosen = form.notations[notation]
    inner = chosen.separator.join(_call(form, chosen, call, index, is_compact) for index, call in enumerate(calls))
    return chosen.section_begin + inner + chosen.section_end


def _call(form: ToolFormat, notation: Notation, call: Call, index: int, is_compact: bool) -> str:
    name = written_name(form, notation, call.name)
    values = {"name": name, "id": call.id.removeprefix(form.id.prefix_of(name)) or form.id.of(index)}
    arguments = write_arguments(form.arguments, call.arguments, is_compact)
    # Where strings have quotes the closer may stand inside of one: its reader knows where the arguments end.
    if form.arguments.encoding == "tagged" and notation.end and notation.end in arguments:
        raise ToolFormatError(f"an argument of {call.name!r} contains {notation.end!r}, which ends the call")
    return template.fill(notation.begin, values) + arguments + template.fill(notation.end, values)


def written_name(form: ToolFormat, notation: Notation, name: str) -> str:
    """The spelling of a tool's name. ``ToolFormatError`` for a name that the notation cannot hold.

    >>> from interlock.tools import tool_format
    >>> written_name(tool_format("hermes"), tool_format("hermes").notations[0], 'say "hi"')
    'say \\\\"hi\\\\"'
    """
    if not name:
        raise ToolFormatError("a tool has an empty name")
    if form.arguments.encoding == "python" and not all(part.isidentifier() for part in name.split(".")):
        raise ToolFormatError(f"the name {name!r} cannot be written as a function of Python, as {form.name} does")
    spelled = escape(name, form.name_escape)
    for stop in _ends_of_name(notation.begin, form.arguments.begin):
        if stop in spelled:
            raise ToolFormatError(f"the name {name!r} contains {stop!r}, which ends a name in {form.name}")
    for mark in marks_of(form) if "<" in spelled else form.special_tokens:
        if mark in spelled:
            raise ToolFormatError(f"the name {name!r} contains {mark!r}, a delimiter of {form.name}")
    return spelled


@functools.lru_cache(maxsize=64)
def _ends_of_name(begin: str, begin_of_arguments: str) -> tuple[str, ...]:
    """What shows that the name of a tool has ended, in the begin of a call."""
    after = list(template.literal_after(begin, "name"))
    after += [template.pieces(begin_of_arguments)[0][1]] if begin_of_arguments and "" in after else []
    return tuple(literal.strip() or literal for literal in after if literal)
