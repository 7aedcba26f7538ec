"""One output of a request, as its client gets it: deltas of a stream, or a choice of a chat completion."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from interlock._core import ArgumentError, Guide, Vocabulary
from interlock.budget_cuts import has_budget_cut
from interlock.events import Event
from interlock.tools.notations.tool_format import ToolFormat
from interlock.tools.replies.chat_completions import ChatCompletionDeltas, FinishReason, chat_completion_choice

__all__ = ["Reply"]


class Reply:
    """One output of a request: ``deltas`` of a stream while it is written, ``choice`` when it is whole.

    ``CompiledRequest.reply`` makes one. Text, reasoning and tool calls are told apart where the request has tools or
    the model reasons. Every other output is one text, whatever its grammar or structural tag captures.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        guide: Guide | None,
        *,
        max_tokens: int,
        first_bytes: Callable[[], npt.NDArray[np.uint16]],
        has_events: bool,
        stop_token_ids: Iterable[int],
        format: ToolFormat | None,
        tools: Iterable[Any] | None,
        new_id: Callable[[], str],
        reasoning_field: str | None,
    ) -> None:
        self._vocabulary, self._guide, self._has_events = vocabulary, guide, has_events
        self._max_tokens, self._first_bytes = max_tokens, first_bytes
        self._stop_token_ids = frozenset(stop_token_ids)
        self._options: dict[str, Any] = {
            "format": format,
            "tools": tools,
            "new_id": new_id,
            "reasoning_field": reasoning_field,
        }
        self._stream = ChatCompletionDeltas(**self._options)
        self._events: list[Event] = []
        # A token may end inside of a character, which is sent with the token that ends it.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text: list[str] = []
        self._has_ended = False
        self._tokens: list[int] = []
        self._was_cut: bool | None = None

    def deltas(self, tokens: Iterable[int]) -> list[dict[str, Any]]:
        """The ``delta`` objects of tokens that the output took since the last call, stop tokens included; each goes
        into ``choices[0]["delta"]`` of a chunk.

        The guide, where there is one, has taken them already, and none of them may be taken back later: of a draft,
        pass those that stay. ``ArgumentError`` for tokens behind the end. So it is, and nothing changes, for more
        tokens than the guide took, as where a fork took them that ``CompiledRequest.reply`` was not given. Whether
        they are the same tokens is looked at once, when the stop token comes.

        >>> from interlock.explain import byte_vocabulary
        >>> from interlock.serving import RequestCompiler
        >>> reply = RequestCompiler(byte_vocabulary()).compile({"max_tokens": 5}).reply()
        >>> reply.deltas(b"ok"), reply.deltas([256]), reply.finish_reason
        ([{'role': 'assistant', 'content': ''}, {'content': 'ok'}], [], 'stop')
        """
        tokens = list(tokens)
        self._check_taken(tokens)
        self._tokens += tokens
        if self._has_events and self._guide is not None:
            events = self._guide.events()
            found = self._stream.take(events)
            self._events += events
            return found
        pieces = []
        for token in tokens:
            if self._has_ended:
                raise ArgumentError(f"token {token} came behind the end of the output: the next one has its own Reply")
            self._has_ended = token in self._stop_token_ids
            if not self._has_ended:
                pieces.append(self._vocabulary.decode([token]))
        piece = self._decoder.decode(b"".join(pieces), self._has_ended)
        first = [{"role": "assistant", "content": ""}] if piece and not self._text else []
        if not piece:
            return []
        self._text.append(piece)
        return [*first, {"content": piece}]

    @property
    def finish_reason(self) -> FinishReason:
        """``"length"`` for an output that has no end (yet), or that its budget ended or left a part of it no room: a
        text that stops where the tokens do, a string in JSON that had to be closed, reasoning that used them up.
        Otherwise it is ``"tool_calls"`` for an output that ended with calls, and ``"stop"`` for one without. Calls that
        are whole are calls, also where the budget had no room for another one behind them.

        A guide ends an output in time by itself, so a stop token alone tells nothing. At the end the output is gone
        through once, with some microseconds a token. Behind a text from outside (``Guide.force``) nothing is looked at.

        >>> from interlock.explain import byte_vocabulary
        >>> from interlock.serving import RequestCompiler
        >>> request = RequestCompiler(byte_vocabulary()).compile({"guided_regex": "a+", "max_tokens": 4})
        >>> reply = request.reply()
        >>> request.guide.advance_many([97, 97, 97, 256]), len(reply.deltas([97, 97, 97, 256]))
        (4, 2)
        >>> reply.finish_reason
        'length'
        """
        said = self._stream.finish_reason if self._has_events else "stop" if self._has_ended else "length"
        return "length" if said == "length" or self._is_cut(reports_ends=said != "tool_calls") else said

    def _is_cut(self, reports_ends: bool) -> bool:
        """Whether the budget decided how an output that has ended went on. The stop tokens are not looked at: those of
        the request are text to another guide.
        """
        if self._guide is None:
            return False
        if self._was_cut is None:
            tokens = self._guide.tokens
            if tokens and tokens[-1] in self._stop_token_ids:
                tokens.pop()
            index, most = self._guide.index, self._max_tokens
            self._was_cut = has_budget_cut(index, tokens, most, self._first_bytes, reports_ends)
        return self._was_cut

    def _check_taken(self, tokens: list[int]) -> None:
        """``ArgumentError`` for tokens that the guide did not take, as far as that is seen cheaply."""
        if self._guide is None:
            return
        taken, passed = self._guide.num_tokens, len(self._tokens) + len(tokens)
        other = "pass the guide that takes the tokens to CompiledRequest.reply, and advance it first"
        if passed > taken:
            raise ArgumentError(f"deltas was given {passed} tokens, and the guide of this Reply took {taken}: {other}")
        if self._guide.is_terminated and not self._stop_token_ids.isdisjoint(tokens):
            if self._guide.tokens[taken - passed :] != [*self._tokens, *tokens]:
                raise ArgumentError(f"deltas was given other tokens than the guide of this Reply took: {other}")

    def choice(self) -> dict[str, Any]:
        """The element of ``choices`` of a chat completion, of all tokens that ``deltas`` was given: ``index``,
        ``message`` and ``finish_reason``.

        >>> from interlock.explain import byte_vocabulary
        >>> from interlock.serving import RequestCompiler
        >>> reply = RequestCompiler(byte_vocabulary()).compile({"max_tokens": 5}).reply()
        >>> _ = reply.deltas([*b"ok", 256])
        >>> reply.choice()
        {'index': 0, 'message': {'role': 'assistant', 'content': 'ok'}, 'finish_reason': 'stop'}
        """
        if self._has_events:
            return chat_completion_choice(self._events, **self._options) | {"finish_reason": self.finish_reason}
        # A copy, since a character that is cut off may still be ended by the next token.
        last = codecs.getincrementaldecoder("utf-8")("replace")
        last.setstate(self._decoder.getstate())
        message = {"role": "assistant", "content": "".join(self._text) + last.decode(b"", True)}
        return {"index": 0, "message": message, "finish_reason": self.finish_reason}
