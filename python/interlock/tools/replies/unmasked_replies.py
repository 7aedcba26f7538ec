"""Reads what a model wrote without masks: calls that are whole, and everything else as text.

Under masks the engine says what an output was (``Index.parse``). A text that was written without them may deviate from
the notation, so it is searched for calls here, with some patience: for white space, for the order of members, and for
delimiters that are missing where the text ends.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interlock.events import CallBegun, CallEnded, End, Event, IdKnown, NameKnown, Reasoning, Text
from interlock.tools.errors import ToolFormatError
from interlock.tools.notations import template
from interlock.tools.notations.argument_parsing import read_arguments_at
from interlock.tools.notations.escapes import unescape
from interlock.tools.notations.format_files import tool_format
from interlock.tools.notations.loose_delimiters import loose_literal, opening_of
from interlock.tools.notations.render import Call
from interlock.tools.notations.tool_format import Notation, ToolFormat
from interlock.tools.requests.tool_list import tools_of
from interlock.util.argument_types import require

__all__ = ["parse_reply"]

_ARGUMENTS = ("arguments", "parameters")
"""What models call the arguments of a call that is one object, whatever their format says."""
_UNREADABLE = (ToolFormatError, ValueError, RecursionError)


def parse_reply(
    reply: str | bytes,
    *,
    format: str | ToolFormat | Mapping[str, Any],
    tools: Iterable[Any] | None = None,
    reasoning_is_open: bool | None = None,
    partial: bool = False,
) -> list[Event]:
    """The events of a turn that no mask has held to its notation: reasoning, text, and the calls that are whole.

    It never raises for what a model wrote. What is no whole call is text, delimiters and all. A call is whole if its
    arguments are; delimiters behind them may be missing where the text ends. White space in and around delimiters is
    free. Where a call is one JSON object, its members may come in any order, and its arguments may be called
    ``arguments`` or ``parameters`` in every format. For an output that was written under masks, ``Index.parse`` is
    exact, and says what is wrong with it.

    * ``format``: the tool format that the model writes, as ``tool_format`` takes it.
    * ``tools``: the tools of the request, as ``Index.from_tools`` has them. With them a call of another name is text,
      and their schemas say what a value without quotes is. Schemas are not enforced.
    * ``reasoning_is_open``: whether the prompt has opened the reasoning. ``None``: what stands before its end is
      reasoning, unless a call comes first.
    * ``partial`` leaves out ``End``, for a text that was cut off: ``chat_completion_choice`` then says ``"length"``.

    Bytes that are no UTF-8 are replaced, and a last character that is cut is left out. ``ToolFormatError`` for an
    unknown format and ``RequestError`` for tools that are none. Linear in the text, and quadratic in the number of
    calls that begin and never end.

    >>> parse_reply('Hm. <tool_call>{"name": "now", "arguments": {}}', format="hermes")[0]
    Text(text='Hm. ')
    >>> parse_reply('<tool_call>{"arguments":{"city":"Rome"},"name":"f"}</tool_call>', format="hermes")[2].call
    Call(name='f', arguments={'city': 'Rome'}, id='')
    """
    require(reply=(reply, "text or bytes"), reasoning_is_open=(reasoning_is_open, "flag?"), partial=(partial, "flag"))
    schemas = None if tools is None else {tool.name: tool.parameters for tool in tools_of(tools)}
    # The last character may be cut: not being final, it is left out.
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(reply) if isinstance(reply, bytes) else reply
    found = list(_events(_Reader(tool_format(format), text, schemas).turn(reasoning_is_open)))
    return found if partial else [*found, End()]


def _events(parts: Iterable[Text | Reasoning | Call]) -> Iterator[Event]:
    number, kept = 0, None
    for part in parts:
        if isinstance(part, Text) and isinstance(kept, Text):
            kept = Text(kept.text + part.text)
            continue
        if kept is not None:
            yield kept
            kept = None
        if isinstance(part, Call):
            yield CallBegun(number)
            if part.id:
                yield IdKnown(number, part.id)
            yield from (NameKnown(number, part.name), CallEnded(number, part))
            number += 1
        elif part.text:
            kept = part
    if kept is not None:
        yield kept


def _amid_blanks(literal: str) -> str:
    """A pattern of a literal with white space on both sides."""
    return rf"\s*{loose_literal(literal.strip())}\s*" if literal.strip() else r"\s*"


def _rest(text: str, at: int, delimiter: str) -> tuple[str, bool]:
    """What stands from ``at`` on, without white space, as far as a delimiter could reach; and whether that is all."""
    stop = at + 2 * len(delimiter) + 256
    return "".join(text[at:stop].split()), stop >= len(text)


class _Notation:
    """One notation of a format, as patterns."""

    def __init__(self, form: ToolFormat, notation: Notation, names: Iterable[str] | None) -> None:
        self.is_closed_by_itself = form.arguments.encoding in ("json", "gemma")
        """Whether arguments say where they end, so that nothing behind them is needed."""
        self.begin = opening_of(form, names, notation.begin)
        self.end = notation.end.strip()
        self.object = _ObjectOfCall.of(form, notation, names)
        if self.object is None:
            self.opening = opening_of(form, names, notation.section_begin, notation.begin)
        else:
            opening = opening_of(form, names, notation.section_begin, self.object.head)
            # An object without a mark in front of it may be anything: its first key tells.
            keys = "|".join(map(re.escape, ("type", "id", self.object.name, self.object.arguments)))
            first = "" if self.object.is_marked else rf'\s*"(?:{keys})"\s*:'
            self.opening = re.compile(rf"{opening.pattern}(?=\{{{first})")
        self.section_begin = opening_of(form, names, notation.section_begin)
        self.section_end = notation.section_end.strip()
        separators = (notation.separator, *notation.other_separators)
        self.separators = [re.compile(_amid_blanks(one)) for one in separators]
        # White space in front of a section is a part of it.
        written = notation.section_begin or notation.begin
        self.blank = written[: len(written) - len(written.lstrip())]

    def after_call(self, text: str, at: int, named: Mapping[str, str | None]) -> int | None:
        """Where the end of a call ends whose arguments end at ``at``, or ``None``. The end may be cut off."""
        if not self.end:
            return at
        pieces = template.pieces(self.end)
        pattern = [
            loose_literal(piece) if kind == "text" else re.escape(named.get(piece) or "") or r"[\w.:/-]{0,128}?"
            for kind, piece in pieces
        ]
        if match := re.compile(rf"\s*{''.join(pattern)}").match(text, at):
            return match.end()
        return len(text) if self.is_cut(text, at, pieces) else None

    def is_cut(self, text: str, at: int, pieces: Sequence[tuple[str, str]]) -> bool:
        """Whether the text ends inside of the end of a call."""
        rest, is_all = _rest(text, at, self.end)
        literal = "".join(pieces[0][1].split()) if pieces else ""
        if not is_all or not (literal.startswith(rest) or (len(pieces) > 1 and rest.startswith(literal))):
            return False
        # What shows that no argument follows is the first mark of the end.
        mark = re.search("</[^<>]*>", literal)
        return self.is_closed_by_itself or rest.startswith(literal[: mark.end()] if mark else literal)

    def after_section(self, text: str, at: int) -> int:
        """Where a section ends whose last call ends at ``at``, whether its end is there or not."""
        match = re.compile(rf"\s*{loose_literal(self.section_end)}").match(text, at) if self.section_end else None
        if match:
            return match.end()
        rest, is_all = _rest(text, at, self.section_end)
        is_cut = is_all and bool(rest) and "".join(self.section_end.split()).startswith(rest)
        return len(text) if is_cut else at


@dataclass(frozen=True)
class _ObjectOfCall:
    """A call that is one JSON object: what stands around it, and the keys of its members."""

    head: str
    tail: str
    name: str
    arguments: str
    is_marked: bool
    """Whether a delimiter in front of the object says that it is a call."""
    names: frozenset[str] | None

    @classmethod
    def of(cls, form: ToolFormat, notation: Notation, names: Iterable[str] | None) -> _ObjectOfCall | None:
        """The object of calls in one notation; ``None`` where a call is no JSON object. ``names`` are those of the
        tools, if known.
        """
        place = notation.begin.find('{"')
        if form.arguments.encoding != "json" or form.name_escape != "json" or place < 0:
            return None
        values = {"name": "N", "id": "I"}
        sample = template.fill(notation.begin[place:], values) + "[0]" + template.fill(notation.end, values)
        members, end = json.JSONDecoder().raw_decode(sample)
        keys = {json.dumps(value): key for key, value in members.items()}
        if not {'"N"', "[0]"} <= keys.keys():
            return None
        head = notation.begin[:place]
        is_marked = bool((notation.section_begin + head).strip(" \n["))
        known = None if names is None else frozenset(names)
        return cls(head, sample[end:].strip(), keys['"N"'], keys["[0]"], is_marked, known)

    def read(self, text: str, at: int) -> tuple[Call, int] | None:
        """The call at ``at``, and where it ends, with the delimiter behind it if that is there."""
        head = re.compile(_amid_blanks(self.head) + r"(?=\{)").match(text, at)
        if head is None:
            return None
        members, end = json.JSONDecoder().raw_decode(text, head.end())
        name = members.get(self.name)
        key = next((key for key in (self.arguments, *_ARGUMENTS) if key in members), None)
        # A call may lack arguments, but not have members of which nothing is known in their place.
        if key is None and (not self.is_marked or not members.keys() <= {self.name, "id", "type"}):
            return None
        arguments = {} if key is None or members[key] is None else members[key]
        if isinstance(arguments, str):  # As OpenAI's interface has them.
            arguments = json.loads(arguments)
        if not isinstance(name, str) or not name or not isinstance(arguments, dict):
            return None
        if self.names is not None and name not in self.names:
            return None
        if self.tail:
            tail = re.compile(rf"\s*{loose_literal(self.tail)}").match(text, end)
            rest, _ = _rest(text, end, self.tail)
            if tail is None and not "".join(self.tail.split()).startswith(rest):
                return None
            end = tail.end() if tail else len(text)
        identifier = members.get("id")
        return Call(name, arguments, identifier if isinstance(identifier, str) else ""), end


def _of_json(found: tuple[Call, int] | None) -> tuple[Call, int] | None:
    """A call whose arguments JSON can say: ``ValueError`` for ``NaN`` and infinity, which Python reads."""
    if found is not None:
        json.dumps(found[0].arguments, allow_nan=False)
    return found


class _Reader:
    """Reads a reply that no mask was made for, and takes what is no whole call as text."""

    def __init__(self, form: ToolFormat, text: str, schemas: Mapping[str, Any] | None) -> None:
        self.form, self.text, self.schemas = form, text, schemas
        self.notations = [_Notation(form, notation, schemas) for notation in form.notations]

    def turn(self, is_open: bool | None) -> Iterator[Text | Reasoning | Call]:
        """The parts of the whole reply, in their order. ``is_open`` says whether the prompt began the reasoning, if
        that is known.
        """
        if self.form.layout.kind == "messages":
            yield from self.messages()
            return
        at = 0
        if (thought := self.thought(is_open)) is not None:
            start, end, at = thought
            yield Reasoning(self.text[start:end])
        stop = len(self.text)
        layout = self.form.layout
        if layout.kind == "blocks":
            if layout.end and self.text.rstrip().endswith(layout.end):
                stop = max(at, self.text.rindex(layout.end))
            begin = re.compile(rf"\s*{re.escape(layout.text_begin)}").match(self.text, at)
            if begin:
                end = self.text.find(layout.text_end, begin.end())
                yield Text(self.text[begin.end() : end if end >= 0 else stop])
                at = end + len(layout.text_end) if end >= 0 else stop
        yield from self.mixed(at, stop)

    def thought(self, is_open: bool | None) -> tuple[int, int, int] | None:
        """Where the reasoning begins and ends, and where the answer begins; ``None`` where there is no reasoning."""
        reasoning = self.form.reasoning
        if reasoning is None:
            return None
        start = len(self.text) - len(self.text.lstrip())
        opened = self.text.startswith(reasoning.begin, start)
        start = start + len(reasoning.begin) if opened else 0
        end = self.text.find(reasoning.end, start)
        if end < 0:
            return (start, len(self.text), len(self.text)) if opened or is_open else None
        if not opened and not is_open:
            first = next(self.sections(0), None)
            if is_open is False or (first is not None and first[0] < end):
                return None
        at = end + len(reasoning.end)
        return start, end, at + len(reasoning.after) if self.text.startswith(reasoning.after, at) else at

    def messages(self) -> Iterator[Text | Reasoning | Call]:
        """The parts of a reply that consists of several messages."""
        layout, reasoning, at = self.form.layout, self.form.reasoning, 0
        kinds: list[tuple[str, str, type[Text] | type[Reasoning]]] = [
            (layout.text_begin, layout.text_end, Text),
            (layout.preamble_begin, layout.preamble_end, Text),
        ]
        if reasoning is not None:
            kinds.append((reasoning.begin, reasoning.end, Reasoning))
        sections = self.sections(0)
        section = next(sections, None)
        while at < len(self.text):
            while section is not None and section[0] < at:  # It stands inside of a message.
                section = next(sections, None)
            places = [(place, kind) for kind in kinds if kind[0] and (place := self.text.find(kind[0], at)) >= 0]
            place, kind = min(places, key=lambda one: one[0], default=(len(self.text), None))
            if section is not None and section[0] <= place:
                yield Text(self.between(at, section[0]))
                yield from section[1]
                at = section[2]
            elif kind is None:
                yield Text(self.between(at, len(self.text)))
                at = len(self.text)
            else:
                yield Text(self.between(at, place))
                begin = place + len(kind[0])
                end = self.text.find(kind[1], begin)
                end = len(self.text) if end < 0 else end
                yield kind[2](self.text[begin:end])
                at = end + len(kind[1])

    def between(self, start: int, end: int) -> str:
        """What stands between messages, without what separates them."""
        return self.text[start:end].replace(self.form.layout.separator, "") if self.form.layout.separator else ""

    def mixed(self, at: int, stop: int) -> Iterator[Text | Call]:
        """Texts and calls between ``at`` and ``stop``."""
        for start, calls, end in self.sections(at):
            yield Text(self.text[at:start])
            yield from calls
            at = end
        yield Text(self.text[at:stop])

    def sections(self, at: int) -> Iterator[tuple[int, list[Call], int]]:
        """The sections of calls behind ``at``: where each begins, its calls, where it ends."""
        least = at
        matches = [notation.opening.search(self.text, at) for notation in self.notations]
        while starts := [match.start() for match in matches if match]:
            start = min(starts)
            opened = [
                notation
                for notation, match in zip(self.notations, matches, strict=True)
                if match and match.start() == start
            ]
            found = [(one, notation) for notation in opened if (one := self.section(notation, start))]
            at = start + 1
            if found:
                (calls, at), _ = max(found, key=lambda one: one[0][1])
                blanks = [len(notation.blank) for _, notation in found if self.is_before(notation.blank, least, start)]
                yield start - max(blanks, default=0), calls, at
                least = at
            matches = [
                notation.opening.search(self.text, at) if match and match.start() < at else match
                for notation, match in zip(self.notations, matches, strict=True)
            ]

    def is_before(self, blank: str, least: int, start: int) -> bool:
        """Whether ``blank`` stands in front of ``start``, and not before ``least``."""
        return start - len(blank) >= least and self.text.endswith(blank, 0, start)

    def section(self, notation: _Notation, at: int) -> tuple[list[Call], int] | None:
        """The calls of the section that begins at ``at``, and where it ends; ``None`` if none of them is whole."""
        match = notation.section_begin.match(self.text, at)
        if match is None:
            return None
        calls: list[Call] = []
        at = next_at = match.end()
        while (found := self.call(notation, next_at)) is not None:
            call, at = found
            calls.append(call)
            ends = [match.end() for one in notation.separators if (match := one.match(self.text, at))]
            if not ends:
                break
            next_at = max(ends)
        return (calls, notation.after_section(self.text, at)) if calls else None

    def call(self, notation: _Notation, at: int) -> tuple[Call, int] | None:
        """The call at ``at`` and where it ends, or ``None``."""
        match = notation.begin.match(self.text, self.after_blank(at))
        try:
            if match is not None and (found := self.with_delimiters(notation, match)) is not None:
                return _of_json(found)
        except _UNREADABLE:
            pass
        try:
            return None if notation.object is None else _of_json(notation.object.read(self.text, at))
        except _UNREADABLE:
            return None

    def with_delimiters(self, notation: _Notation, match: re.Match[str]) -> tuple[Call, int] | None:
        """The call whose beginning ``match`` is, and where it ends; ``None`` where its end does not come."""
        named = match.groupdict()
        name = unescape(named["name"], self.form.name_escape)
        schema = True if self.schemas is None else self.schemas.get(name, True)
        arguments, at = read_arguments_at(self.form.arguments, self.text, match.end(), schema)
        end = notation.after_call(self.text, at, named)
        identifier = named.get("id") or ""
        if identifier:
            identifier = self.form.id.prefix_of(named["name"]) + identifier
        return None if end is None else (Call(name, arguments, identifier), end)

    def after_blank(self, at: int) -> int:
        """The first place from ``at`` on that is no white space."""
        while at < len(self.text) and self.text[at].isspace():
            at += 1
        return at
