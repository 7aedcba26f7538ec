"""One output of a request, as its client gets it: deltas of a stream, or a choice of a chat completion."""

from __future__ import annotations

import codecs
import copy
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from interlock import _core
from interlock._core import ArgumentError, ArtifactError, Guide, InternalError, LimitError, Vocabulary
from interlock.budget_cuts import has_spent_budget
from interlock.events import Event
from interlock.serving.event_stops import EventStops
from interlock.serving.stop_texts import StopReader
from interlock.tools.notations.tool_format import ToolFormat
from interlock.tools.replies.chat_completions import ChatCompletionDeltas, FinishReason, chat_completion_choice
from interlock.util.argument_types import require
from interlock.util.client_messages import of_program
from interlock.util.plurals import counted

__all__ = ["Reply", "check_guide"]


def check_guide(guide: Guide, vocabulary: Vocabulary) -> None:
    """``TypeError`` for what is no guide, ``ArgumentError`` for one whose tokens are not those of ``vocabulary``."""
    if not isinstance(guide, Guide):
        raise TypeError(f"guide must be an interlock.Guide or None, not {type(guide).__name__}")
    if guide.index.vocabulary.fingerprint != vocabulary.fingerprint:
        raise of_program(ArgumentError("the guide is of another vocabulary: pass request.guide or a fork of it"))


class Reply:
    """One output of a request: ``deltas`` of a stream while it is written, ``choice`` when it is whole.

    ``CompiledRequest.reply`` makes one. Text, reasoning and tool calls are told apart where the request has tools or
    the model reasons. Every other output is one text, whatever its grammar or structural tag captures.

    A stop text of the request ends the output, and ``has_ended`` says so. It is looked for in the text alone, neither
    in reasoning nor in calls; text that may be the beginning of one is held back. Where the text has a format, only a
    stop text counts before which it is whole: one inside of a JSON string ends nothing.

    A ``Reply`` cannot be pickled: keep the tokens, and give them to a new one.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        guide: Guide | None,
        *,
        min_tokens: int,
        has_events: bool,
        has_free_text: bool,
        stop_token_ids: Iterable[int],
        stops: StopReader | None,
        format: ToolFormat | None,
        tools: Iterable[Any] | None,
        new_id: Callable[[], str],
        reasoning_field: str | None,
    ) -> None:
        self._vocabulary, self._guide, self._has_events = vocabulary, guide, has_events
        self._min_tokens, self._has_free_text = min_tokens, has_free_text
        self._stop_token_ids = frozenset(stop_token_ids)
        self._stops = stops
        self._event_stops = None if stops is None else EventStops(stops)
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
        self._has_stop_token = self._is_closed = False
        self._tokens: list[int] = []
        # Of the tokens of the guide, where those of ``deltas`` begin: a guide may have taken some before.
        self._begins = [0] if guide is None or not guide.num_tokens else [0, guide.num_tokens]

    def deltas(self, tokens: Iterable[int]) -> list[dict[str, Any]]:
        """The ``delta`` objects of tokens that the output took since the last call, stop tokens included; each goes
        into ``choices[0]["delta"]`` of a chunk. Behind a stop text there are none, whatever comes.

        The guide, where there is one, has taken them already, and none of them may be taken back later: of a draft,
        pass those that stay. ``ArgumentError`` for tokens behind the end. So it is, and nothing changes, for more
        tokens than the guide took, as where a fork took them that ``CompiledRequest.reply`` was not given, and for
        other ones. ``TypeError`` for what is no token ids.

        >>> from interlock.explain import byte_vocabulary
        >>> from interlock.serving import RequestCompiler
        >>> reply = RequestCompiler(byte_vocabulary()).compile({"max_tokens": 5}).reply()
        >>> reply.deltas(b"ok"), reply.deltas([256]), reply.finish_reason
        ([{'role': 'assistant', 'content': ''}, {'content': 'ok'}], [], 'stop')
        """
        require(tokens=(tokens, "token ids"))
        tokens = list(tokens)
        for at, token in enumerate(tokens):
            if isinstance(token, bool) or not hasattr(token, "__index__"):
                require(**{f"tokens[{at}]": (token, "count")})
        if self.stop_text is not None:
            return []
        if self._is_closed and tokens:
            raise ArgumentError("tokens came behind close(): the next output has its own Reply")
        self._check_taken(tokens)
        if not self._has_events or self._guide is None:
            return self._deltas_of_text(tokens)
        self._tokens += tokens
        events = self._guide.events()
        if self._event_stops is not None:
            events = self._event_stops.read(events, len(self._tokens) > self._min_tokens)
        return self._deltas_of_events(events)

    def close(self) -> list[dict[str, Any]]:
        """The last ``delta`` objects, for an output that ends without a stop token: text that was held back, since a
        stop text or a character might have gone on, and a call whose identifier was not whole. Nothing where the output
        has ended. No token may come behind it.

        >>> from interlock.explain import byte_vocabulary
        >>> from interlock.serving import RequestCompiler
        >>> reply = RequestCompiler(byte_vocabulary()).compile({"max_tokens": 5, "stop": "###"}).reply()
        >>> reply.deltas(b"ok##"), reply.close(), reply.finish_reason
        ([{'role': 'assistant', 'content': ''}, {'content': 'ok'}], [{'content': '##'}], 'length')
        """
        if self.has_ended:
            return []
        self._is_closed = True
        if self._has_events:
            held = self._deltas_of_events([] if self._event_stops is None else self._event_stops.release())
            return held + self._stream.close()
        return self._sent(self._read(self._decoder.decode(b"", True), len(self._tokens)) + self._released())

    @property
    def has_ended(self) -> bool:
        """Whether a stop token, a stop text or ``close`` ended the output: its row can leave the batch."""
        return self._has_stop or self._is_closed

    @property
    def _has_stop(self) -> bool:
        return self._has_stop_token or self.stop_text is not None

    @property
    def stop_text(self) -> str | None:
        """The stop text that ended the output."""
        return None if self._stops is None else self._stops.found

    @property
    def finish_reason(self) -> FinishReason | None:
        """``None`` until the output has ended (``has_ended``), as in the chunks of a stream. Of an output that is whole
        it is ``"tool_calls"`` where it ended with calls, and else ``"stop"``: its guide took a stop token, or allowed
        nothing else when ``close`` came, or a stop text ended it. ``"length"`` is one that is not whole: ``close``
        ended it before its end, or its last part is text without a form and used up its tokens. A mask is made behind
        ``close`` alone.

        A guide completes an output within its budget, so a whole one may be shorter than the model would have written:
        ``was_cut_by_budget`` looks for that.

        >>> from interlock.explain import byte_vocabulary
        >>> from interlock.serving import RequestCompiler
        >>> request = RequestCompiler(byte_vocabulary()).compile({"guided_regex": "a+", "max_tokens": 4})
        >>> reply = request.reply()
        >>> request.guide.advance_many([97, 97, 97, 256]), len(reply.deltas([97, 97, 97, 256]))
        (4, 2)
        >>> reply.finish_reason, reply.was_cut_by_budget()
        ('stop', True)
        """
        if not self.has_ended:
            return None
        calls = self._has_events and bool(self._stream.call_ids)
        if not self._has_stop and not self._may_only_stop():
            return "length"
        if calls:
            return "tool_calls"
        if not self._has_free_text or self._guide is None or self.stop_text is not None:
            return "stop"
        return "length" if has_spent_budget(self._guide) else "stop"

    def was_cut_by_budget(self) -> bool:
        """Whether the budget may have shortened an output that has ended: ``Guide.was_cut_by_budget`` of its guide. A
        text stopped where its tokens did, a string in JSON had to be closed, reasoning had to end. Calls that are whole
        are not cut where another one had no room behind them. ``False`` for an output that a stop text ended, and for
        one without a guide.

        It makes masks for the whole output once more: often tens of milliseconds, half a second or seconds for a large
        schema near the end of its budget. Ask in a thread, and not in the event loop.
        """
        if self._guide is None or not self.has_ended or self.stop_text is not None:
            return False
        return self._guide.was_cut_by_budget(including_end=not (self._has_events and self._stream.call_ids))

    def choice(self) -> dict[str, Any]:
        """The element of ``choices`` of a chat completion, of all tokens that ``deltas`` was given: ``index``,
        ``message`` and ``finish_reason``, which is ``None`` where the output has not ended. A call has the identifier
        that its delta had: the notation's own where that stands before the arguments, and else one of ``new_id``.

        >>> from interlock.explain import byte_vocabulary
        >>> from interlock.serving import RequestCompiler
        >>> reply = RequestCompiler(byte_vocabulary()).compile({"max_tokens": 5}).reply()
        >>> _ = reply.deltas([*b"ok", 256])
        >>> reply.choice()
        {'index': 0, 'message': {'role': 'assistant', 'content': 'ok'}, 'finish_reason': 'stop'}
        """
        last = self.copy()  # What is held back may still go on.
        last.close()
        if self._has_events:
            # A client knows calls by the identifiers that it was sent.
            sent = iter(last._stream.new_ids)
            new_id: Callable[[], str] = self._options["new_id"]
            options = self._options | {"new_id": lambda: next(sent, None) or new_id()}
            return chat_completion_choice(last._events, **options) | {"finish_reason": self.finish_reason}
        message = {"role": "assistant", "content": "".join(last._text)}
        return {"index": 0, "message": message, "finish_reason": self.finish_reason}

    def copy(self, guide: Guide | None = None) -> Reply:
        """The same output so far, for a fork of its guide: what the one takes, the other does not. ``guide`` is the
        fork; ``ArgumentError`` for one of another vocabulary.

        >>> from interlock.explain import byte_vocabulary
        >>> from interlock.serving import RequestCompiler
        >>> request = RequestCompiler(byte_vocabulary()).compile({"guided_choice": ["yes", "yesterday"]})
        >>> reply = request.reply()
        >>> request.guide.advance_many(b"yes"), len(reply.deltas(b"yes"))
        (3, 2)
        >>> fork = request.guide.fork()
        >>> other = reply.copy(fork)
        >>> fork.advance_many(b"ter"), other.deltas(b"ter"), reply.choice()["message"]["content"]
        (3, [{'content': 'ter'}], 'yes')
        """
        if guide is not None:
            check_guide(guide, self._vocabulary)
        made = object.__new__(Reply)
        made.__dict__.update(self.__dict__)
        made._guide = self._guide if guide is None else guide
        made._stops = None if self._stops is None else self._stops.copy()
        made._event_stops = None
        if self._event_stops is not None and made._stops is not None:
            made._event_stops = self._event_stops.copy(made._stops)
        made._stream = self._stream.copy()
        made._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        made._decoder.setstate(self._decoder.getstate())
        for name in ("_events", "_text", "_tokens"):
            setattr(made, name, list(getattr(self, name)))
        return made

    def __copy__(self) -> Reply:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Reply:
        return self.copy(None if self._guide is None else copy.deepcopy(self._guide, memo))

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Reply cannot be pickled: pickle the CompiledRequest and the tokens, make request.reply(guide) there, "
            "and give its deltas the tokens once more"
        )

    def _deltas_of_events(self, events: list[Event]) -> list[dict[str, Any]]:
        found = self._stream.take(events)
        self._events += events
        self._has_stop_token = self._stream.has_ended and self.stop_text is None
        return found

    def _deltas_of_text(self, tokens: list[int]) -> list[dict[str, Any]]:
        behind = tokens if self._has_stop_token else tokens[self._until_end(tokens) :]
        if behind:
            raise ArgumentError(f"token {behind[0]} came behind the end of the output: the next one has its own Reply")
        piece = ""
        for token in tokens:
            if self.stop_text is not None:
                break
            self._tokens.append(token)
            self._has_stop_token = token in self._stop_token_ids
            data = b"" if self._has_stop_token else self._vocabulary.decode([token])
            piece += self._read(self._decoder.decode(data, self._has_stop_token), len(self._tokens))
            if self._has_stop_token:
                piece += self._released()
        return self._sent(piece)

    def _until_end(self, tokens: list[int]) -> int:
        """How many tokens there are up to the first stop token, which is one of them."""
        ends = (at for at, token in enumerate(tokens, 1) if token in self._stop_token_ids)
        return next(ends, len(tokens))

    def _read(self, text: str, number: int) -> str:
        """What may be shown of the text of a token, by its number from 1."""
        return text if self._stops is None else self._stops.read(text, number > self._min_tokens)

    def _released(self) -> str:
        return "" if self._stops is None else self._stops.release()

    def _sent(self, piece: str) -> list[dict[str, Any]]:
        if not piece:
            return []
        first = [] if self._text else [{"role": "assistant", "content": ""}]
        self._text.append(piece)
        return [*first, {"content": piece}]

    def _may_only_stop(self) -> bool:
        """Whether the guide allows nothing but the end of the output: it is whole without its stop token."""
        try:
            return self._guide is not None and self._guide.must_stop
        except (LimitError, ArtifactError, InternalError):  # It has failed.
            return False

    def _check_taken(self, tokens: list[int]) -> None:
        """``ArgumentError`` for tokens that the guide did not take."""
        if self._guide is None or not tokens:
            return
        taken, before = self._guide.num_tokens, len(self._tokens)
        other = "pass the guide that takes the tokens to CompiledRequest.reply, and advance it first"
        if before + len(tokens) > taken:
            passed = counted(before + len(tokens), "token")
            said = f"deltas was given {passed}, and the guide of this Reply took {taken}: {other}"
            raise of_program(ArgumentError(said))
        behind = [_core._tokens_behind(self._guide, begin + before)[: len(tokens)] for begin in self._begins]
        fitting = [begin for begin, same in zip(self._begins, behind, strict=True) if same == tokens]
        if not fitting:
            at = next((at for at, (one, same) in enumerate(zip(tokens, behind[0])) if one != same), 0)
            said = f"deltas was given token {tokens[at]} where the guide of this Reply took {behind[0][at]}"
            raise of_program(ArgumentError(f"{said}, after {counted(before + at, 'token')}: {other}"))
        self._begins = fitting
