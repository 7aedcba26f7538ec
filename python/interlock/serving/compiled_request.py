"""A request that was compiled: its index and guide, what reads an output of it, and what is answered where it fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from interlock._core import Guide, Index, ReportRow
from interlock.refusals import Refusal
from interlock.serving.reply import Reply, check_guide
from interlock.serving.request_places import placed
from interlock.serving.stop_texts import StopReader, StopTexts, WholeOutputs
from interlock.tools.replies.chat_completions import new_call_id
from interlock.tools.requests.response_format import Kind, request_kind
from interlock.tools.tags.request_report import request_report
from interlock.util.argument_types import require
from interlock.util.plurals import counted

if TYPE_CHECKING:
    from interlock.serving.request_compiler import RequestCompiler

__all__ = ["CompiledRequest"]

RequestKind: TypeAlias = Kind | Literal["tools"]


@dataclass(frozen=True, repr=False)
class CompiledRequest:
    """A request that is ready to be run."""

    kind: RequestKind
    """What it asks of its output, in one word (see ``interlock.tools.request_kind``), for metrics."""
    index: Index | None
    """``None`` for a request that asks for nothing, which needs no masks."""
    guide: Guide | None
    """A guide at the beginning of the output; ``guide.fork()`` is one more, for a request with ``n`` outputs."""
    n: int
    """How many outputs it asks for."""
    max_tokens: int
    """How many tokens each output may have, its stop token counted as the server counts it."""
    asked_max_tokens: int | None
    """The number in the body, ``None`` where it has none. It is above ``max_tokens`` where the server's is lower."""
    min_tokens: int
    stop: tuple[str, ...]
    """The texts of the client that end an output: ``reply`` looks for them."""
    stop_token_ids: tuple[int, ...]
    """All tokens that end an output: those of the vocabulary and those of the request."""
    tools: tuple[Any, ...]
    place: str
    """The field of the body that the index is of, as a JSON Pointer: ``"/tools"``, ``"/guided_json"``; ``""`` where
    there is none."""
    _compiler: RequestCompiler
    _has_events: bool
    _asked: Any
    _text_index: Index | None
    """What the text of an output is of; ``None`` where it may be any text."""

    def __repr__(self) -> str:
        """Short, whatever the body holds: it goes to logs.

        >>> from interlock.explain import byte_vocabulary
        >>> from interlock.serving import RequestCompiler
        >>> RequestCompiler(byte_vocabulary()).compile({"max_tokens": 1, "n": 2})
        <interlock.serving.CompiledRequest of a text, 1 token, 2 outputs>
        """
        at = f" at {self.place}" if self.place else ""
        outputs = "" if self.n == 1 else f", {counted(self.n, 'output')}"
        digits = "" if self.index is None else f", index {self.index.fingerprint[:12]}"
        most = counted(self.max_tokens, "token")
        return f"<interlock.serving.CompiledRequest of a {self.kind}{at}, {most}{outputs}{digits}>"

    @cached_property
    def _stop_texts(self) -> StopTexts:
        return StopTexts(self.stop)

    def reply(self, guide: Guide | None = None, *, new_id: Callable[[], str] = new_call_id) -> Reply:
        """What reads an output for the client. ``guide`` is that of this output, where it is a fork of ``self.guide``.
        ``new_id`` makes the identifier of a call. ``ArgumentError`` for a guide of another vocabulary.
        """
        if guide is not None:
            check_guide(guide, self._compiler.vocabulary)
        return Reply(
            self._compiler.vocabulary,
            self.guide if guide is None else guide,
            min_tokens=self.min_tokens,
            has_events=self._has_events,
            has_free_text=self._has_events and request_kind(self._asked) == "text",
            stop_token_ids=self.stop_token_ids,
            stops=self._stop_reader(self._text_index) if self.stop else None,
            format=self._compiler.tool_format,
            tools=self.tools,
            new_id=new_id,
            reasoning_field=self._compiler.reasoning_field,
        )

    def report(self) -> list[ReportRow]:
        """What the schemas of the request say and its output is not held to exactly, misspelt keywords among it, with
        the places in the body. See ``interlock.tools.request_report``.

        >>> from interlock.explain import byte_vocabulary
        >>> from interlock.serving import RequestCompiler
        >>> request = RequestCompiler(byte_vocabulary()).compile({"guided_json": {"type": "string", "minLenght": 1}})
        >>> request.report()[0].pointer, request.report()[0].keyword
        ('/guided_json', 'minLenght')
        """
        return request_report(self._asked, self.tools or None, limits=self._compiler.limits)

    def refusal(self, error: BaseException) -> Refusal:
        """What a server answers where an output of this request fails, such as by the ``LimitError`` of a mask: that of
        ``RequestCompiler.refusal``, at ``place`` where the error has no place of its own.

        >>> import interlock
        >>> from interlock.explain import byte_vocabulary
        >>> many = 'start: "[" body\\nbody: ' + " | ".join(f'/.*a.{{{i}}}/ "x"' for i in range(14))
        >>> from interlock.serving import RequestCompiler
        >>> compiler = RequestCompiler(byte_vocabulary(), limits={"max_mask_steps": 1_000})
        >>> request = compiler.compile({"guided_grammar": many})
        >>> request.guide.advance(ord("["))
        >>> try:
        ...     request.guide.fill_bitmask(interlock.allocate_bitmask(1, compiler.vocabulary))
        ... except interlock.LimitError as error:
        ...     answer = request.refusal(error)
        >>> answer.status, answer.body["error"]["param"]
        (400, '/guided_grammar')
        """
        return self._compiler.refusal(placed(error, self.place))

    def cut_at_stop(self, text: str) -> str | None:
        """The output before its first text of ``stop``, for a server that has the text of an output and no tokens;
        ``None`` where there is none. ``reply`` does the same with each token.

        Where the request has an index, only a text counts before which the output is whole: one inside of a JSON string
        ends nothing. ``text`` has its special tokens, where the tool format writes any. Where stop texts are found, the
        output is gone through once.

        >>> from interlock.explain import byte_vocabulary
        >>> from interlock.serving import RequestCompiler
        >>> compiler = RequestCompiler(byte_vocabulary())
        >>> compiler.compile({"stop": ["###"]}).cut_at_stop("Well.### No")
        'Well.'
        >>> compiler.compile({"stop": "###", "guided_regex": '"[a#]*"'}).cut_at_stop('"a###a"') is None
        True
        """
        require(text=(text, "text"))
        reader = self._stop_reader(self.index)
        shown = reader.read(text)
        return None if reader.found is None else shown

    def _stop_reader(self, index: Index | None) -> StopReader:
        return StopReader(self._stop_texts, None if index is None else WholeOutputs(index))
