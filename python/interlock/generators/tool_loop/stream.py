"""A tool loop that is read while it runs: what the model writes, and what the functions that it calls return."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from interlock._core import ArgumentError
from interlock.events import ArgumentBytes, CallBegun, CallEnded, IdKnown, NameKnown, Reasoning, Text
from interlock.output_types.function_calls import FunctionCall

if TYPE_CHECKING:
    from interlock.generators.tool_loop.rounds import ToolAnswer

__all__ = ["EVENTS", "ToolEvent", "ToolResult", "ToolStream"]


@dataclass(frozen=True)
class ToolResult:
    """What came of a call. Those of a turn follow its last event, in the order of its calls."""

    call: FunctionCall[Any]
    """The call, with arguments of the annotated types."""
    result: Any
    """What its function returned, or what the model was told of its error, or of a call that it repeated."""


EVENTS = (Text, Reasoning, CallBegun, NameKnown, IdKnown, ArgumentBytes, CallEnded)
"""The events of a turn that are given. Grammars of calls have no others but ``Forced`` and ``End``."""
ToolEvent: TypeAlias = Text | Reasoning | CallBegun | NameKnown | IdKnown | ArgumentBytes | CallEnded | ToolResult
"""What a ``ToolStream`` gives: the events of ``interlock.events`` of each turn, and the results of its calls."""


class ToolStream(Iterator[ToolEvent]):
    """The events of a tool loop as they come; ``answer`` reads what is left, and is what the loop returns.

    A turn of the model gives ``Text``, ``Reasoning``, and of each call ``CallBegun``, ``NameKnown``, ``ArgumentBytes``
    and ``CallEnded``, as soon as they are certain. Numbers of calls begin at 0 in each turn. Then the functions are
    run, and each gives a ``ToolResult`` as soon as it has returned. The next turn follows, until one has no call.

    ``close`` stops the model behind its next token, and so does leaving a ``with`` block; functions run where the
    stream is read, and none is interrupted. An exception of the loop ends the stream.

    Example::

        with gen.tool_loop("What is 20 + 22?", [add], stream=True) as stream:
            for event in stream:
                match event:
                    case events.Text(text):
                        print(text, end="")
                    case ToolResult(call, result):
                        print(call.name, result)
        print(stream.answer.messages)
    """

    def __init__(self, events: Generator[ToolEvent, None, ToolAnswer]) -> None:
        self._events = events
        self._answer: ToolAnswer | None = None

    def __next__(self) -> ToolEvent:
        try:
            return next(self._events)
        except StopIteration as end:
            self._answer = self._answer or end.value
            raise StopIteration from None

    @property
    def answer(self) -> ToolAnswer:
        """What came of the loop; waits for its end. ``ArgumentError`` if the stream was closed, or broke, before."""
        for _ in self:
            pass
        if self._answer is None:
            raise ArgumentError("the tool loop has no answer: its stream was closed, or an error ended it")
        return self._answer

    def close(self) -> None:
        """Stop. What the functions did stays done."""
        self._events.close()

    def __enter__(self) -> ToolStream:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<interlock ToolStream, {'open' if self._answer is None else 'ended'}>"
