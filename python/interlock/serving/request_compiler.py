"""From the body of a request to an index and a guide, with the settings of a server that strangers reach."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from traceback import clear_frames
from typing import Any, Literal, TypeAlias

from interlock._core import (
    ArgumentError,
    BudgetError,
    CancelledError,
    CancelToken,
    Index,
    InterlockError,
    Limits,
    Vocabulary,
)
from interlock.masks import make_mask
from interlock.refusals import Refusal, refusal
from interlock.serving.compile_pool import CompilePool, default_compile_threads
from interlock.serving.compiled_request import CompiledRequest
from interlock.serving.known_sources import KnownSources, has_few_fields
from interlock.serving.ready_indexes import KeptIndexes, make_masks_of, stored_index
from interlock.serving.request_fields import (
    AboveMost,
    Ending,
    budget_field,
    check_number_of_tools,
    check_switches,
    ending_of,
    number_of_outputs,
    refuse_grammars,
    said_of_budget,
)
from interlock.serving.request_places import (
    in_stop_token_ids,
    place_of_format,
    place_of_source,
    placed,
    standing_in_body,
)
from interlock.serving.request_reasoning import check_reasoning, reasoning_of
from interlock.serving.server_settings import check_format, checked_allowed_tokens, checked_limits
from interlock.store import Store
from interlock.tools.errors import RequestError
from interlock.tools.notations.detection import detect_format
from interlock.tools.notations.format_files import tool_format
from interlock.tools.notations.json_writing import json_writing
from interlock.tools.notations.tool_format import ToolFormat
from interlock.tools.replies.chat_completions import ChatCompletionDeltas
from interlock.tools.requests.request_body import format_of_request
from interlock.tools.requests.response_format import request_kind
from interlock.tools.tags.request_checks import check_response_format
from interlock.tools.tags.structural_tag import response_template_of
from interlock.util.argument_types import require
from interlock.util.near_words import telling_slips
from interlock.util.quoting import quoted

__all__ = ["RequestCompiler"]

Reasoning: TypeAlias = Literal["none", "optional", "required"]

_AT_ONCE_SECONDS = 0.02
"""How long an event loop may be kept busy by a source that seems to be known."""


class RequestCompiler:
    """Compiles the JSON bodies of requests. It has what a server decides once; any number of threads may share it.

    Bodies are those of OpenAI's chat completions and responses, with vLLM's and SGLang's fields. What is read:
    ``response_format``, ``text.format``, ``structured_outputs``, ``guided_json`` and its like (see
    ``interlock.tools.format_of_request``), ``tools``, ``tool_choice``, ``parallel_tool_calls``,
    ``max_completion_tokens``, ``max_output_tokens``, ``max_tokens``, ``max_reasoning_tokens``, ``min_tokens``, ``n``,
    ``best_of``, ``stop``, ``stop_token_ids`` and the types of ``stream`` and ``stream_options``. Everything else is the
    server's, such as ``temperature``, ``logprobs`` and ``ignore_eos``.

    * ``format``: how the model writes tool calls, or ``"auto"`` with ``tokenizer``; ``None`` for a model that writes
      none, whose requests with tools are refused.
    * ``reasoning``, ``reasoning_is_open``, ``max_reasoning_tokens``: those of ``interlock.tools.structural_tag``. A
      request's own ``max_reasoning_tokens`` makes the number smaller, and is refused where there is no reasoning. With
      reasoning every request has a guide, since its output is read for the delimiters. A client's structural tag is
      compiled as it stands, for it says of the whole output what it may be, reasoning included.
    * ``max_tokens``: the most tokens of an output, and the number of requests that name none. ``above_max_tokens`` says
      what becomes of a larger number in a body: ``"lower"`` makes it ``max_tokens``, and ``asked_max_tokens`` of the
      request tells it; ``"error"`` refuses it.
    * ``stop_tokens``: how many of a client's number are kept for the stop token. 1 is right for servers that count it,
      which most do.
    * ``max_n``: the most outputs of a request (its ``n``); more are refused. 128 is OpenAI's number.
    * ``max_tools``: the most tools of a request; more are refused.
    * ``grammars``: whether clients may send grammars, in a field, a structural tag or a custom tool; ``False`` refuses
      them. They are the kind of source that costs a server most (``docs/servers/operators.md``, *Memory*).
    * ``seconds``: the deadline of one compile; ``None`` for none. ``compile_threads``: how many sources
      ``compile_async`` compiles at once in each of its lanes; without it half as many as there are processors, from 2
      to 8.
    * ``limits``: those of one compile. Without it, and in a mapping that does not name them, a source has at most 1 MiB
      and its compile 750,000 steps, the masks of a grammar 500,000 steps and its states 64 MiB; a ``Limits`` object is
      taken as it is.
    * ``allowed_tokens``: the special tokens that a client may name; without it all but those of roles, and with an
      empty list none.
    * ``unknown_keywords``, ``whitespace``, ``spelling``: those of ``Index.from_response_format``. The defaults are for
      strangers, and for models that should spend no token on blanks.
    * ``regex_flags``: flags of a client's pattern (``guided_regex`` and its like), letters of Python's. With ``"a"``
      ``\\d``, ``\\w`` and ``\\s`` are ASCII, as in the plug-ins; ``""`` is as Python has them. Patterns in schemas,
      grammars, structural tags and custom tools have none.
    * ``store``: a store of indexes that were precomputed. What is not in it is compiled, and not added, since strangers
      would fill it. Compiled indexes are kept in memory in any case.
    * ``reasoning_field``: the field of reasoning in what clients get.

    Every setting is checked when the object is made, and one tool is compiled in the format, which takes milliseconds.
    ``ToolFormatError`` for an unknown format, ``VocabularyError`` for one that the tokens cannot spell, ``TypeError``
    for a value of another type and a limit that does not exist, and ``ArgumentError`` for other settings that make no
    sense.
    """

    @telling_slips
    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        format: str | os.PathLike[str] | Mapping[str, Any] | ToolFormat | None = None,
        tokenizer: Any = None,
        reasoning: Reasoning = "none",
        reasoning_is_open: bool | None = None,
        max_reasoning_tokens: int | None = None,
        max_tokens: int = 4096,
        above_max_tokens: AboveMost = "lower",
        stop_tokens: int = 1,
        max_n: int = 128,
        max_tools: int = 256,
        grammars: bool = True,
        seconds: float | None = 10.0,
        compile_threads: int | None = None,
        limits: Limits | Mapping[str, int] | None = None,
        allowed_tokens: Iterable[int | str] | Literal["all"] | None = None,
        unknown_keywords: Literal["warn", "ignore", "error"] = "ignore",
        whitespace: Literal["flexible", "compact"] = "compact",
        spelling: Literal["any", "plain"] = "plain",
        regex_flags: str = "a",
        store: Store | None = None,
        reasoning_field: str | None = "reasoning_content",
    ) -> None:
        require(vocabulary=(vocabulary, "vocabulary"), max_tokens=(max_tokens, "count"))
        require(stop_tokens=(stop_tokens, "count"), max_n=(max_n, "count"), max_tools=(max_tools, "count"))
        require(compile_threads=(compile_threads, "count?"), grammars=(grammars, "flag"))
        require(above_max_tokens=(above_max_tokens, "text"), reasoning_field=(reasoning_field, "text?"))
        require(allowed_tokens=(allowed_tokens, "special tokens?"), limits=(limits, "limits?"))
        if not isinstance(store, Store | None):
            raise TypeError(f"store must be an interlock.Store or None, not {type(store).__name__}")
        if max_tokens < 1:
            raise ArgumentError(f"max_tokens is {max_tokens}: an output has at least one token")
        if not 0 <= stop_tokens < max_tokens:
            raise ArgumentError(f"stop_tokens is {stop_tokens}: it is at least 0, and less than max_tokens")
        if above_max_tokens not in ("lower", "error"):
            raise ArgumentError(f'above_max_tokens is "lower" or "error", not {quoted(above_max_tokens)}')
        if max_n < 1:
            raise ArgumentError(f"max_n is {max_n}: a request has at least one output")
        if max_tools < 1:
            raise ArgumentError(f"max_tools is {max_tools}: format=None is for a model that calls none")
        if compile_threads is not None and compile_threads < 1:
            raise ArgumentError(f"compile_threads is {compile_threads}: one source at least is compiled at once")
        if seconds is not None:
            CancelToken.after(seconds)
        self.vocabulary, self.max_tokens, self.stop_tokens = vocabulary, max_tokens, stop_tokens
        self.max_n, self.max_tools, self._above = max_n, max_tools, above_max_tokens
        self._takes_grammars = grammars
        self.seconds, self.store, self.reasoning_field = seconds, store, reasoning_field
        self._pool = CompilePool(default_compile_threads() if compile_threads is None else compile_threads)
        self._known, self._kept = KnownSources(), KeptIndexes()
        self._format: Any = format
        self.tool_format: ToolFormat | None = None
        if format is not None:
            # Found once, and not with each request.
            self._format = response_template_of(format, tokenizer)
            if self._format is None:
                form = detect_format(tokenizer) if isinstance(format, str) and format == "auto" else format
                self._format = self.tool_format = tool_format(form)
        elif tokenizer is not None:
            raise ArgumentError('the tokenizer is read for the format alone: pass format="auto" with it')
        self._reasoning: dict[str, Any] = {
            "reasoning": reasoning,
            "reasoning_is_open": reasoning_is_open,
            "max_reasoning_tokens": max_reasoning_tokens,
        }
        check_reasoning(format is not None, self.tool_format, self._reasoning)
        self._written: dict[str, Any] = {"whitespace": whitespace, "spelling": spelling, "regex_flags": regex_flags}
        self.limits = checked_limits(limits)
        self._work: dict[str, Any] = {"limits": self.limits, "unknown_keywords": unknown_keywords}
        self._allowed = checked_allowed_tokens(allowed_tokens, vocabulary)
        # The words among the settings are refused now, and not with each request.
        json_writing(whitespace, spelling)
        check_response_format({"type": "json_object"}, **self._written, unknown_keywords=unknown_keywords)
        ChatCompletionDeltas(reasoning_field=reasoning_field)
        if format is not None:
            check_format(vocabulary, format=self._format, **self._reasoning, **self._written, **self._work)

    def __repr__(self) -> str:
        """Short, whatever the settings are: it goes to logs. Compiles are those of ``compile_async``.

        >>> from interlock.explain import byte_vocabulary
        >>> RequestCompiler(byte_vocabulary(), format="hermes", compile_threads=2)
        <interlock.serving.RequestCompiler of hermes, 2 threads a lane, 0 kept, 0 running, 0 waiting>
        """
        form = "a response template" if self._format is not None else "no format"
        name = form if self.tool_format is None else self.tool_format.name
        return f"<interlock.serving.RequestCompiler of {name}, {self._pool.state(len(self._kept))}>"

    def compile(
        self,
        body: Any,
        *,
        cancel: CancelToken | None = None,
        reasoning: Reasoning | None = None,
        reasoning_is_open: bool | None = None,
        context_ids: Iterable[int] | None = None,
    ) -> CompiledRequest:
        """The request in a body, as ``json.loads`` gives it.

        ``cancel`` ends the compile; without it there is one with the deadline of ``seconds``, which begins with the
        call and counts the reading of the body, as in ``compile_async``. ``reasoning`` and ``reasoning_is_open`` are
        those of this request, where its chat template turns reasoning on or off. ``context_ids`` are the tokens of the
        prompt, for ``Guide.forced_tokens``.

        The first mask of the output is made here too, so that no step of a batch waits for it, and a grammar whose mask
        is too much work is refused before it joins one.

        Whatever a client has done wrong is an error of this package, and ``refusal`` is the answer to every exception.

        >>> from interlock.explain import byte_vocabulary
        >>> compiler = RequestCompiler(byte_vocabulary(), format="hermes")
        >>> compiler.compile({"tools": [{"name": "now"}], "tool_choice": "required"}).guide.forced_text()
        '<tool_call>\\n{"name": "now", "arguments": {'
        """
        if cancel is None and self.seconds is not None:
            cancel = CancelToken.after(self.seconds)
        return self._compiled_here(body, cancel, reasoning, reasoning_is_open, context_ids, first_mask=True)

    def _compiled_here(self, body: Any, *arguments: Any, first_mask: bool, **options: Any) -> CompiledRequest:
        """What ``compile`` returns, with or without the first mask. Errors hold nothing of what was compiled."""
        try:
            made = self._compiled(body, self._found, *arguments, **options)
            if first_mask and made.guide is not None:
                make_mask(made.guide)
            return made
        except InterlockError as error:
            # Their frames hold what was compiled, for as long as somebody keeps the error.
            made = None
            chain: BaseException | None = error
            while chain is not None:
                clear_frames(chain.__traceback__)
                chain = chain.__cause__ or chain.__context__
            raise

    def precompute(self, body: Any, store: Store, *, cancel: CancelToken | None = None) -> list[str]:
        """Compile a body that this compiler will meet, and add its indexes to ``store``, where a compiler with this
        store finds them. Their keys are returned, none for a request for nothing. For bodies of your own: neither
        ``limits`` nor ``seconds`` count, and strangers would fill the store. Errors are those of ``compile`` and of
        ``Store.get_or_compile``.

        >>> import tempfile, interlock
        >>> from interlock.explain import byte_vocabulary
        >>> store = interlock.Store(tempfile.mkdtemp())
        >>> keys = RequestCompiler(byte_vocabulary()).precompute({"guided_choice": ["yes", "no"]}, store)
        >>> keys == list(store)
        True
        """
        if not isinstance(store, Store):
            raise TypeError(f"store must be an interlock.Store, not {type(store).__name__}")
        keys: list[str] = []

        def added(kind: str, source: Any, options: dict[str, Any], _deadline: CancelToken | None) -> Index:
            found = store.get_or_compile(kind, source, self.vocabulary, **options, cancel=cancel)
            keys.append(store.key_of(kind, source, self.vocabulary, **options))
            return found

        self._compiled(body, added, cancel)
        return keys

    def keep(
        self, body: Any, outputs: Iterable[Iterable[int]] = (), *, cancel: CancelToken | None = None
    ) -> CompiledRequest:
        """Compile a body that clients may send, and keep its indexes for as long as this compiler lives: no request for
        it compiles, whatever the caches and the memory of sources are filled with. ``outputs`` are tokens of typical
        outputs: what their masks need is found now, so that guides take next to no memory there. For bodies of your
        own: neither ``limits`` nor ``seconds`` count. Errors are those of ``compile``, and ``ArgumentError`` for an
        output that the body does not allow.

        >>> from interlock.explain import byte_vocabulary
        >>> compiler, body = RequestCompiler(byte_vocabulary()), {"guided_grammar": 'start: "(" start ")" | "x"'}
        >>> kept = compiler.keep(body, [b"((x))"])
        >>> compiler.compile(body | {"max_tokens": 50}).index is kept.index
        True
        """

        def kept(kind: str, source: Any, options: dict[str, Any], _deadline: CancelToken | None) -> Index:
            make, unknown = getattr(Index, f"from_{kind}"), self._work["unknown_keywords"]
            index: Index = make(source, self.vocabulary, **options, unknown_keywords=unknown, cancel=cancel)
            self._kept.add(kind, source, options, index)
            return index

        made = self._compiled(body, kept, cancel)
        for at, output in enumerate(outputs):
            if made.guide is not None:
                make_masks_of(made.guide.fork(), output, f"outputs[{at}]")
        return made

    def _compiled(
        self,
        body: Any,
        find: Callable[[str, Any, dict[str, Any], CancelToken | None], Index],
        cancel: CancelToken | None = None,
        reasoning: Reasoning | None = None,
        reasoning_is_open: bool | None = None,
        context_ids: Iterable[int] | None = None,
    ) -> CompiledRequest:
        """What ``compile`` returns. ``find`` gets or makes the index of a source."""
        require(cancel=(cancel, "cancel?"))
        asked, ending, outputs = self._read(body)
        given, choice = body.get("tools"), body.get("tool_choice")
        place = place_of_format(asked)
        with standing_in_body(place):
            kind = request_kind(asked, given, choice)
        place = "/tools" if kind == "tools" else place
        if not self._takes_grammars:
            refuse_grammars(kind, place, asked, given)
        thinks = reasoning_of(
            self._reasoning,
            body,
            reasoning,
            reasoning_is_open,
            has_format=self._format is not None,
            form=self.tool_format,
            is_read=kind != "structural_tag",
        )
        has_events = kind == "tools" or (thinks["reasoning"] != "none" and kind != "structural_tag")
        stops = tuple(dict.fromkeys((*self.vocabulary.eos_token_ids, *ending.stop_token_ids)))
        index = guide = text_index = None
        if kind != "text" or has_events:
            with standing_in_body(place):
                index = text_index = self._index(find, body, asked, has_events, thinks, cancel)
            if has_events:
                # The text is a part of the output: its form is that of the answer.
                has_form = bool(ending.stop) and request_kind(asked) != "text"
                text_index = self._index(find, body, asked, False, thinks, cancel) if has_form else None
            room = self._room(ending.max_tokens)
            with in_stop_token_ids(ending.stop_token_ids):
                guide = index.guide(
                    max_tokens=room,
                    min_tokens=min(ending.min_tokens, room),
                    stop_token_ids=stops if ending.stop_token_ids else None,
                    context_ids=context_ids,
                )
        return CompiledRequest(
            kind=kind,
            index=index,
            guide=guide,
            n=outputs,
            max_tokens=ending.max_tokens,
            asked_max_tokens=ending.asked_max_tokens,
            min_tokens=ending.min_tokens,
            stop=ending.stop,
            stop_token_ids=stops,
            tools=tuple(given) if kind == "tools" else (),
            place=place,
            _compiler=self,
            _has_events=has_events,
            _asked=asked,
            _text_index=text_index,
        )

    async def compile_async(self, body: Any, *, client: Hashable = None, **options: Any) -> CompiledRequest:
        """``compile`` in a thread, so that the event loop goes on. When the task is cancelled, because its client has
        gone, the compile ends too. ``options`` are those of ``compile``, but for ``cancel``.

        A request for nothing does not wait, nor does a source of up to 64 Ki characters that is known: its index is in
        use, or it came twice and is among those that came last (``set_index_cache_bytes``). It costs the event loop
        less than a millisecond, and 20 at most where its index is gone.

        Other sources wait for a thread, and slow ones do not hold up quick ones: a compile that takes longer than 0.03
        seconds ends, and begins anew behind its like, and so does one of more than 0.3 seconds. Each of these three
        lanes compiles ``compile_threads`` sources at once. ``seconds`` begin when a compile does: ``asyncio.timeout``
        bounds it and the waiting together. A longer source, and a body of more than 200 fields, begin in the last lane.
        Where the ``store`` is behind a URL all sources take a thread.

        ``client`` says whose request it is, as a key of an account or an address. Clients take turns at the threads of
        a lane, and none has the last one of them: many sources of one hold up no other. ``TypeError`` for what has no
        hash. All requests without a client are of one that may have every thread.

        >>> import asyncio
        >>> from interlock.explain import byte_vocabulary
        >>> asyncio.run(RequestCompiler(byte_vocabulary()).compile_async({"guided_choice": ["yes", "no"]})).kind
        'choice'
        """
        if "cancel" in options:
            raise TypeError("compile_async takes no cancel: cancel the task, or use compile in a thread of your own")
        hash(client)  # What has none is no client.
        key = None
        if isinstance(options.get("context_ids"), Iterator):
            options["context_ids"] = list(options["context_ids"])  # It may be read more than once.
        if not isinstance(body, Mapping) or has_few_fields(body):
            asked = self._read(body)[0]
            thinks = (options.get("reasoning") or self._reasoning["reasoning"]) != "none"
            if asked is None and not body.get("tools") and not thinks:
                return self._compiled_here(body, first_mask=False, **options)
            key = self._known.key_of(body, asked, options)
        is_near = self.store is None or self.store.url is None
        if key is not None and key in self._known and is_near and not self._pool.overstays(key):
            seconds = _AT_ONCE_SECONDS if self.seconds is None else min(self.seconds, _AT_ONCE_SECONDS)
            try:
                # Its first mask was made when it came first.
                made = self._compiled_here(body, CancelToken.after(seconds), first_mask=False, **options)
                self._known.add(key)
                return made
            except CancelledError:  # It has left the cache.
                self._known.discard(key)
        made = await self._pool.run(
            lambda token: self.compile(body, cancel=token, **options), self.seconds, key, client
        )
        if key is not None:
            self._known.add(key)
        return made

    @property
    def num_waiting(self) -> int:
        """How many compiles of ``compile_async`` wait for a thread, in all three lanes: beyond a number of yours a
        server answers 503 and compiles nothing. It takes microseconds.

        >>> from interlock.explain import byte_vocabulary
        >>> compiler = RequestCompiler(byte_vocabulary())
        >>> compiler.num_waiting, compiler.num_running
        (0, 0)
        """
        return self._pool.num_waiting

    def num_waiting_of(self, client: Hashable) -> int:
        """How many compiles of a ``client`` wait for a thread: beyond a number of yours a server answers 429."""
        return self._pool.num_waiting_of(client)

    @property
    def num_running(self) -> int:
        """How many compiles of ``compile_async`` run in threads, those among them whose client has gone and that have
        not ended yet.
        """
        return self._pool.num_running

    def close(self) -> None:
        """End the compiles of ``compile_async``, running and waiting ones, with ``CancelledError``, and wait for its
        threads, mostly a fraction of a second. ``compile_async`` is an ``ArgumentError`` from then on where it would
        need a thread. ``refusal`` answers both with 503. ``compile`` and the requests that were compiled go on. A
        compiler that is dropped needs no ``close``.
        """
        self._pool.close()

    def refusal(self, error: BaseException, body: Any = None) -> Refusal:
        """``interlock.refusal`` with the number of tokens as the client counts and calls it, and a word where it is the
        server's number and not the client's. What has no place of its own, such as the ``LimitError`` of a mask, is at
        the field of the constraint; ``CompiledRequest.refusal`` does the same where the body is gone. ``status`` is the
        HTTP status, and ``body`` the JSON object to send.

        >>> from interlock.explain import byte_vocabulary
        >>> compiler, body = RequestCompiler(byte_vocabulary()), {"guided_regex": "a{9}", "max_completion_tokens": 5}
        >>> try:
        ...     compiler.compile(body)
        ... except Exception as error:
        ...     compiler.refusal(error, body).message
        'max_completion_tokens is 5, but a complete output needs 10 tokens'
        """
        error, name = placed(error, place_of_source(body)), budget_field(body)
        answer = refusal(error, stop_tokens=self.stop_tokens, budget=name)
        if not isinstance(error, BudgetError):
            return answer
        return replace(answer, message=said_of_budget(answer.message, name, body, self.max_tokens))

    def _read(self, body: Any) -> tuple[dict[str, Any] | None, Ending, int]:
        """The constraint, the end and the number of outputs of a body."""
        asked = format_of_request(body)
        ending = ending_of(body, self.vocabulary, self.max_tokens, self._above)
        outputs = number_of_outputs(body, self.max_n)
        check_switches(body)
        check_number_of_tools(body, self.max_tools)
        return asked, ending, outputs

    def _room(self, max_tokens: int) -> int:
        """The tokens that a guide may take of a request's number: those of the stop token are left out."""
        return max(max_tokens - self.stop_tokens, 0)

    def _index(
        self,
        find: Callable[[str, Any, dict[str, Any], CancelToken | None], Index],
        body: Mapping[str, Any],
        asked: Any,
        has_events: bool,
        thinks: dict[str, Any],
        cancel: CancelToken | None,
    ) -> Index:
        options: dict[str, Any] = {**self._written, "allowed_tokens": self._allowed}
        if not has_events:
            return find("response_format", asked, options, cancel)
        if self._format is None:
            raise RequestError("the model of this server calls no tools: leave them out", "/tools")
        tools = body.get("tools") or ()
        options |= {"format": self._format, "response_format": asked, **thinks}
        options["tool_choice"] = body.get("tool_choice") if tools else "none"
        options["parallel"] = body.get("parallel_tool_calls")
        return find("tools", tools, options, cancel)

    def _found(self, kind: str, source: Any, options: dict[str, Any], cancel: CancelToken | None) -> Index:
        """The index that is kept or in the store, or the compiled one."""
        index = self._kept.find(kind, source, options)
        if index is None and self.store is not None:
            index = stored_index(self.store, kind, source, options, self.vocabulary)
        if index is None:
            index = getattr(Index, f"from_{kind}")(source, self.vocabulary, **options, **self._work, cancel=cancel)
        return index
