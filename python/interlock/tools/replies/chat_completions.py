"""Events of an output as OpenAI's chat completions have them: ``tool_calls``, deltas of a stream, ``finish_reason``."""

from __future__ import annotations

import copy
import json
import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from interlock._core import ArgumentError
from interlock.events import (
    ArgumentBytes,
    CallBegun,
    CallEnded,
    Captured,
    End,
    Event,
    Forced,
    IdKnown,
    NameKnown,
    Reasoning,
    TakenBack,
    Text,
)  # fmt: skip
from interlock.tools.notations import template
from interlock.tools.notations.format_files import tool_format
from interlock.tools.notations.tool_format import ToolFormat
from interlock.tools.requests.tool_list import tools_of
from interlock.tools.tags.call_tags import CUSTOM_INPUT
from interlock.util.argument_types import require

__all__ = ["ChatCompletionDeltas", "FinishReason", "chat_completion_choice"]

FinishReason: TypeAlias = Literal["stop", "tool_calls", "length"]
"""Why an output ended: by itself, with calls, or because the caller stopped it."""


def new_call_id() -> str:
    """An identifier of a call, as OpenAI's look."""
    return f"call_{uuid.uuid4().hex[:24]}"


def _new_id_of(form: ToolFormat | None) -> Callable[[], str]:
    """What makes identifiers where the caller says nothing. Chat templates refuse others than those of their notation,
    where these are letters and digits: Mistral's have nine.
    """
    size = 0 if form is None else len(form.id.example)
    if form is None or not size or not re.fullmatch(form.id.pattern, ("0a" * size)[:size]):
        return new_call_id
    return lambda: uuid.uuid4().hex[:size]


_FIELDS = ("", "role", "content", "tool_calls")
"""Fields of a message that hold something else than reasoning."""
_TEXT = {"function": "arguments", "custom": "input"}
"""The field of a call that holds what is handed over, by the call's type."""


@dataclass
class _OpenCall:
    """A call that has begun: its place in ``tool_calls``, whether a client knows of it, and whether arguments came."""

    index: int
    name: str = ""
    is_sent: bool = False
    has_arguments: bool = False
    kind: Literal["function", "custom"] = "function"
    id: str = ""
    has_new_id: bool = False


class ChatCompletionDeltas:
    """The ``delta`` objects of a streamed chat completion, made of the events of one output.

    ``take(guide.events())`` returns what became certain, as ``delta`` objects in turn; each goes into
    ``choices[0]["delta"]`` of a chunk. The first has the role. A call's first delta has ``index``, ``id``, ``type`` and
    ``function.name``; those that follow have ``index`` and fragments of ``function.arguments``, which together are
    JSON. Calls that stand one after the other have the indexes 0, 1 and so on. ``finish_reason`` belongs to the last
    chunk.

    * ``format``: the tool format that the model writes. If its arguments are JSON, they are sent as they come.
      Otherwise (``None``, Python's notation, tags) they are sent as one fragment, which is JSON, when the call ends.
    * ``tools``: the tools of the request, as ``Index.from_tools`` has them. A call of a custom tool has the ``type``
      ``"custom"`` and ``custom.name``, and its text comes whole, in ``custom.input``, when the call ends. Without
      ``tools`` all calls are those of functions.
    * ``new_id`` makes the identifier of a call whose notation has none, or none before the arguments. Otherwise the
      call has the notation's own (``functions.now:0`` in Kimi K2), and its first delta waits until that is whole. By
      default it looks as OpenAI's does, or as the notation's own where these are letters and digits.
    * ``reasoning_field`` is the field of reasoning: ``"reasoning_content"``, as vLLM, SGLang and DeepSeek call it, or
      another name, or ``None`` to leave reasoning out.

    White space between text and calls, and what the format has between two calls, are not sent. Captures and texts
    from outside (``Captured``, ``Forced``) have no field and are left out. ``ArgumentError`` for ``TakenBack``: what a
    client has cannot be taken back, so a server asks for events only behind tokens that stay. So it is for an event
    behind ``End``: a stream is one output, and the next one has an object of its own. ``ToolFormatError`` for an
    unknown format, ``RequestError`` for tools that are none. Linear in the events.

    >>> deltas = ChatCompletionDeltas(format="hermes", new_id=lambda: "call_1")
    >>> for delta in deltas.take([CallBegun(0), NameKnown(0, "now"), ArgumentBytes(0, b"{}")]):
    ...     print(delta)
    {'role': 'assistant', 'content': None}
    {'tool_calls': [{'index': 0, 'id': 'call_1', 'type': 'function', 'function': {'name': 'now', 'arguments': ''}}]}
    {'tool_calls': [{'index': 0, 'function': {'arguments': '{}'}}]}
    """

    def __init__(
        self,
        *,
        format: str | ToolFormat | Mapping[str, Any] | None = None,
        tools: Iterable[Any] | None = None,
        new_id: Callable[[], str] = new_call_id,
        reasoning_field: str | None = "reasoning_content",
    ) -> None:
        require(new_id=(new_id, "function"), reasoning_field=(reasoning_field, "text?"))
        if reasoning_field in _FIELDS:
            raise ArgumentError(f"reasoning_field is {reasoning_field!r}: give a field that nothing else stands in")
        form = None if format is None else tool_format(format)
        self._arguments_are_json = form is not None and form.arguments.encoding == "json"
        notations = () if form is None else form.notations
        # Without a format the arguments show that no identifier stands before them.
        self._may_have_ids = form is None or any("id" in template.placeholders(n.begin) for n in notations)
        # What stands between two calls of a section, without its blanks.
        self._separators = {separator.strip() for n in notations for separator in (n.separator, *n.other_separators)}
        self._custom = {tool.name for tool in tools_of(() if tools is None else tools) if tool.input is not None}
        self._new_id = _new_id_of(form) if new_id is new_call_id else new_id
        self._reasoning_field = reasoning_field
        self._calls: dict[int, _OpenCall] = {}
        self._has_begun = self._has_ended = False
        # White space, and behind a call a separator, that is sent only if text follows.
        self._blank = ""

    def copy(self) -> ChatCompletionDeltas:
        """The same place of the output, for a fork of its guide: what the one takes, the other does not."""
        made = copy.copy(self)
        made._calls = {number: replace(call) for number, call in self._calls.items()}
        return made

    @property
    def call_ids(self) -> list[str]:
        """The identifiers of the calls that were sent, in order."""
        return [call.id for call in self._calls.values() if call.is_sent]

    @property
    def new_ids(self) -> list[str]:
        """Those of ``call_ids`` that ``new_id`` made."""
        return [call.id for call in self._calls.values() if call.is_sent and call.has_new_id]

    @property
    def has_ended(self) -> bool:
        """Whether the event ``End`` came."""
        return self._has_ended

    @property
    def finish_reason(self) -> FinishReason:
        """``"tool_calls"`` for an output that ended with calls, ``"stop"`` for one without, and ``"length"`` for one
        that has no end (yet): its budget ended it.
        """
        if not self._has_ended:
            return "length"
        return "tool_calls" if self._calls else "stop"

    def take(self, events: Iterable[Event]) -> list[dict[str, Any]]:
        """The deltas of these events; an empty list where they have nothing for a client, or there are none, as
        behind the end. ``ArgumentError`` for an event behind ``End``.
        """
        if not isinstance(events, Iterable):
            raise TypeError(f"events must be a list of events, not {type(events).__name__}")
        found: list[dict[str, Any]] = []
        for event in events:
            found += self._deltas(event)
        return self._behind_role(found)

    def close(self) -> list[dict[str, Any]]:
        """The last deltas of an output that was cut off: that of a call whose identifier was not whole, which now gets
        one of ``new_id``. Nothing behind ``End``.
        """
        return self._behind_role([delta for call in self._calls.values() for delta in self._begin(call)])

    def _behind_role(self, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if found and not self._has_begun:
            self._has_begun = True
            found.insert(0, {"role": "assistant", "content": None if "tool_calls" in found[0] else ""})
        return found

    def _deltas(self, event: Event) -> list[dict[str, Any]]:
        if self._has_ended and not isinstance(event, TakenBack):
            raise ArgumentError(
                f"{type(event).__name__} came behind End: make a new ChatCompletionDeltas for the next output"
            )
        if isinstance(event, Text):
            return self._text(event.text)
        if isinstance(event, Reasoning):
            return [{self._reasoning_field: event.text}] if self._reasoning_field is not None and event.text else []
        if isinstance(event, CallBegun):
            self._blank = ""
            self._calls[event.call] = _OpenCall(len(self._calls))
        elif isinstance(event, NameKnown):
            call = self._call(event, event.call)
            self._name(call, event.name)
            return self._begin(call) if call.id or not self._may_have_ids else []
        elif isinstance(event, IdKnown):
            call = self._call(event, event.call)
            call.id = call.id or event.id
            return self._begin(call)
        elif isinstance(event, ArgumentBytes):
            call = self._call(event, event.call)
            begun = self._begin(call)
            # The text of a custom tool stands in a string of JSON there, so it is sent when it is read.
            if self._arguments_are_json and call.kind == "function":
                begun += self._fragment(call, event.data.decode("utf-8", "replace"))
            return begun
        elif isinstance(event, CallEnded):
            call = self._call(event, event.number)
            self._name(call, event.call.name)
            call.id = call.id or event.call.id
            begun = self._begin(call)
            return begun if call.has_arguments else begun + self._fragment(call, _written(call, event.call.arguments))
        elif isinstance(event, End):
            self._has_ended = True
            if self._blank and not self._calls:
                return self._text("", last=True)
        elif isinstance(event, TakenBack):
            raise ArgumentError(
                "events were taken back, and a client has them: ask for events behind final tokens only"
            )
        elif not isinstance(event, Captured | Forced):
            raise TypeError(f"events must hold events of interlock.events, not {type(event).__name__}")
        return []

    def _call(self, event: Event, number: int) -> _OpenCall:
        """The call that an event is of. ``ArgumentError`` where nobody said that it had begun."""
        if number not in self._calls:
            raise ArgumentError(
                f"{type(event).__name__} came before CallBegun of its call {number}: pass all events of the output"
            )
        return self._calls[number]

    def _text(self, text: str, last: bool = False) -> list[dict[str, Any]]:
        whole = self._blank + text
        is_separator = bool(self._calls) and whole.strip() in self._separators
        kept = whole if last else "" if is_separator else whole.rstrip()
        self._blank = whole[len(kept) :]
        return [{"content": kept}] if kept else []

    def _name(self, call: _OpenCall, name: str) -> None:
        call.name = name
        call.kind = "custom" if name in self._custom else "function"

    def _begin(self, call: _OpenCall) -> list[dict[str, Any]]:
        """The first delta of a call whose name is known, unless it was sent."""
        if call.is_sent or not call.name:
            return []
        call.is_sent = True
        if not call.id:
            call.id, call.has_new_id = self._new_id(), True
        inner = {"name": call.name, _TEXT[call.kind]: ""}
        one = {"index": call.index, "id": call.id, "type": call.kind, call.kind: inner}
        return [{"tool_calls": [one]}]

    def _fragment(self, call: _OpenCall, text: str) -> list[dict[str, Any]]:
        call.has_arguments = True
        return [{"tool_calls": [{"index": call.index, call.kind: {_TEXT[call.kind]: text}}]}] if text else []


def _written(call: _OpenCall, arguments: Mapping[str, Any]) -> str:
    """What a call hands over: the arguments of a function as JSON, or the text of a custom tool."""
    text = arguments.get(CUSTOM_INPUT) if call.kind == "custom" else None
    return text if isinstance(text, str) else json.dumps(arguments, ensure_ascii=False)


def chat_completion_choice(
    events: Iterable[Event],
    *,
    format: str | ToolFormat | Mapping[str, Any] | None = None,
    tools: Iterable[Any] | None = None,
    new_id: Callable[[], str] = new_call_id,
    reasoning_field: str | None = "reasoning_content",
) -> dict[str, Any]:
    """An element of ``choices`` of a chat completion: ``index``, ``message`` with ``role``, ``content`` and
    ``tool_calls``, and ``finish_reason``.

    ``events`` are those of ``Index.parse`` or all that ``Guide.events`` gave. ``content`` is ``None`` where the model
    wrote calls and no text. ``id`` of a call is the one that its first delta has. A call that was cut off has the
    arguments that came, with the ``finish_reason`` ``"length"``. The keywords and errors are those of
    ``ChatCompletionDeltas``.

    >>> from interlock.tools import Call
    >>> choice = chat_completion_choice([CallBegun(0), CallEnded(0, Call("now", {}, "7")), End()])
    >>> choice["message"]["tool_calls"], choice["finish_reason"]
    ([{'id': '7', 'type': 'function', 'function': {'name': 'now', 'arguments': '{}'}}], 'tool_calls')
    """
    deltas = ChatCompletionDeltas(format=format, tools=tools, new_id=new_id, reasoning_field=reasoning_field)
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls: list[dict[str, Any]] = []
    for delta in [*deltas.take(events), *deltas.close()][1:]:
        for name in ("content", reasoning_field):
            if name is not None and name in delta:
                message[name] = (message.get(name) or "") + delta[name]
        for one in delta.get("tool_calls", ()):
            if "id" in one:
                calls.append({key: one[key] for key in ("id", "type", one["type"])})
            else:
                call = calls[one["index"]]
                kind, text = call["type"], _TEXT[call["type"]]
                call[kind][text] += one[kind][text]
    if calls:
        message["tool_calls"] = calls
    elif message["content"] is None:
        message["content"] = ""
    return {"index": 0, "message": message, "finish_reason": deltas.finish_reason}
