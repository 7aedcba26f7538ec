"""Tools in rounds: a model is asked, the functions that it calls are run, and it is asked again with the results.

The calls are in the notation of the model's family, and the results are messages of the role ``tool``, as the chat
template writes both. A template that writes one of them not at all gets it as text.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from interlock._core import ArgumentError, Index
from interlock.events import CallEnded, Event, Text
from interlock.generators.call_arguments.arguments import (
    Prompt,
    as_messages,
    check_max_tokens,
    check_prompt,
    is_batch,
)
from interlock.generators.call_arguments.prefill_text import prefill_of
from interlock.generators.prompts.chat_content import templated
from interlock.generators.prompts.prefill import prefilled, templated_up_to_prefill
from interlock.generators.prompts.system_texts import shows_tools, with_system_text
from interlock.generators.replies.repeated_calls import TOLD, OnRepeat, RepeatedCalls, check_on_repeat
from interlock.generators.tool_loop.awaited_functions import awaited
from interlock.generators.tool_loop.callables import Read, callables_of
from interlock.generators.tool_loop.option_names import check_names
from interlock.generators.tool_loop.stream import EVENTS, ToolEvent, ToolResult
from interlock.output_types.function_calls import FunctionCall
from interlock.tools import Call, ToolFormat, ToolFormatError, detect_format, tool_format, tools_of
from interlock.tools.notations.render import render_calls
from interlock.tools.notations.result_notation import written_result
from interlock.tools.requests.tool_descriptions import describe_tools, for_template
from interlock.util.argument_types import require
from interlock.util.quoting import quoted

if TYPE_CHECKING:
    from interlock.generators.local import LocalGenerator

__all__ = ["OnError", "ToolAnswer", "rounds_with_tools"]

OnError = Literal["tell", "raise"] | Callable[[FunctionCall[Any], Exception], Any]
"""What becomes of an exception that a function raises."""

Messages = list[dict[str, Any]]
Known = Mapping[str, tuple[Callable[..., Any], Read]]
"""What runs each tool, and reads its arguments."""


@dataclass(frozen=True)
class ToolAnswer:
    """What came of a tool loop."""

    text: str
    """The answer, without reasoning and calls."""
    calls: list[tuple[FunctionCall[Any], Any]]
    """The calls in turn, each with what its function returned, or what the model was told of its error,
    or of a call that it repeated."""
    messages: list[dict[str, Any]]
    """The whole chat: what was given, calls, results, and the answer. It can go on: add what the user says next."""
    finish_reason: str
    """``"stop"``, or ``"length"`` where ``max_tokens`` ended the answer."""


def rounds_with_tools(
    gen: LocalGenerator,
    prompt: Prompt,
    tools: Sequence[Any],
    functions: Mapping[str, Callable[..., Any]] | None,
    max_tokens: int,
    max_rounds: int,
    tool_choice: Any,
    format: str | ToolFormat | Mapping[str, Any],
    parallel: bool,
    on_error: OnError,
    on_repeat: OnRepeat,
    options: dict[str, Any],
    is_streamed: bool,
) -> Generator[ToolEvent, None, ToolAnswer]:
    """The events of a tool loop, and at last its answer; see ``LocalGenerator.tool_loop``. What is wrong with the
    arguments is raised here, before the first event is asked for. If it is not streamed, the events of a turn come
    together.
    """
    check_prompt(prompt, options)
    check_names(options, gen._option_names() or ())
    if is_batch(prompt):
        raise ArgumentError("a tool loop has one prompt: a text or a list of messages")
    for name in ("stop", "whitespace"):
        if options.get(name) is not None:
            raise ArgumentError(f"a tool loop has no option {name!r}: the notation of calls says how a turn is written")
    max_tokens = check_max_tokens(max_tokens)
    if isinstance(max_rounds, bool) or not isinstance(max_rounds, int):
        raise TypeError(f"max_rounds must be an int, how often the model may call, not {type(max_rounds).__name__}")
    if max_rounds < 1:
        raise ArgumentError(f"max_rounds is how often the model may call, at least 1, not {max_rounds}")
    require(parallel=(parallel, "flag"))
    if not (callable(on_error) or on_error in ("raise", "tell")):
        raise ArgumentError(
            "on_error is 'tell', 'raise' or a function of the call and the exception, what becomes of an exception of "
            f"a function, not {quoted(on_error)}"
        )
    check_on_repeat(on_repeat)
    known = callables_of(tools, functions)
    writer = gen._chats()
    form = detect_format(writer) if format == "auto" else tool_format(format)
    chat = _Chat(gen, writer, list(tools), form)
    messages = [dict(message) for message in as_messages(prompt)]
    turns = _Turns(gen, chat, max_tokens, parallel, options, is_streamed)
    return _rounds(turns, messages, known, max_rounds, tool_choice, on_error, RepeatedCalls(on_repeat))


def _rounds(
    turns: _Turns,
    messages: Messages,
    known: Known,
    max_rounds: int,
    tool_choice: Any,
    on_error: OnError,
    repeated: RepeatedCalls,
) -> Generator[ToolEvent, None, ToolAnswer]:
    done: list[tuple[FunctionCall[Any], Any]] = []
    choice = tool_choice
    for asked in range(max_rounds + 1):
        turn = yield from turns.next(messages, "none" if asked == max_rounds else choice)
        if turn.is_begun:
            # The turn is one message, with what it was begun with.
            messages = messages[:-1]
        if not turn.calls:
            break
        earlier = [repeated.earlier(call, turn.raw) for call in turn.calls]
        made = []
        for call, one in zip(turn.calls, earlier):
            made.append((one, TOLD) if one else _run(known, call, on_error))
            yield ToolResult(*made[-1])
        repeated.keep(zip(turn.calls, (call for call, _ in made)))
        done += made
        messages += turns.chat.turns(turn.calls, [returned for _, returned in made], turn.text, turn.raw)
        # A model that only says again what it said would do so in every turn to come.
        choice = "none" if all(earlier) else "auto"
    messages.append({"role": "assistant", "content": turn.text})
    return ToolAnswer(turn.text, done, messages, turn.finish_reason())


@dataclass(frozen=True)
class _Turn:
    """What the model wrote in one turn."""

    text: str
    calls: list[Call]
    raw: str
    is_begun: bool
    """Whether the assistant's message had begun it."""
    finish_reason: Callable[[], str]


@dataclass(frozen=True)
class _Turns:
    """What the turns of a loop have in common."""

    gen: LocalGenerator
    chat: _Chat
    max_tokens: int
    parallel: bool
    options: dict[str, Any]
    is_streamed: bool

    def next(self, messages: Messages, choice: Any) -> Generator[ToolEvent, None, _Turn]:
        """The events of the next turn behind ``messages``, and at last all of it."""
        gen, max_tokens = self.gen, self.max_tokens
        index = self.chat.index(choice, self.parallel)
        gen._prepared(index, max_tokens, dict(self.options))
        ids = self.chat.ids(messages)
        begun = prefilled(index, prefill_of(messages), ids, "turn that may call the tools so", "")
        room = gen.context_room(len(ids), max_tokens)
        if room:
            room.check(begun)
        write = gen._runs_behind if self.is_streamed else gen._whole_behind
        guide = index.guide()
        if begun is not index:
            guide.advance_many(begun.guide().tokens)
        written: list[int] = []
        events: list[Event] = []
        with contextlib.closing(write(ids, begun, max_tokens, dict(self.options))) as runs:
            for run in runs:
                written += run
                guide.advance_many(run)
                new = guide.events()
                events += new
                yield from (event for event in new if isinstance(event, EVENTS))
        raw = gen.vocabulary.decode(guide.tokens, skip_special_tokens=False).decode("utf-8", "replace")
        text = "".join(event.text for event in events if isinstance(event, Text))
        calls = [event.call for event in events if isinstance(event, CallEnded)]

        def reason() -> str:
            return gen.finish_reason(begun, written, max_tokens, room, is_text=True)

        return _Turn(text, calls, raw, begun is not index, reason)


def _run(known: Known, call: Call, on_error: OnError) -> tuple[Any, Any]:
    """The call with arguments of the annotated types, and what its function returned."""
    function, read = known[call.name]
    made: FunctionCall[Any] = FunctionCall(call.name, dict(call.arguments), function)
    try:
        made = FunctionCall(call.name, read(made.arguments), function)
        return made, awaited(made())
    except Exception as error:
        if callable(on_error):
            return made, on_error(made, error)
        if on_error == "tell":
            return made, {"error": f"{type(error).__name__}: {error}"}
        error.add_note(f"raised by {call.name}(**{made.arguments!r}), which the model called in a tool loop")
        raise


class _Chat:
    """A chat with tools, as one model's template writes it."""

    def __init__(self, gen: LocalGenerator, writer: Any, tools: list[Any], form: ToolFormat) -> None:
        self._gen, self._writer, self._tools, self._form = gen, writer, tools, form
        self._shown = [for_template(tool, given) for tool, given in zip(tools_of(tools), tools)]
        self._style = self._found_style()

    def index(self, choice: Any, parallel: bool) -> Index:
        """What the model may write, from the generator's cache where it was used before."""
        tools = tuple(one if isinstance(one, type) or inspect.isroutine(one) else repr(one) for one in self._tools)
        key = ("tools", tools, repr(self._form), repr(choice), parallel)
        return self._gen._indexes.get_or_make(
            key,
            lambda: Index.from_tools(
                self._tools, self._gen.vocabulary, format=self._form, tool_choice=choice, parallel=parallel
            ),
        )

    def ids(self, messages: Messages) -> list[int]:
        """The tokens of the chat, with the tools in words where the template shows none."""
        read = templated(self._writer, messages, self._shown)
        if not shows_tools(self._writer, read, self._shown):
            words = describe_tools(self._tools, self._form)
            read = with_system_text(self._writer, messages, words, self._shown) or read
        if prefill_of(read) is not None:
            return self._gen._chat_text_ids(templated_up_to_prefill(self._writer, read, self._shown))
        made = self._writer.apply_chat_template(read, tools=self._shown, add_generation_prompt=True)
        return [int(token) for token in (made["input_ids"] if hasattr(made, "keys") else made)]

    def turns(self, calls: Sequence[Call], results: Sequence[Any], text: str, raw: str) -> Messages:
        """The model's turn with its calls, and the results."""
        return _turns(self._style, calls, [written_result(one) for one in results], text, raw)

    def _found_style(self) -> tuple[str, str]:
        """How this template takes calls and results: the first way in which both stand in the rendered chat."""
        name, id = "qx7name7xq", self._form.id
        call = Call(name, {"q": "qx7value7xq"}, id.prefix_of(name) + id.of(0))
        raw = render_calls(self._form, [call])
        for style in ((a, b) for b in ("tool", "user") for a in ("object", "text", "content")):
            turns = _turns(style, [call], ["qx7result7xq"], "", raw)
            try:
                whole = str(
                    self._writer.apply_chat_template(
                        [{"role": "user", "content": "?"}, *turns],
                        tools=self._shown,
                        tokenize=False,
                        add_generation_prompt=True,
                    )
                )
            except Exception:  # noqa: BLE001 - a template raises what it likes
                continue
            at = _without_blanks(whole).find(_without_blanks(raw))
            if at >= 0 and _without_blanks(whole).find("qx7result7xq", at) >= 0:
                return style
        raise ToolFormatError("the chat template writes neither calls nor results of tools, not even as text")


def _turns(style: tuple[str, str], calls: Sequence[Call], results: Sequence[str], text: str, raw: str) -> Messages:
    written, role = style
    ids = [call.id or f"call{number:05}" for number, call in enumerate(calls)]
    turn: dict[str, Any] = {"role": "assistant", "content": raw}
    if written != "content":
        turn["content"] = text
        turn["tool_calls"] = [
            {
                "id": id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": dict(call.arguments) if written == "object" else json.dumps(dict(call.arguments)),
                },
            }
            for id, call in zip(ids, calls)
        ]
    if role == "tool":
        told = [
            {"role": "tool", "tool_call_id": id, "name": call.name, "content": result}
            for id, call, result in zip(ids, calls, results)
        ]
    else:
        said = "\n".join(f"{call.name} returned: {result}" for call, result in zip(calls, results))
        told = [{"role": "user", "content": said}]
    return [turn, *told]


def _without_blanks(text: str) -> str:
    return re.sub(r"\s", "", text)
