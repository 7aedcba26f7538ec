"""Servers with OpenAI's interface: the right field for each output type, and the answer as a value."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from collections.abc import Generator as Pieces
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, TypeVar, Unpack, overload

from interlock._core import ArgumentError
from interlock.generators.base import DEFAULT_MAX_TOKENS, Generator, TextType
from interlock.generators.call_arguments.arguments import (
    MISSING,
    Prompt,
    as_messages,
    check_max_tokens,
    check_options,
    check_prompt,
    is_batch,
    refuse_more,
    refuse_of_calls,
)  # fmt: skip
from interlock.generators.call_arguments.prefill_text import prefill_of
from interlock.generators.call_options import CallOptions
from interlock.generators.cancelled_calls import in_threads
from interlock.generators.error_hints import error_hints
from interlock.generators.prompts.described_prompt import described, described_rows, take_describe
from interlock.generators.replies.attempts import Asking, asked, take_attempts
from interlock.generators.replies.completion import Known, take_details, written
from interlock.generators.replies.finished_items import element_reader
from interlock.generators.replies.reply_check import ReplyCheck
from interlock.generators.replies.validation_context import reads_in_context
from interlock.generators.replies.values import batch_values, check_errors, named_rows, parser, raised_or_returned
from interlock.generators.server_requests import Request, openai_request
from interlock.generators.stream import AsyncStream
from interlock.output_types import InvalidOutputError, OutputType
from interlock.util.near_words import meant
from interlock.util.quoting import quoted, shortened

__all__ = ["AsyncOpenAIGenerator", "OpenAIGenerator", "is_asynchronous"]

T = TypeVar("T")

_REFUSED = frozenset(
    ("model", "messages", "max_tokens", "max_completion_tokens", "response_format", "stream", "n", "self")
)
_SERVERS = ("openai", "vllm", "sglang")
_OPTIONS = frozenset(
    "audio extra_body extra_headers extra_query frequency_penalty logit_bias logprobs metadata modalities "
    "parallel_tool_calls prediction presence_penalty prompt_cache_key reasoning_effort safety_identifier seed "
    "service_tier stop store stream_options temperature timeout tool_choice top_logprobs top_p user verbosity "
    "web_search_options".split()
)
"""Keywords of a chat completion, where a client does not say them."""
_IN_BODY = {
    name: f"servers that know it take it in the body: pass extra_body={{{name!r}: ...}}"
    for name in ("top_k", "min_p", "repetition_penalty", "min_tokens", "ignore_eos", "length_penalty")
}
_AT_ONCE = 16
_LONGEST_REFUSAL = 300
"""Characters of a refusal in the message; ``text`` of the error has all of it."""


def is_asynchronous(client: Any) -> bool:
    """Whether calls of a client are awaited."""
    return any(kind.__name__.startswith("Async") for kind in type(client).__mro__)


class _Requests(Generator):
    """What both kinds of clients share."""

    backend = "the server"

    def __init__(self, client: Any, model: str, *, server: str = "openai") -> None:
        create = getattr(getattr(getattr(client, "chat", None), "completions", None), "create", None)
        if not callable(create):
            raise ArgumentError(f"a client is needed, openai.OpenAI(), not {type(client).__name__}")
        if not isinstance(model, str) or not model:
            raise ArgumentError(f"model is the name of a model of the server, not {quoted(model)}")
        if server not in _SERVERS:
            hint = meant(server.lower(), _SERVERS) if isinstance(server, str) else ""
            raise ArgumentError(f"server is one of {', '.join(_SERVERS)}, not {quoted(server)}{hint}")
        super().__init__()
        self.client, self.model, self.server = client, model, server
        self._create = create
        self._checks: dict[Any, ReplyCheck] = {}

    def _check_options(self, options: Mapping[str, Any]) -> None:
        """Options are those of the client's method. What wraps a client may take ``**more``, any name at all: there the
        names of OpenAI's interface are known, and one that is nearly one of them is misspelt.
        """
        if "chat" in options:
            raise ArgumentError(
                "the server has no option 'chat': it reads a text as what the user says. Leave it out, or pass messages"
            )
        parameters = inspect.signature(self._create).parameters.values()
        known = {one.name for one in parameters if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)} - _REFUSED
        if any(one.kind is one.VAR_KEYWORD for one in parameters):
            check_options(options, known | _OPTIONS | set(_IN_BODY), self.backend, is_open=True)
        else:
            check_options(options, known, self.backend, elsewhere=_IN_BODY)

    def _call(
        self, prompt: Prompt, output: OutputType[Any], max_tokens: int, options: dict[str, Any]
    ) -> tuple[Request, dict[str, Any]]:
        """The request, and the keywords of the client's call. What is wrong with the type is said before it is sent."""
        self._check(output)
        limit = "max_completion_tokens" if self.server == "openai" else "max_tokens"
        messages = as_messages(prompt)
        request = openai_request(output, self.server, prefill_of(messages))
        fields = {"model": self.model, "messages": messages, limit: max_tokens, **options, **request.fields}
        if output.stop:
            fields["stop"] = list(output.stop)
        if "extra_body" in request.fields and options.get("extra_body"):
            fields["extra_body"] = {**options["extra_body"], **request.fields["extra_body"]}
        return request, fields

    def _check(self, output: OutputType[Any]) -> ReplyCheck:
        known = self._checks.get(output.key)
        if known is None:
            known = self._checks[output.key] = ReplyCheck(output)
        return known

    def _text(self, answer: Any, request: Request, output: OutputType[Any], max_tokens: int) -> str:
        choice = answer.choices[0]
        refusal = getattr(choice.message, "refusal", None)
        if refusal:
            said = f"the model refuses to answer: {shortened(refusal, _LONGEST_REFUSAL)}"
            raise _with_reason(InvalidOutputError(said, refusal), choice.finish_reason)
        text = self._finished(choice.message.content or "", choice.finish_reason, request, output, max_tokens)
        return written(text, functools.partial(_known, answer))

    def _finished(
        self, text: str, reason: str | None, request: Request, output: OutputType[Any], max_tokens: int
    ) -> str:
        try:
            return self._check(output)(request.unwrap(text), output.parse)
        except InvalidOutputError as error:
            if reason != "length":
                raise _with_reason(error, reason)  # noqa: B904 - it is the same error
        said = f"the server stopped at max_tokens={max_tokens} in the middle of {output.name}: allow more tokens"
        raise _with_reason(InvalidOutputError(said, text), reason)


class OpenAIGenerator(_Requests):
    """A model behind an ``openai.OpenAI`` client. See ``from_openai``."""

    def _texts(
        self, prompts: list[Prompt], output: OutputType[Any], max_tokens: int, options: dict[str, Any]
    ) -> list[str | InvalidOutputError]:
        return self._texts_of_types(prompts, [output] * len(prompts), max_tokens, options)

    def _texts_of_types(
        self, prompts: list[Prompt], outputs: Sequence[OutputType[Any]], max_tokens: int, options: dict[str, Any]
    ) -> list[str | InvalidOutputError]:
        def one(prompt: Prompt, output: OutputType[Any]) -> str | InvalidOutputError:
            request, fields = self._call(prompt, output, max_tokens, options)
            answer = self._create(**fields)
            try:
                return self._text(answer, request, output, max_tokens)
            except InvalidOutputError as error:
                return error

        if len(prompts) < 2:
            return list(map(one, prompts, outputs))
        with ThreadPoolExecutor(min(_AT_ONCE, len(prompts))) as pool:
            return list(pool.map(in_threads(one), prompts, outputs))

    def _pieces(
        self, prompt: Prompt, output: OutputType[Any], max_tokens: int, options: dict[str, Any], ends: list[Known]
    ) -> Iterator[str]:
        request, fields = self._call(prompt, output, max_tokens, options)
        _no_envelope(request)
        return self._streamed(fields, request, output, max_tokens, ends)

    def _streamed(
        self,
        fields: dict[str, Any],
        request: Request,
        output: OutputType[Any],
        max_tokens: int,
        ends: list[Known],
    ) -> Pieces[str, None, str | None]:
        text, reason, heard = "", None, _Heard()
        if request.prefill:
            yield request.prefill
        try:
            for chunk in self._create(**fields, stream=True):
                heard.take(chunk)
                piece, ended = _piece(chunk)
                text, reason = text + piece, ended or reason
                if piece:
                    yield piece
        finally:  # Where a text ends free text, nothing more is read.
            ends.append(heard.known())
        self._finished(text, reason, request, output, max_tokens)
        return reason


class AsyncOpenAIGenerator(_Requests):
    """A model behind an ``openai.AsyncOpenAI`` client: every call is awaited. See ``from_openai``."""

    @overload  # type: ignore[override]
    async def __call__(
        self, prompt: Prompt, output_type: type[T], *, max_tokens: int = ..., **options: Unpack[CallOptions]
    ) -> T: ...
    @overload
    async def __call__(
        self, prompt: Prompt, output_type: TextType = ..., *, max_tokens: int = ..., **options: Unpack[CallOptions]
    ) -> str: ...
    @overload
    async def __call__(
        self,
        prompt: Any,
        output_type: Any = ...,
        *,
        max_tokens: int = ...,
        errors: Literal["raise", "return"] = ...,
        **options: Unpack[CallOptions],
    ) -> Any: ...
    async def __call__(
        self,
        prompt: Any = MISSING,
        output_type: Any = str,
        *more: Any,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        errors: Literal["raise", "return"] = "raise",
        **options: Any,
    ) -> Any:
        """A value of ``output_type`` for ``prompt``, or a list of values for a list of prompts, asked at once. Errors
        are those of ``Generator``.
        """
        check_prompt(prompt, options)
        refuse_more(output_type, more)
        check_errors(errors)
        if "stream" in options:
            raise ArgumentError("call gen.stream(...), which needs no await, and iterate with async for")
        if is_batch(prompt):
            return await self.batch(prompt, output_type, max_tokens=max_tokens, errors=errors, **options)
        is_described = take_describe(options)
        max_tokens = check_max_tokens(max_tokens)
        attempts, is_detailed = take_attempts(options), take_details(options)
        output = self._prepared(output_type, max_tokens, options)
        with error_hints(max_tokens):
            rows = [described(prompt, output, is_described)]
            values = await self._awaited(
                asked(rows, [output], max_tokens, options, attempts, is_detailed=is_detailed), max_tokens
            )
        return raised_or_returned(values[0], errors)

    async def batch(  # type: ignore[override]
        self,
        prompts: Sequence[Prompt] = MISSING,
        output_type: Any = str,
        *,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        errors: Literal["raise", "return"] = "raise",
        **options: Any,
    ) -> list[Any]:
        """A value for each prompt, in their order. All requests run at once, also those of a list of
        types.
        """
        check_prompt(prompts, options)
        check_errors(errors)
        if not is_batch(prompts):
            raise ArgumentError("batch takes a list of prompts; call the generator itself with a single one")
        is_described = take_describe(options)
        max_tokens = check_max_tokens(max_tokens)
        attempts, is_detailed = take_attempts(options), take_details(options)
        outputs = self._prepared_rows(prompts, output_type, max_tokens, options)
        with error_hints(max_tokens), named_rows():
            rows = described_rows(prompts, outputs, is_described)
            values = await self._awaited(
                asked(rows, outputs, max_tokens, options, attempts, is_detailed=is_detailed), max_tokens
            )
        return batch_values(values, errors)

    async def _awaited(self, asking: Asking, max_tokens: int) -> list[Any]:
        """What comes of the prompts that ``asking`` yields, which are asked at once."""
        texts: Any = None
        while True:
            try:
                prompts, outputs, options = asking.send(texts)
            except StopIteration as end:
                found: list[Any] = end.value
                return found
            each = zip(prompts, outputs)
            texts = await asyncio.gather(*(self._one(prompt, output, max_tokens, options) for prompt, output in each))

    def stream(  # type: ignore[override]
        self, prompt: Prompt = MISSING, output_type: Any = str, *, max_tokens: int = DEFAULT_MAX_TOKENS, **options: Any
    ) -> AsyncStream[Any]:
        """The text piece by piece with ``async for``, and ``await stream.value()`` at the end."""
        check_prompt(prompt, options)
        if is_batch(prompt):
            raise ArgumentError(
                "a stream has one prompt: make a stream for each, or await gen.batch(prompts, output_type)"
            )
        refuse_of_calls(options, "a stream")
        is_described = take_describe(options)
        max_tokens = check_max_tokens(max_tokens)
        read_element = reads_in_context(element_reader(output_type), options.get("context"))
        output = self._prepared(output_type, max_tokens, options)
        with error_hints(max_tokens):
            request, fields = self._call(described(prompt, output, is_described), output, max_tokens, options)
        _no_envelope(request)
        reasons: list[str | None] = [None]
        heard = _Heard()
        pieces = self._async_pieces(fields, request, output, max_tokens, reasons, heard)
        return AsyncStream(
            pieces,
            parser(output, max_tokens),
            is_json=output.kind == "json_schema",
            finish_reason=lambda: reasons[-1],
            read_element=read_element,
            known=heard.known,
        )

    async def _one(
        self, prompt: Prompt, output: OutputType[Any], max_tokens: int, options: dict[str, Any]
    ) -> str | InvalidOutputError:
        request, fields = self._call(prompt, output, max_tokens, options)
        answer = await self._create(**fields)
        try:
            return self._text(answer, request, output, max_tokens)
        except InvalidOutputError as error:
            return error

    async def _async_pieces(
        self,
        fields: dict[str, Any],
        request: Request,
        output: OutputType[Any],
        max_tokens: int,
        reasons: list[str | None],
        heard: _Heard,
    ) -> AsyncIterator[str]:
        """The pieces; ``reasons`` takes why the server stopped, which a generator that is awaited cannot return, and
        ``heard`` what else the server says.
        """
        text, reason = "", None
        if request.prefill:
            yield request.prefill
        async for chunk in await self._create(**fields, stream=True):
            heard.take(chunk)
            piece, ended = _piece(chunk)
            text, reason = text + piece, ended or reason
            if piece:
                yield piece
        reasons.append(reason)
        self._finished(text, reason, request, output, max_tokens)

    def _texts(self, *args: Any) -> list[str]:
        raise ArgumentError("the client is asynchronous: await the call")

    def _pieces(self, *args: Any) -> Iterator[str]:
        raise ArgumentError("the client is asynchronous: await the call")


def _with_reason(error: InvalidOutputError, reason: str | None) -> InvalidOutputError:
    """``error`` with why the server stopped."""
    error.finish_reason = reason
    return error


def _known(answer: Any) -> Known:
    """What a server says of an output besides its text."""
    choice, usage = answer.choices[0], getattr(answer, "usage", None)
    tokens = getattr(getattr(choice, "logprobs", None), "content", None)
    # vLLM names the tokens where the body has return_token_ids.
    ids = getattr(choice, "token_ids", None)
    return Known(
        None if ids is None else list(ids),
        getattr(usage, "prompt_tokens", None),
        getattr(usage, "completion_tokens", None),
        None if tokens is None else [float(one.logprob) for one in tokens],
        choice.finish_reason,
    )


class _Heard:
    """What the chunks of a stream say besides their texts. The last one has the numbers of tokens, where the server was
    asked for them by ``stream_options={"include_usage": True}``.
    """

    def __init__(self) -> None:
        self._usage: Any = None
        self._ids: list[int] | None = None
        self._logprobs: list[float] | None = None

    def take(self, chunk: Any) -> None:
        """One more chunk."""
        self._usage = getattr(chunk, "usage", None) or self._usage
        choice = chunk.choices[0] if chunk.choices else None
        tokens = getattr(getattr(choice, "logprobs", None), "content", None)
        if (ids := getattr(choice, "token_ids", None)) is not None:
            self._ids = self._ids or []
            self._ids += ids
        if tokens is not None:
            self._logprobs = self._logprobs or []
            self._logprobs += [float(one.logprob) for one in tokens]

    def known(self) -> Known:
        """What is known of the output."""
        prompt = getattr(self._usage, "prompt_tokens", None)
        return Known(self._ids, prompt, getattr(self._usage, "completion_tokens", None), self._logprobs)


def _piece(chunk: Any) -> tuple[str, str | None]:
    """Text and finish reason of a chunk; a server's last chunk may have neither."""
    if not chunk.choices:
        return "", None
    choice = chunk.choices[0]
    return choice.delta.content or "", choice.finish_reason


def _no_envelope(request: Request) -> None:
    """A stream shows the text itself, so that must be what was asked for."""
    if not request.prefill and request.unwrap('{"value": 1}') != '{"value": 1}':
        raise ArgumentError(
            "OpenAI writes this type inside an object, which a stream would show: call without a stream, or use a class"
        )
