"""The API server's side: sources are checked before the engine sees them, away from the loop that serves requests."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from interlock import CancelledError, InterlockError, LimitError, Vocabulary
from interlock.integrations.metrics import refusal_reason
from interlock.integrations.server_counts import Counts
from interlock.integrations.vllm.backend import guide_within
from interlock.integrations.vllm.deadlines import Deadlines
from interlock.integrations.vllm.options import Options
from interlock.integrations.vllm.sources import Source, check_source, compile_source, source_of
from interlock.integrations.vllm.vocabulary import vocabulary_of

__all__ = ["Checks", "FrontEnd"]

logger = logging.getLogger("vllm.interlock")


class Checks:
    """Which sources can be compiled. The last of them are remembered, refusals included."""

    SIZE = 4096

    def __init__(self, options: Options, counts: Counts) -> None:
        self.options, self.counts = options, counts
        self.deadlines = Deadlines(options.deadline)
        self._known: OrderedDict[bytes, InterlockError | None] = OrderedDict()
        self._lock = threading.Lock()

    def known(self, source: Source) -> tuple[bool, InterlockError | None]:
        """Whether this source was checked before, and with which error."""
        with self._lock:
            if source.key not in self._known:
                return False, None
            self._known.move_to_end(source.key)
            return True, self._known[source.key]

    def check(self, source: Source) -> None:
        """Raise what is wrong with a source. ``LimitError`` if that cannot be told in time."""
        known, error = self.known(source)
        if not known:
            error = self._checked(source)
        if error is not None:
            self.counts.refusals.add(1, refusal_reason(error), "front_end")
            # A fresh one each time: a traceback would grow with every raise.
            raise error.with_traceback(None)

    def _checked(self, source: Source) -> InterlockError | None:
        begin = time.perf_counter()
        error: InterlockError | None = None
        with self.deadlines.new() as deadline:
            try:
                check_source(source, self.options, deadline.token)
            except CancelledError:
                return LimitError(f"checking the {source.kind} took longer than {self.options.deadline:g} s")
            except InterlockError as refused:
                error = refused
        with self._lock:
            self._known[source.key] = error
            if len(self._known) > self.SIZE:
                self._known.popitem(last=False)
        self.counts.check_seconds.observe(time.perf_counter() - begin, "refused" if error else "accepted")
        return error


class FrontEnd:
    """What one API server knows: its checks, and the vocabulary once an error of the engine is to be explained."""

    def __init__(self, options: Options, counts: Counts, error_type: type[Exception]) -> None:
        self.options, self.counts, self.error_type = options, counts, error_type
        self.checks = Checks(options, counts)
        self._pool: ThreadPoolExecutor | None = None
        self._running: dict[bytes, asyncio.Future[None]] = {}
        self._vocabulary: Vocabulary | None = None
        self._lock = threading.Lock()

    def warm_up(self) -> None:
        """Check one source: modules that are loaded when they are first used are then there for the first request."""
        check_source(Source("json_object", "", self.options.whitespace), self.options)

    def source(self, params: Any) -> Source:
        """The constraint of a request, as far as it can be read; vLLM's validation error where it cannot."""
        try:
            return source_of(params, self.options)
        except InterlockError as error:
            self.counts.refusals.add(1, refusal_reason(error), "front_end")
            raise self._client_error(error) from None

    def validate(self, sampling_params: Any, model_config: Any, tokenizer: Any, backend: str) -> None:
        """Check a request and mark it as interlock's: what vLLM asks before a request goes to the engine.

        Raises vLLM's validation error, which clients see as HTTP 400.
        """
        params = sampling_params.structured_outputs
        if getattr(model_config, "is_diffusion", False):
            raise self.error_type(
                "structured outputs are not supported for diffusion models, which write no text in order"
            )
        if tokenizer is None:
            raise self.error_type("structured outputs need a tokenizer, so they do not work with skip_tokenizer_init")
        if params._backend not in (None, backend):
            raise self.error_type(
                f"the request asks for the backend {params._backend!r}, but this server has {backend!r}"
            )
        params._backend = backend
        source = self.source(params)
        if self.options.check:
            try:
                self.checks.check(source)
            except InterlockError as error:
                raise self._client_error(error) from None

    async def prepare(self, request_id: str, sampling_params: Any) -> None:
        """Check a request's source in a thread, so that `validate` finds the answer and the loop never waits for it."""
        try:
            source = self.source(sampling_params.structured_outputs)
            if self.options.check:
                try:
                    if self.checks.known(source)[0]:
                        self.checks.check(source)
                    else:
                        await self._checked_in_thread(source)
                except InterlockError as error:
                    raise self._client_error(error) from None
        except self.error_type as error:
            logger.warning("request %s: refused: %s", request_id, error)
            raise

    async def _checked_in_thread(self, source: Source) -> None:
        """One check for all requests that ask for this source at the same time."""
        running = self._running.get(source.key)
        if running is None:
            running = asyncio.get_running_loop().run_in_executor(self._threads(), self.checks.check, source)
            self._running[source.key] = running
            running.add_done_callback(lambda done: self._forget(source, done))
        # A request that is aborted does not take the answer from the others.
        await asyncio.shield(running)

    def _forget(self, source: Source, done: asyncio.Future[None]) -> None:
        self._running.pop(source.key, None)
        if not done.cancelled():
            # Seen, also where nobody waits any more.
            done.exception()

    async def explained(
        self, outputs: Any, request_id: str, sampling_params: Any, model_config: Any, tokenizer: Any
    ) -> AsyncIterator[Any]:
        """The outputs of a request. Where the engine refused its source, vLLM's validation error says why.

        The front end's check knows no vocabulary, so the engine refuses what only a vocabulary shows: a budget that is
        too small above all. vLLM 0.32 would answer that with an internal error.
        """
        async with contextlib.aclosing(outputs):
            async for output in outputs:
                if any(_refused(completion) for completion in output.outputs):
                    loop = asyncio.get_running_loop()
                    given = (sampling_params, len(output.prompt_token_ids or ()), model_config, tokenizer)
                    error = await loop.run_in_executor(self._threads(), self._why, *given)
                    if error is not None:
                        logger.warning("request %s: refused by the engine: %s", request_id, error)
                        raise self._client_error(error)
                yield output

    def _why(self, sampling_params: Any, num_prompt: int, model_config: Any, tokenizer: Any) -> InterlockError | None:
        try:
            with self._lock:
                if self._vocabulary is None:
                    size = model_config.get_vocab_size()
                    self._vocabulary = vocabulary_of(tokenizer, size, self.options, self.counts)
            with self.checks.deadlines.new() as deadline:
                source = source_of(sampling_params.structured_outputs, self.options)
                index = compile_source(source, self._vocabulary, self.options, deadline.token)
            if self.options.budget:
                left = max(model_config.max_model_len - num_prompt, 1)
                asked = sampling_params.max_tokens
                guide_within(index, left if asked is None else min(asked, left))
        except CancelledError:
            return LimitError(f"compiling took longer than {self.options.deadline:g} s")
        except InterlockError as error:
            return error
        return None

    def _client_error(self, error: InterlockError) -> Exception:
        return self.error_type(f"{type(error).__name__}: {error.client_message}")

    def _threads(self) -> ThreadPoolExecutor:
        if self._pool is None:
            # More than processors: the processors are shared fairly, so a short check never waits for long ones.
            self._pool = ThreadPoolExecutor(16, thread_name_prefix="interlock-check")
        return self._pool


def _refused(completion: Any) -> bool:
    """Whether the engine ended this output with an error, and no token came with that."""
    return getattr(completion, "finish_reason", None) == "error" and not completion.token_ids
