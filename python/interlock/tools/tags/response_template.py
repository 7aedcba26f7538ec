"""Response templates of transformers: a tokenizer's own description of its model's outputs, as structural tags.

A response template names the regions of an output (``thinking``, ``content``, ``tool_calls``), the texts or patterns
between which they stand, and how their contents are written.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from interlock._core import UnsupportedError
from interlock.tools.errors import RequestError
from interlock.tools.notations.tool_format import Arguments
from interlock.tools.requests.answer_format import Answer
from interlock.tools.requests.tool_choice import Mode
from interlock.tools.requests.tool_list import Tool
from interlock.tools.spec import nodes
from interlock.tools.spec.fields import Fields
from interlock.tools.tag_grammars.delimiter_patterns import (
    alternatives,
    delimiter,
    escaped,
    group_of,
    is_optional_space,
    with_group,
)

__all__ = ["ResponseTemplate", "is_response_template"]

_SPACE = nodes.Regex("[ \\n\\t\\r]*")
_FIELDS = ("thinking", "content", "tool_calls")
#: What may stand in front of a region.
Before = tuple[nodes.Format, ...]
_PLACEHOLDER = re.compile(r"\{(\w+(?:\.\w+)*)\}")


def is_response_template(value: Any) -> bool:
    """Whether a mapping is a response template, and no tool format.

    >>> is_response_template({"start_anchor": "<|assistant|>", "fields": {"content": {}}})
    True
    """
    return isinstance(value, Mapping) and "fields" in value and "notation" not in value


class _Region:
    """One region: what opens and closes it, and how its content is written."""

    def __init__(self, name: str, fields: Fields) -> None:
        self.name, self.pointer = name, fields.pointer
        self.opens, self.closes = self._delimiter(fields, "open"), self._delimiter(fields, "close")
        self.content = str(fields.optional("content", "text"))
        self.arguments = dict(fields.optional("content_args", {}))
        self.repeats = bool(fields.optional("repeats", False))
        fields.optional("join", None)
        self.is_optional = bool(fields.optional("optional", True))
        self.transform = fields.optional("transform", None)
        self.transforms_each = bool(fields.optional("transform_each", False))
        fields.done()

    def _delimiter(self, fields: Fields, key: str) -> list[str]:
        """The patterns of a delimiter; none where there is none."""
        given, pattern = fields.optional(key, None), fields.optional(f"{key}_pattern", None)
        if given is not None and pattern is not None:
            fields.refuse(key, f"{key} and {key}_pattern cannot both be there")
        if pattern is not None:
            try:
                re.compile(pattern)
            except (re.error, TypeError) as error:
                fields.refuse(f"{key}_pattern", f"{pattern!r} is no pattern: {error}")
            return alternatives(str(pattern), fields.at(f"{key}_pattern"))
        texts = [given] if isinstance(given, str) else list(given or ())
        if not all(isinstance(text, str) and text for text in texts):
            fields.refuse(key, "a text or a list of texts is needed, none of them empty")
        return [escaped(text) for text in texts]

    def refuse(self, key: str, reason: str) -> NoReturn:
        """Raise ``UnsupportedError`` with ``reason`` at the field ``key`` of the region."""
        raise UnsupportedError(f"at {self.pointer}/{key}: {reason}")

    def open(self, captured: Mapping[str, str] | None = None) -> Any:
        """What opens the region, as a delimiter; ``captured`` has the values of its groups."""
        return _delimiter([self._parts(source, "open", captured) for source in self.opens])

    def close(self) -> Any:
        """What closes the region, as a delimiter."""
        return _delimiter([self._parts(source, "close", None) for source in self.closes])

    def _parts(self, source: str, key: str, captured: Mapping[str, str] | None) -> nodes.Format:
        for name, value in (captured or {}).items():
            source = with_group(source, name, value, f"{self.pointer}/{key}_pattern")
        return _sequence(delimiter(source, f"{self.pointer}/{key}_pattern"))


class ResponseTemplate:
    """A response template, read and checked. ``StructuralTagError`` with a place for a mistake in it.

    >>> fields = {"content": {"open": "<|text|>", "close": "<|end|>"}}
    >>> template = ResponseTemplate({"start_anchor": "<|assistant|>", "fields": fields})
    >>> template.turn([], "none", None, {}, "none", None).begin
    Sequence(elements=(ConstString(value='<|text|>'),))
    """

    def __init__(self, template: Any, answer: Answer | None = None) -> None:
        self.response = answer
        fields = Fields(template, "/format", "a response template")
        version = fields.optional("version", 1)
        if version != 1:
            fields.refuse("version", f"version 1 is known, not {version!r}")
        fields.optional("defaults", {})
        anchor = fields.optional("start_anchor", None)
        fields.optional("start_anchor_pattern", None)
        self.anchor = anchor if isinstance(anchor, str) else ""
        inner = Fields(fields.take("fields"), fields.at("fields"), "the fields of a response template")
        self.regions: dict[str, _Region] = {}
        for name in list(inner.left):
            if name not in _FIELDS:
                raise UnsupportedError(f"at {inner.at(name)}: the regions that are known are {', '.join(_FIELDS)}")
            self.regions[name] = _Region(name, Fields(inner.take(name), inner.at(name), f"the region {name}"))
        fields.done()
        open_ended = [name for name, region in self.regions.items() if not region.opens]
        if len(open_ended) > 1 or open_ended not in ([], ["content"]):
            raise UnsupportedError(f"at {inner.pointer}: of the regions only content may have nothing that opens it")

    # --- the whole turn -----------------------------------------------------------------------------------------

    def turn(
        self,
        tools: Sequence[Tool],
        mode: Mode,
        strict: bool | None,
        counts: Mapping[str, Any],
        reasoning: str,
        is_open: bool | None,
        max_reasoning_tokens: int | None = None,
    ) -> nodes.Format:
        """Everything that a model may write in one turn; the arguments are those of ``structural_tag``."""
        thought = self._thought(reasoning, bool(is_open), max_reasoning_tokens)
        answer = self._answer(tools, mode, strict, counts, ())
        if thought is None:
            return answer
        whole = _sequence((thought, self._answer(tools, mode, strict, counts, (self._between(),))))
        return whole if reasoning == "required" else nodes.Or((whole, answer))

    def _answer(
        self, tools: Sequence[Tool], mode: Mode, strict: bool | None, counts: Mapping[str, Any], before: Before
    ) -> nodes.Format:
        """Everything behind the reasoning. ``before`` stands before the first region."""
        calls = None if mode == "none" else self._calls(tools, strict, counts, before)
        if mode == "required" and calls is not None:
            return calls
        content = self.regions.get("content")
        if content is None or not content.opens:
            if self.response is not None:
                end = content.close() if content is not None and content.closes else ("",)
                answer = self.response.tag(nodes.Sequence(before) if before else "", end)
                return answer if calls is None else nodes.Or((calls, answer))
            return self._open_answer(content, calls, self._calls(tools, strict, counts, ()) if calls else None)
        text = self._text(content, "text", _begin(before, content.open()))
        if self.response is not None:
            text = self.response.tag(text.begin, text.end)
            return text if calls is None else nodes.Or((calls, text))
        if calls is None:
            return text
        more = nodes.Optional(self._calls(tools, strict, counts, (self._between(),)))
        return nodes.Or((_sequence((text, more)), calls))

    def _between(self) -> nodes.Format:
        """What may stand between two regions: white space, and what begins a message."""
        if not self.anchor:
            return _SPACE
        return nodes.Or((_SPACE, nodes.ConstString(self.anchor)))

    def _openers(self) -> tuple[nodes.Regex, ...]:
        """What stands in no text outside of regions."""
        return tuple(nodes.Regex(source) for region in self.regions.values() for source in region.opens)

    def _thought(self, reasoning: str, is_open: bool, most: int | None) -> nodes.Format | None:
        region = self.regions.get("thinking")
        if reasoning == "none":
            return None
        if region is None:
            if reasoning == "optional":
                return None
            raise RequestError("the response template has no region thinking", "/reasoning")
        if not region.closes:
            region.refuse("close", "nothing ends the reasoning")
        thought = self._text(region, "reasoning", "" if is_open else region.open(), most)
        return nodes.Plus(thought) if region.repeats else thought

    def _text(self, region: _Region, kind: Any, begin: Any, most: int | None = None) -> nodes.Tag:
        if region.content != "text" or region.transform is not None:
            region.refuse("content", f"the {region.name} is text, without a transform")
        if not region.closes:
            region.refuse("close", f"nothing ends the {region.name}")
        return nodes.Tag(begin, nodes.AnyText((), most), region.close(), nodes.Event(kind))

    def _open_answer(
        self, content: _Region | None, calls: nodes.Format | None, later: nodes.Format | None
    ) -> nodes.Format:
        """Text with calls in it, where nothing opens the text. ``later`` are the calls behind a text."""
        if content is not None and content.closes:
            text: nodes.Format = nodes.Tag("", nodes.AnyText(self._openers()), content.close(), nodes.Event("text"))
            return text if calls is None else nodes.Or((text, calls))
        plain = nodes.AnyText(self._openers())
        if calls is None:
            return plain
        # Behind the calls text goes on.
        return nodes.Or((_sequence((plain, later or calls, plain)), plain))

    # --- calls --------------------------------------------------------------------------------------------------

    def _calls(
        self, tools: Sequence[Tool], strict: bool | None, counts: Mapping[str, Any], before: Before
    ) -> nodes.Format:
        """At least one call, and as many as ``counts`` say. ``before`` stands before the first."""
        region = self.regions.get("tool_calls")
        if region is None:
            raise RequestError("the response template has no region tool_calls", "/tools")
        least, most = max(int(counts.get("min_calls") or 0), 1), counts.get("max_calls")
        if counts.get("unique") and most != 1:
            raise UnsupportedError("at /unique: each tool at most once is not there for response templates")
        writer = _CallWriter(region, strict)
        if region.transforms_each:
            comma = (_SPACE, nodes.ConstString(","), _SPACE)
            later = [writer.call(tool, comma) for tool in tools]
            items = _many([writer.call(tool) for tool in tools], later, least, most)
            begin = _begin(before, region.open(), _SPACE, nodes.ConstString("["), _SPACE)
            closer = (region.close(),) if region.closes else ()
            return nodes.Tag(begin, items, nodes.Sequence((_SPACE, nodes.ConstString("]"), _SPACE, *closer)))
        if not region.repeats:
            if least > 1:
                region.refuse("repeats", "only one call can be written")
            most = 1
        if not region.closes and most != 1:
            region.refuse("close", "nothing ends a call")
        first = [writer.call(tool, before) for tool in tools]
        return _many(first, [writer.call(tool, (self._between(),)) for tool in tools], least, most)


class _CallWriter:
    """Writes the calls of one region."""

    def __init__(self, region: _Region, strict: bool | None) -> None:
        self.region, self.strict = region, strict
        #: The named group of what opens the region, or the member of the content, that is the name.
        self.name_group, self.name_key, self.key_pattern = "", "", ""
        #: The member of the content that is the arguments; none where the content is.
        self.arguments_key = ""
        self._read_transform()
        self.style = self._style()

    def _read_transform(self) -> None:
        region, found = self.region, self.region.transform
        function = found.get("function", found) if isinstance(found, Mapping) else found
        if function == "{content}" and not region.transforms_each:
            self.name_key, self.arguments_key = "name", "arguments"
            return
        if not isinstance(function, Mapping) or not {"name", "arguments"} <= set(function):
            region.refuse("transform", "it must say where the name and the arguments of a call are")
        names, arguments = self._path(function["name"]), self._path(function["arguments"])
        if region.transforms_each:
            if len(names) != 1 or len(arguments) != 1:
                region.refuse("transform", "the name and the arguments of each call are members of it")
            self.name_key, self.arguments_key = names[0], arguments[0]
            return
        if names[0] == "content" and len(names) == 2:
            self.name_key = names[1]
        elif len(names) == 1:
            self.name_group = names[0]
        else:
            region.refuse("transform", "the name of a call is a named group or a member of the content")
        if arguments[0] != "content" or len(arguments) != (2 if self.name_key else 1):
            region.refuse("transform", "the arguments of a call are the content, or a member beside the name")
        self.arguments_key = arguments[1] if self.name_key else ""

    def _path(self, value: Any) -> list[str]:
        found = _PLACEHOLDER.fullmatch(value) if isinstance(value, str) else None
        if found is None:
            self.region.refuse("transform", f"{value!r} is no placeholder")
        return found[1].split(".")

    def _style(self) -> Arguments:
        """How the content writes arguments."""
        region, given = self.region, self.region.arguments
        if region.content == "json":
            quotes = given.get("string_delims") or []
            if not quotes and not given.get("unquoted_keys"):
                return Arguments()
            if len(quotes) != 1 or quotes[0][0] != quotes[0][1] or not given.get("unquoted_keys"):
                region.refuse("content_args", "JSON in another dialect has one quote for strings, and keys without")
            if self.name_key:
                region.refuse("content_args", "JSON in another dialect holds the arguments alone")
            return Arguments("gemma", quote=quotes[0][0])
        parser = given.get("value_parser") or {"name": "text"}
        name, options = parser.get("name", "text"), parser.get("args") or {}
        if region.content in ("xml-inline", "kv-lines") and self.name_key:
            region.refuse("transform", f"the name of a call is no part of {region.content}")
        if name != "text" and not (name == "json" and options.get("allow_non_json")):
            region.refuse("content_args/value_parser", "values are texts, or JSON with allow_non_json")
        if region.content == "kv-lines":
            begin = "${key}" + given.get("kv_sep", ":")
            return Arguments("tagged", begin=begin, end=given.get("line_sep", "\n"))
        if region.content == "xml-inline":
            return self._inline(str(given.get("tag_pattern", "")))
        region.refuse("content", f"calls are json, xml-inline or kv-lines, not {region.content}")

    def _inline(self, source: str) -> Arguments:
        """The style of parameters that a pattern with the groups ``key`` and ``value`` finds."""
        place = f"{self.region.pointer}/content_args/tag_pattern"
        key = group_of(source, "key", place)
        value = group_of(key[2], "value", place) if key else None
        if key is None or value is None:
            self.region.refuse("content_args/tag_pattern", "it needs the groups key and, behind it, value")
        self.key_pattern = key[1]
        texts = []
        for part in (key[0], value[0], value[2]):
            pieces = delimiter(part, place)
            spaces = [piece for piece in pieces if is_optional_space(piece)]
            if any(not isinstance(piece, nodes.ConstString) for piece in pieces if piece not in spaces):
                self.region.refuse("content_args/tag_pattern", f"{part!r} is neither text nor white space")
            texts.append("".join(piece.value for piece in pieces if isinstance(piece, nodes.ConstString)))
        return Arguments("tagged", begin=f"{texts[0]}${{key}}{texts[1]}", end=texts[2], whitespace=True)

    def call(self, tool: Tool, before: Before = ()) -> nodes.Tag:
        """One call of one tool behind ``before``, between its delimiters unless the region holds several."""
        if tool.input is not None:
            self.region.refuse("content", f"the custom tool {tool.name!r} needs a tool format")
        enforced = self.strict if self.strict is not None else tool.is_strict is not False
        schema = tool.parameters if enforced and tool.parameters is not True else {"type": "object"}
        if self.key_pattern and isinstance(schema, Mapping):
            odd = [key for key in schema.get("properties") or () if not re.fullmatch(self.key_pattern, key)]
            if odd:
                place = f"{self.region.pointer}/content_args/tag_pattern"
                reason = f"the parameter {odd[0]!r} of {tool.name!r} does not match the group key"
                raise RequestError(reason, place)
        arguments = nodes.Tag("", nodes.JsonSchema(schema, self.style), ("",), nodes.Event("arguments"))
        inner: tuple[nodes.Format, ...] = (arguments,)
        captured: dict[str, str] = {}
        if self.name_key:
            inner = _member(self.name_key, nodes.ConstString(_quoted(tool.name)), first="{")
            inner += (*_member(self.arguments_key, arguments, first=","), _SPACE, nodes.ConstString("}"))
        elif self.style.encoding == "tagged":
            inner = (_SPACE, arguments, _SPACE) if self.style.whitespace else (_SPACE, arguments)
        else:
            inner = (_SPACE, arguments, _SPACE)
        if self.name_group:
            captured[self.name_group] = tool.name
        event = nodes.Event("call", tool.name)
        if self.region.transforms_each:
            return nodes.Tag(nodes.Sequence(before) if before else "", _sequence(inner), ("",), event)
        space = (_SPACE,) if self.name_key else ()
        end = self.region.close() if self.region.closes else ("",)
        begin = _begin(before, self.region.open(captured))
        return nodes.Tag(begin, _sequence((*space, *inner, *space)), end, event)


def _member(key: str, value: nodes.Format, *, first: str) -> tuple[nodes.Format, ...]:
    """A member of a JSON object, with what stands before it."""
    name = (nodes.ConstString(first), _SPACE, nodes.ConstString(_quoted(key)), _SPACE, nodes.ConstString(":"), _SPACE)
    return (*(() if first == "{" else (_SPACE,)), *name, value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _many(first: Sequence[nodes.Format], later: Sequence[nodes.Format], least: int, most: int | None) -> nodes.Format:
    """One of ``first``, and then some of ``later``: at least ``least`` and at most ``most`` together."""
    one, more = (found[0] if len(found) == 1 else nodes.Or(tuple(found)) for found in (first, later))
    if most == 1:
        return one
    return _sequence((one, nodes.Repeat(least - 1, -1 if most is None else most - 1, more)))


def _begin(before: Before, *parts: Any) -> Any:
    """The begin of a tag with something in front of it."""
    return _sequence((*before, *parts)) if before or len(parts) > 1 else parts[0]


def _delimiter(formats: Sequence[nodes.Format]) -> nodes.Format:
    """What is a sequence or choice, or a pattern: as the begin or the end of a tag."""
    one = formats[0] if len(formats) == 1 else nodes.Or(tuple(formats))
    return nodes.Sequence((one,)) if isinstance(one, nodes.ConstString | nodes.Tag) else one


def _sequence(parts: Sequence[nodes.Format]) -> nodes.Format:
    """All parts, those inside of sequences too."""
    flat = tuple(
        itertools.chain.from_iterable(part.elements if isinstance(part, nodes.Sequence) else (part,) for part in parts)
    )
    return flat[0] if len(flat) == 1 and not isinstance(flat[0], nodes.ConstString) else nodes.Sequence(flat)
