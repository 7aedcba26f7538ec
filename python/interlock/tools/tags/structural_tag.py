"""Builds the structural tag of a request: tools, tool choice and reasoning, in the notation of a model's family."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from interlock.tools import spec
from interlock.tools.errors import RequestError, ToolFormatError
from interlock.tools.notations import template
from interlock.tools.notations.detection import detect_format, response_template_in
from interlock.tools.notations.format_files import tool_format
from interlock.tools.notations.tool_format import Notation, ToolFormat
from interlock.tools.requests.answer_format import Answer, answer_of
from interlock.tools.requests.parameter_checks import check_keys_of_parameters, check_parameters
from interlock.tools.requests.tool_choice import Mode, choose
from interlock.tools.requests.tool_list import NO_PARAMETERS, Tool, tools_of
from interlock.tools.spec import nodes
from interlock.tools.spec.checks import check
from interlock.tools.spec.fields import kind_of
from interlock.tools.tags.call_tags import call_tag, section, trigger_of
from interlock.tools.tags.response_template import ResponseTemplate, is_response_template
from interlock.util.client_messages import with_hint
from interlock.util.plurals import counted

__all__ = ["response_template_of", "structural_tag", "tag_of_request"]


def structural_tag(
    tools: Any,
    *,
    format: str | os.PathLike[str] | Mapping[str, Any] | ToolFormat = "auto",
    tokenizer: Any = None,
    tool_choice: Any = "auto",
    parallel: bool | None = True,
    reasoning: Literal["none", "optional", "required"] = "none",
    reasoning_is_open: bool | None = None,
    max_reasoning_tokens: int | None = None,
    strict: bool | None = None,
    min_calls: int = 0,
    max_calls: int | None = None,
    unique: bool = False,
    response_format: Any = None,
) -> dict[str, Any]:
    """The structural tag of everything that a model may write in one turn, as a JSON object.

    * ``tools``: see ``tools_of``: OpenAI's objects, classes, annotated functions, custom tools.
    * ``format``: the name of a tool format, a file or dictionary of your own, a response template (the dictionary that
      newer tokenizers have), or ``"auto"``: found from ``tokenizer`` (see ``detect_format``).
    * ``tool_choice``: ``"auto"`` (text with calls in it), ``"required"`` (calls and nothing else), ``"none"`` (text in
      which no call can begin), ``{"name": …}`` (one call of this tool), a list of names or OpenAI's ``allowed_tools``.
    * ``parallel``: whether more than one call may come.
    * ``reasoning``: ``"none"``, ``"optional"`` or ``"required"``. ``reasoning_is_open`` says whether the prompt has
      opened the reasoning already; by default the format knows. ``max_reasoning_tokens`` ends it: at most so many
      tokens hold a part of it.
    * ``strict``: ``True`` enforces the parameters of all tools, ``False`` those of none (any arguments), ``None`` those
      of all tools that do not say ``"strict": false``.
    * ``min_calls``, ``max_calls``: how many calls come, if any. ``unique``: each tool at most once.
    * ``response_format``: what the text must be where no tool is called, in every shape that clients send. With
      ``"auto"`` the model calls tools and writes no text, or it answers in the format; with ``"none"`` it answers in
      the format; with ``"required"`` and a named tool the format never comes to pass.

    ``RequestError`` and ``ToolFormatError`` for a request that makes no sense, and for a tool's name that the
    format cannot hold. Linear in the number of tools.

    >>> tag = structural_tag([{"name": "now"}], format="hermes", tool_choice="required", parallel=False)
    >>> tag["format"]["tags"][0]["begin"]
    '<tool_call>\\n{"name": "now", "arguments": '
    """
    found = tag_of_request(
        tools,
        format=format,
        tokenizer=tokenizer,
        tool_choice=tool_choice,
        parallel=parallel,
        reasoning=reasoning,
        reasoning_is_open=reasoning_is_open,
        max_reasoning_tokens=max_reasoning_tokens,
        strict=strict,
        min_calls=min_calls,
        max_calls=max_calls,
        unique=unique,
        response_format=response_format,
    )
    return spec.write(found)


def tag_of_request(
    tools: Any,
    *,
    format: str | os.PathLike[str] | Mapping[str, Any] | ToolFormat,
    tokenizer: Any,
    tool_choice: Any,
    parallel: bool | None,
    reasoning: Literal["none", "optional", "required"],
    reasoning_is_open: bool | None,
    max_reasoning_tokens: int | None,
    strict: bool | None,
    min_calls: int,
    max_calls: int | None,
    unique: bool,
    response_format: Any = None,
) -> nodes.StructuralTag:
    """The structural tag of a request as objects; see ``structural_tag``, which has the defaults."""
    if reasoning not in ("none", "optional", "required"):
        writes = "; the format says how the model writes it" if isinstance(reasoning, str) else ""
        raise RequestError(f'reasoning is "none", "optional" or "required", not {reasoning!r}{writes}', "/reasoning")
    parallel = True if parallel is None else parallel
    if not isinstance(parallel, bool):
        # Clients write it, and by this name.
        error = RequestError(f"parallel_tool_calls is true or false, not {kind_of(parallel)}", "/parallel_tool_calls")
        raise with_hint(error, f"the argument parallel must be True or False, and is {parallel!r}")
    if not isinstance(unique, bool):
        raise RequestError(f"unique is true or false, not {unique!r}", "/unique")
    for name, given in (("reasoning_is_open", reasoning_is_open), ("strict", strict)):
        if given is not None and not isinstance(given, bool):
            raise RequestError(f"{name} is true, false or None, not {given!r}", f"/{name}")
    most = max_reasoning_tokens
    if most is not None and (not isinstance(most, int) or isinstance(most, bool) or not 1 <= most < 1 << 32):
        said = f"max_reasoning_tokens is a whole number from 1 to {(1 << 32) - 1}, not {most!r:.80}"
        raise RequestError(said, "/max_reasoning_tokens")
    answer = response_format if isinstance(response_format, Answer) else answer_of(response_format)
    known = tools_of(tools)
    if not known and tool_choice != "none":
        raise RequestError(
            "the list of tools is empty: name one, or compile nothing for a request without tools", "/tools"
        )
    if strict:
        known = [replace(tool, parameters=NO_PARAMETERS) if tool.has_no_parameters else tool for tool in known]
    chosen, mode, is_single = choose(known, tool_choice)
    counts = _counts(parallel and not is_single, min_calls, max_calls, unique)
    described = response_template_of(format, tokenizer)
    if described is not None:
        check_parameters(chosen, strict)
        whole = ResponseTemplate(described, answer).turn(
            chosen, mode, strict, counts, reasoning, reasoning_is_open, most
        )
        return check(nodes.StructuralTag(whole))
    form = _format(format, tokenizer)
    if form.arguments.encoding != "json":
        check_parameters(chosen, strict)
    else:  # The schema itself is compiled, from its text.
        check_keys_of_parameters(chosen, strict)
    builder = _Builder(form, chosen, mode, strict, counts, most, answer)
    found = builder.turn(reasoning, reasoning_is_open)
    return check(nodes.StructuralTag(found, form.special_tokens))


def response_template_of(format: Any, tokenizer: Any) -> Any:
    """The response template in ``format``, or with ``"auto"`` that of the tokenizer; ``None`` if there is none."""
    if not isinstance(format, str):
        return format if is_response_template(format) else None
    if format != "auto" or tokenizer is None:
        return None
    found = response_template_in(tokenizer)
    return found if is_response_template(found) else None


def _format(format: Any, tokenizer: Any) -> ToolFormat:
    if format != "auto":
        return tool_format(format)
    if tokenizer is None:
        raise ToolFormatError('format="auto" needs a tokenizer or the text of its chat template')
    return detect_format(tokenizer)


def _counts(parallel: bool, least: int, most: int | None, unique: bool) -> dict[str, Any]:
    for name, value in (("min_calls", least), ("max_calls", most)):
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
            raise RequestError(f"{name} is a whole number, not {value!r}", f"/{name}")
    if not parallel:
        most = 1 if most is None else min(most, 1)
    if most is not None and most < max(least, 1):
        raise RequestError(
            f"at most {counted(most, 'call')}, and at least {max(least, 1)}: nothing is possible", "/max_calls"
        )
    counts: dict[str, Any] = {"min_calls": least, "max_calls": most, "unique": unique}
    return counts


class _Builder:
    """Builds the structural tag of one turn of a model: its reasoning, its text, its calls."""

    def __init__(
        self,
        form: ToolFormat,
        tools: Sequence[Tool],
        mode: Mode,
        strict: bool | None,
        counts: dict[str, Any],
        max_reasoning_tokens: int | None = None,
        answer: Answer | None = None,
    ) -> None:
        self.response = answer
        self.max_reasoning_tokens = max_reasoning_tokens
        self.form, self.tools, self.mode, self.strict, self.counts = form, tools, mode, strict, counts
        self.is_bounded = counts["max_calls"] is not None or counts["min_calls"] > 1 or counts["unique"]
        if counts["unique"] and counts["min_calls"] > len(tools):
            raise RequestError(
                f"at least {counted(counts['min_calls'], 'call')} of {counted(len(tools), 'tool')}, each at most once",
                "/min_calls",
            )

    def tags(self, notation: Notation) -> list[nodes.Tag]:
        """A tag for each tool, in one notation."""
        return [call_tag(self.form, notation, tool, self.strict) for tool in self.tools]

    def turn(self, reasoning: str, is_open: bool | None) -> nodes.Format:
        """The format of the whole turn. ``RequestError`` for reasoning that the format does not have."""
        if self.form.layout.kind == "messages":
            return self.messages(reasoning)
        thought = self.reasoning(reasoning, is_open)
        if self.form.layout.kind == "blocks":
            return self.blocks(thought, reasoning)
        answer = self.answer()
        return answer if thought is None else nodes.Sequence((thought, answer))

    def reasoning(self, reasoning: str, is_open: bool | None) -> nodes.Format | None:
        """The format of the reasoning, ``None`` where there is none. ``RequestError`` if it is required and the format
        has none.
        """
        if reasoning == "none":
            return None
        found = self.form.reasoning
        if found is None:
            if reasoning == "optional":
                return None
            raise RequestError(f"the format {self.form.name} has no reasoning", "/reasoning")
        opened = found.opened_by_prompt if is_open is None else is_open
        begin = "" if opened and (reasoning == "required" or is_open) else found.begin
        tag: nodes.Format = nodes.Tag(
            begin, self.thoughts((found.begin, found.end)), (found.end,), nodes.Event("reasoning")
        )
        if found.after:
            tag = nodes.Sequence((tag, nodes.Optional(nodes.ConstString(found.after))))
        return tag if reasoning == "required" else nodes.Optional(tag)

    def thoughts(self, excludes: tuple[str, ...] = ()) -> nodes.AnyText:
        """What stands inside of the reasoning."""
        return nodes.AnyText(excludes, self.max_reasoning_tokens)

    def excludes(self) -> tuple[str, ...]:
        """What stands in no text: the delimiters of reasoning."""
        found = self.form.reasoning
        return (found.begin, found.end) if found else ()

    def answer(self) -> nodes.Format:
        """Everything behind the reasoning, in the layout ``text``."""
        if self.mode == "required":
            return self.calls()
        if self.response is not None:
            # A text that is both a call and an answer, such as an object in JSON, is read as a call.
            return self.response.tag() if self.mode == "none" else nodes.Or((self.calls(), self.response.tag()))
        notations = self.embedded()
        triggers = tuple(dict.fromkeys(trigger for notation in notations for trigger in self.triggers(notation)))
        excludes = tuple(dict.fromkeys((*self.excludes(), *self.call_tokens(notations, triggers))))
        plain = nodes.AnyText(tuple(dict.fromkeys((*excludes, *triggers))))
        if self.mode == "none" or not triggers:
            return plain
        tags = tuple(tag for notation in notations for tag in self.embedded_tags(notation))
        counts: dict[str, Any] = {"excludes": excludes}
        if any(notation.section_begin for notation in notations) or self.counts["max_calls"] == 1:
            # Bounds hold within a section, and a second section would begin to count again.
            counts["stop_after_first"] = self.is_bounded
        else:
            counts.update(self.counts)
        found = nodes.TriggeredTags(triggers, tags, **counts)
        # The bounds are on calls, if any come.
        return nodes.Or((found, plain)) if found.min_calls else found

    def call_tokens(self, notations: Sequence[Notation], triggers: Sequence[str]) -> list[str]:
        """The special tokens that calls inside a section begin with. Where sections have no end, a text behind one that
        holds such a token could be another call."""
        begins = [notation.begin for notation in notations if notation.section_begin and not notation.section_end]
        tokens = [token for token in self.form.special_tokens for begin in begins if begin.startswith(token)]
        return [token for token in tokens if token not in triggers]

    def calls(self) -> nodes.Format:
        """The calls and nothing else, in any notation of the format."""
        notations: dict[tuple[str, ...], Notation] = {}
        for notation in self.form.notations:
            separator = notation.separator if self.counts["max_calls"] != 1 else ""
            others = notation.other_separators if self.counts["max_calls"] != 1 else ()
            key = (notation.section_begin, notation.section_end, notation.begin, notation.end, separator, *others)
            notations.setdefault(key, notation)
        found = [section(notation, self.tags(notation), self.section_counts()) for notation in notations.values()]
        return found[0] if len(found) == 1 else nodes.Or(tuple(found))

    def section_counts(self) -> dict[str, Any]:
        """How many calls a section has. One that is there has at least one."""
        counts = {**self.counts, "at_least_one": True}
        if counts["max_calls"] == 1:
            return {"at_least_one": True, "stop_after_first": True}
        if counts["min_calls"] < 2:
            counts["min_calls"] = 0
        return counts

    def embedded(self) -> list[Notation]:
        """The notations that are worth telling apart where calls stand in text.

        Calls are counted in a section or, without one, in the whole text. With bounds on them, only notations of one
        of the two kinds can be counted together: those of the first notation's.
        """
        has_section = bool(self.form.notations[0].section_begin)
        found: dict[tuple[str, ...], Notation] = {}
        begins = {notation.section_begin + notation.begin for notation in self.form.notations}
        for notation in self.form.notations:
            whole = notation.section_begin + notation.begin
            if whole != whole.lstrip() and whole.lstrip() in begins:
                continue  # the white space belongs to the text before
            if self.is_bounded and bool(notation.section_begin) != has_section and self.mode != "none":
                continue
            separator = notation.separator if notation.section_begin else ""  # without a section it is text
            others = notation.other_separators if notation.section_begin else ()
            key = (notation.section_begin, notation.section_end, notation.begin, notation.end, separator, *others)
            found.setdefault(key, notation)
        return list(found.values())

    def triggers(self, notation: Notation) -> list[str]:
        """What shows, in text, that a call in this notation comes."""
        if not notation.section_begin:
            return [trigger_of(self.form, template.pieces(notation.begin)[0][1])]
        if any(char.isalpha() for char in notation.section_begin):
            return [trigger_of(self.form, notation.section_begin)]
        # The section begins with a bracket only. "[1]" opens no call: the bracket and a tool's name do.
        begins = [tag.begin for tag in self.tags(notation)]
        return [notation.section_begin + begin for begin in begins if isinstance(begin, str)]

    def embedded_tags(self, notation: Notation) -> list[nodes.Tag]:
        """The tags of calls between texts: those of the tools, or one for the section around them."""
        if not notation.section_begin:
            return self.tags(notation)
        found = section(notation, self.tags(notation), self.section_counts())
        return [found] if isinstance(found, nodes.Tag) else []

    def blocks(self, thought: nodes.Format | None, reasoning: str) -> nodes.Format:
        """The format of a turn whose text and calls stand in blocks of their own."""
        layout = self.form.layout
        opened = reasoning == "none" and bool(self.form.reasoning and self.form.reasoning.opened_by_prompt)
        excludes = (*self.excludes(), *_openers(self.form))
        begin = "" if opened else layout.text_begin
        text = nodes.Tag(begin, nodes.AnyText(excludes), (layout.text_end,), nodes.Event("text"))
        parts: list[nodes.Format] = [] if thought is None else [thought]
        calls = None if self.mode == "none" or not self.tools else self.calls()
        if self.response is not None and self.mode != "required":
            answer = self.response.tag(begin, (layout.text_end,))
            parts.append(answer if calls is None else nodes.Or((nodes.Sequence((text, calls)), answer)))
        elif self.mode == "required" and calls is not None:
            # The block of the text stands in every turn: here it is empty.
            parts += [nodes.ConstString(begin + layout.text_end), calls]
        else:
            parts.append(text)
            if calls is not None:
                parts.append(nodes.Optional(calls))
        if layout.end:
            parts.append(nodes.ConstString(layout.end))
        return nodes.Sequence(tuple(parts))

    def messages(self, reasoning: str) -> nodes.Format:
        """The format of a turn of several messages. ``RequestError`` for reasoning that the format does not have."""
        layout = self.form.layout
        ends = tuple(dict.fromkeys(end for end in (layout.text_end, layout.preamble_end) if end))
        final = nodes.Tag(layout.text_begin, nodes.AnyText(), ends, nodes.Event("text"))
        if self.response is not None:
            final = self.response.tag(layout.text_begin, ends)
        between: list[nodes.Format] = []
        thought: nodes.Tag | None = None
        if reasoning != "none":
            found = self.form.reasoning
            if found is None:
                raise RequestError(f"the format {self.form.name} has no reasoning", "/reasoning")
            thought = nodes.Tag(found.begin, self.thoughts(), (found.end,), nodes.Event("reasoning"))
            between.append(thought)
        if layout.preamble_begin and self.mode != "required":
            between.append(
                nodes.Tag(layout.preamble_begin, nodes.AnyText(), (layout.preamble_end,), nodes.Event("text"))
            )
        separator = nodes.ConstString(layout.separator)
        parts: list[nodes.Format] = []
        if thought is not None and reasoning == "required":
            parts += [thought, separator]
        if between:
            parts.append(nodes.Star(nodes.Sequence((nodes.Or(tuple(between)), separator))))
        parts.append(self.last_messages(final))
        return parts[0] if len(parts) == 1 else nodes.Sequence(tuple(parts))

    def last_messages(self, final: nodes.Tag) -> nodes.Format:
        """What a turn of messages ends with: the calls, the final text, or either."""
        if self.mode == "none":
            return final
        if self.counts["unique"] and len(self.form.notations) > 1:
            tags = tuple(self.tags(self.form.notations[0]))  # another spelling would be another tag
        else:
            tags = tuple(tag for notation in self.form.notations for tag in self.tags(notation))
        calls = nodes.TagsWithSeparator(tags, self.form.layout.separator, **self.section_counts())
        return calls if self.mode == "required" else nodes.Or((final, calls))


def _openers(form: ToolFormat) -> tuple[str, ...]:
    """The special tokens with which the blocks of a format begin and end: none of them stands in a text."""
    ends = (form.layout.text_begin, form.layout.text_end)
    return tuple(token for token in form.special_tokens if any(end.startswith(token) for end in ends))
