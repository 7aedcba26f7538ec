"""Tags of single calls and of sections of calls, in the notations of a tool format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

from interlock.tools.errors import RequestError, ToolFormatError
from interlock.tools.notations import template
from interlock.tools.notations.argument_writing import type_text
from interlock.tools.notations.escapes import escape
from interlock.tools.notations.render import written_name
from interlock.tools.notations.tool_format import Notation, ToolFormat
from interlock.tools.requests.tool_list import Tool
from interlock.tools.spec import nodes

__all__ = ["CUSTOM_INPUT", "call_tag", "section", "trigger_of"]

#: The one argument of a custom tool.
CUSTOM_INPUT = "input"


def call_tag(form: ToolFormat, notation: Notation, tool: Tool, strict: bool | None) -> nodes.Tag:
    """One call of one tool: the begin with its name, the arguments, the end."""
    try:
        name = written_name(form, notation, tool.name)
    except ToolFormatError as error:
        raise RequestError(str(error), tool.name_place) from error
    content = arguments_of(form, tool, strict)
    begin, ids = _split(form, notation.begin, name)
    end, end_ids = _split(form, notation.end, name)
    if ids or end_ids:
        inner = nodes.Tag("", content, ("",), nodes.Event("arguments"))
        content = nodes.Sequence((*ids, inner, *([nodes.ConstString(end)] if end_ids and end else []), *end_ids[:-1]))
    closer = _text(end_ids[-1]) if end_ids else end
    return nodes.Tag(begin, content, (closer,), nodes.Event("call", tool.name))


def _text(node: Any) -> str:
    return str(node.value) if isinstance(node, nodes.ConstString) else ""


def _split(form: ToolFormat, delimiter: str, name: str) -> tuple[str, list[nodes.Format]]:
    """The literal that begins a delimiter, and what follows it from its first identifier on."""
    literal = ""
    rest: list[nodes.Format] = []
    for kind, text in template.pieces(delimiter):
        if kind == "placeholder" and text == "id":
            identifier = nodes.Event("id", form.id.prefix_of(name))
            rest.append(nodes.Tag("", nodes.Regex(form.id.pattern), ("",), identifier))
        else:
            text = name if kind == "placeholder" else text
            if not rest:
                literal += text
            elif isinstance(last := rest[-1], nodes.ConstString):
                rest[-1] = nodes.ConstString(last.value + text)
            else:
                rest.append(nodes.ConstString(text))
    return literal, rest


def arguments_of(form: ToolFormat, tool: Tool, strict: bool | None) -> nodes.Format:
    """What stands between the begin and the end of a call."""
    if tool.input is None:
        enforced = strict if strict is not None else tool.is_strict is not False
        schema = tool.parameters if enforced and tool.parameters is not True else {"type": "object"}
        if schema is False:
            raise RequestError(
                f"the parameters of {tool.name!r} are false: no call of it is possible", tool.place or "/tools"
            )
        return nodes.JsonSchema(schema, form.arguments)
    syntax, definition = tool.input
    inner: nodes.Format = nodes.AnyText()
    if strict is not False and syntax == "regex":
        inner = nodes.Regex(definition)
    elif strict is not False and syntax == "lark":
        inner = nodes.GrammarText(definition, "lark")
    return _custom(form, inner)


def _custom(form: ToolFormat, inner: nodes.Format) -> nodes.Format:
    """The one string argument of a custom tool, in the encoding of the format."""
    style = form.arguments
    quoted = nodes.Quoted(inner, style)
    if style.encoding == "json":
        return nodes.Sequence((nodes.ConstString(f'{{"{CUSTOM_INPUT}": '), quoted, nodes.ConstString("}")))
    if style.encoding == "python":
        return nodes.Sequence((nodes.ConstString(f"{CUSTOM_INPUT}="), quoted))
    if style.encoding == "gemma":
        return nodes.Sequence((nodes.ConstString(f"{{{CUSTOM_INPUT}:"), quoted, nodes.ConstString("}")))
    if style.encoding != "tagged":
        assert_never(style.encoding)
    values = {"key": escape(CUSTOM_INPUT, style.key_escape), "type": type_text(style, "")}
    begin, end = template.fill(style.begin, values), template.fill(style.end, values)
    event = nodes.Event("argument", CUSTOM_INPUT)
    if not style.string_begin:
        return nodes.Tag(begin, quoted, (end,), event)
    # The delimiters around a string are no part of it, and none begins inside of a bare one.
    bare = nodes.Quoted(nodes.AnyText((style.string_begin,)), style) if isinstance(inner, nodes.AnyText) else quoted
    marked = nodes.Tag(begin + style.string_begin, quoted, (style.string_end + end,), event)
    return nodes.Or((nodes.Tag(begin, bare, (end,), event), marked))


def section(notation: Notation, tags: Sequence[nodes.Tag], counts: dict[str, Any]) -> nodes.Format:
    """A whole section of calls and nothing else. ``counts`` are the bounds on calls."""
    others = notation.other_separators
    separator = (notation.separator, *others) if others else notation.separator
    inner = nodes.TagsWithSeparator(tuple(tags), separator, **counts)
    if not notation.section_begin:
        return inner
    return nodes.Tag(notation.section_begin, inner, (notation.section_end,))


def trigger_of(form: ToolFormat, begin: str) -> str:
    """The beginning of a delimiter that shows that a call comes: its first special token, else all but white space."""
    for token in sorted(form.special_tokens, key=len, reverse=True):
        if begin.startswith(token):
            return token
    return begin.rstrip() or begin
