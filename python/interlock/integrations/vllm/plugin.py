"""The entry point: what is changed in vLLM so that it knows the backend ``interlock``.

vLLM has no registration for backends of structured outputs. So the name is added to its configuration, and a few of its
functions are wrapped. A wrapper does what vLLM does unless the configuration names this backend.
"""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any, Literal, get_args

from interlock.integrations.server_counts import counts
from interlock.integrations.vllm import options as options_module
from interlock.integrations.vllm.after_import import after_import
from interlock.integrations.vllm.backend import Backend
from interlock.integrations.vllm.batch import Filler
from interlock.integrations.vllm.cpu_sampling import repair
from interlock.integrations.vllm.front_end import FrontEnd
from interlock.integrations.vllm.grammar import Grammar
from interlock.integrations.vllm.legacy_fields import with_legacy_fields
from interlock.integrations.vllm.publish import Collector, Publisher, make_folder
from interlock.integrations.vllm.thread_switch_interval import ThreadSwitchInterval

__all__ = ["NAME", "register"]

NAME = "interlock"
"""What ``--structured-outputs-config.backend`` must say."""

logger = logging.getLogger("vllm.interlock")

_MARK = "_interlock_original"


def register() -> None:
    """Make the backend ``interlock`` known to vLLM in this process. vLLM calls it in each of its processes.

    Calling it again does nothing. A vLLM that lacks what is needed stays as it is, and a warning says what it lacks.
    Code that builds ``vllm.LLM(structured_outputs_config={"backend": "interlock"})`` calls it first.
    """
    try:
        _register()
    except Exception as error:
        logger.warning(
            "the backend %r is not available: interlock does not fit this version of vLLM (%s: %s)",
            NAME,
            type(error).__name__,
            error,
        )


def _register() -> None:
    from vllm.config import StructuredOutputsConfig
    from vllm.engine.arg_utils import EngineArgs

    _wrap(EngineArgs, "create_engine_config", _create_engine_config)
    after_import("vllm.v1.structured_output", _safely(_install_manager))
    after_import("vllm.v1.core.sched.scheduler", _safely(_install_scheduler))
    after_import("vllm.v1.worker.cpu_model_runner", _safely(_install_cpu_runner))
    _add_name(StructuredOutputsConfig)


def _safely(install: Callable[[], None]) -> Callable[[], None]:
    """An import of vLLM's must not fail because of what it does not know. Where the backend is used, it is an error."""

    def installed() -> None:
        try:
            install()
        except Exception as error:
            _missing.append(f"{type(error).__name__}: {error}")
            logger.warning("the backend %r does not fit this version of vLLM: %s", NAME, _missing[-1])

    return installed


_missing: list[str] = []


def _add_name(config: Any) -> None:
    from pydantic.dataclasses import rebuild_dataclass

    field = config.__dataclass_fields__["backend"]
    names = get_args(field.type)
    if not names:
        raise TypeError("the type of StructuredOutputsConfig.backend is no Literal")
    if NAME in names:
        return
    field.type = config.__annotations__["backend"] = Literal[(*names, NAME)]
    rebuild_dataclass(config, force=True)


def _wrap(owner: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Replace a method by what ``make`` makes of it, once. ``AttributeError`` if there is none."""
    original = getattr(owner, name)
    if hasattr(original, _MARK):
        return
    wrapped = functools.wraps(original)(make(original))
    setattr(wrapped, _MARK, original)
    setattr(owner, name, wrapped)


def _is_ours(vllm_config: Any) -> bool:
    config = getattr(vllm_config, "structured_outputs_config", None)
    return getattr(config, "backend", None) == NAME


# --- configuration ------------------------------------------------------------------------------------------------


def _create_engine_config(original: Callable[..., Any]) -> Callable[..., Any]:
    def create_engine_config(self: Any, *args: Any, **kwargs: Any) -> Any:
        vllm_config = original(self, *args, **kwargs)
        if _is_ours(vllm_config):
            _start(vllm_config)
        elif unused := options_module.set_in(os.environ):
            logger.warning("%s: set, but another backend of structured outputs than %r runs", ", ".join(unused), NAME)
        return vllm_config

    return create_engine_config


_started = False


def _start(vllm_config: Any) -> None:
    """The backend was asked for: wrap what serves requests, show the numbers. Errors end the start of the server."""
    global _started
    if _started:
        return
    options = options_module.current()
    _install_front_end()
    if _missing:
        raise RuntimeError(f"the backend {NAME!r} does not fit this version of vLLM: {'; '.join(_missing)}")
    _front().warm_up()
    if options.metrics:
        folder = make_folder()
        import prometheus_client

        prometheus_client.REGISTRY.register(Collector(counts().registry, folder))  # type: ignore[arg-type,unused-ignore]
    _started = True


# --- front end ----------------------------------------------------------------------------------------------------

_front_end: FrontEnd | None = None


def _front() -> FrontEnd:
    global _front_end
    if _front_end is None:
        from vllm.exceptions import VLLMValidationError

        _front_end = FrontEnd(options_module.current(), counts(), VLLMValidationError)
    return _front_end


def _install_front_end() -> None:
    from vllm.sampling_params import SamplingParams
    from vllm.v1.engine.async_llm import AsyncLLM

    _install_requests()
    _wrap(SamplingParams, "_validate_structured_outputs", _validate_structured_outputs)
    _wrap(AsyncLLM, "add_request", _add_request)
    _wrap(AsyncLLM, "generate", _generate)


def _install_requests() -> None:
    """The OpenAI server's requests: older fields are read, and structural tags are not XGrammar's to refuse."""
    from vllm.entrypoints.generate.base import protocol
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.entrypoints.openai.completion.protocol import CompletionRequest
    from vllm.exceptions import VLLMValidationError
    from vllm.sampling_params import StructuredOutputsParams

    def refuse(error: Exception) -> Exception:
        refused: Exception = VLLMValidationError(f"{type(error).__name__}: {getattr(error, 'client_message', error)}")
        return refused

    def reads_legacy_fields(original: Callable[..., Any]) -> Callable[..., Any]:
        return with_legacy_fields(original, StructuredOutputsParams, refuse)

    for request in (ChatCompletionRequest, CompletionRequest):
        _wrap(request, "extract_structured_outputs", reads_legacy_fields)
    # Sources are checked later, in a thread. vLLM's check compiles them, and holds up all requests meanwhile.
    _wrap(protocol, "validate_structural_tag_payload", lambda original: lambda payload, *, parameter: None)


def _validate_structured_outputs(original: Callable[..., Any]) -> Callable[..., Any]:
    def validate(self: Any, model_config: Any, structured_outputs_config: Any, tokenizer: Any) -> Any:
        if getattr(structured_outputs_config, "backend", None) != NAME or self.structured_outputs is None:
            return original(self, model_config, structured_outputs_config, tokenizer)
        return _front().validate(self, model_config, tokenizer, NAME)

    return validate


def _is_constrained(params: Any) -> bool:
    return getattr(params, "structured_outputs", None) is not None


def _add_request(original: Callable[..., Any]) -> Callable[..., Any]:
    async def add_request(self: Any, request_id: str, prompt: Any, params: Any, *args: Any, **kwargs: Any) -> Any:
        if _is_constrained(params) and _is_ours(self.vllm_config):
            await _front().prepare(request_id, params)
        return await original(self, request_id, prompt, params, *args, **kwargs)

    return add_request


def _generate(original: Callable[..., Any]) -> Callable[..., Any]:
    def generate(self: Any, prompt: Any, sampling_params: Any, request_id: str, *args: Any, **kwargs: Any) -> Any:
        outputs = original(self, prompt, sampling_params, request_id, *args, **kwargs)
        if not (_is_constrained(sampling_params) and _is_ours(self.vllm_config)):
            return outputs
        return _front().explained(
            outputs, request_id, sampling_params, self.model_config, self.input_processor.tokenizer
        )

    return generate


# --- engine -------------------------------------------------------------------------------------------------------


def _install_manager() -> None:
    from vllm.v1.structured_output import StructuredOutputManager
    from vllm.v1.structured_output.backend_types import StructuredOutputBackend, StructuredOutputGrammar

    StructuredOutputBackend.register(Backend)
    StructuredOutputGrammar.register(Grammar)
    _wrap(StructuredOutputManager, "__init__", _manager_init)
    _wrap(StructuredOutputManager, "grammar_init", _grammar_init)
    _wrap(StructuredOutputManager, "_create_grammar", _create_grammar)
    _wrap(StructuredOutputManager, "grammar_bitmask", _grammar_bitmask)
    _wrap(StructuredOutputManager, "validate_tokens", _validate_tokens)


def _install_scheduler() -> None:
    from vllm.v1.core.sched.scheduler import Scheduler

    _wrap(Scheduler, "finish_requests", _finish_requests)
    _wrap(Scheduler, "update_draft_token_ids_in_output", _update_draft_token_ids_in_output)


def _install_cpu_runner() -> None:
    from vllm.v1.worker.cpu_model_runner import CPUModelRunner

    _wrap(CPUModelRunner, "__init__", _cpu_runner_init)


def _cpu_runner_init(original: Callable[..., Any]) -> Callable[..., Any]:
    def init(self: Any, vllm_config: Any, *args: Any, **kwargs: Any) -> None:
        original(self, vllm_config, *args, **kwargs)
        if _is_ours(vllm_config) and getattr(vllm_config, "speculative_config", None) is not None:
            from vllm.v1.sample import rejection_sampler

            repair(rejection_sampler)

    return init


def _manager_init(original: Callable[..., Any]) -> Callable[..., Any]:
    def init(self: Any, vllm_config: Any, *args: Any, **kwargs: Any) -> None:
        original(self, vllm_config, *args, **kwargs)
        if not _is_ours(vllm_config) or vllm_config.model_config.skip_tokenizer_init:
            return
        options = options_module.current()
        # Made now, and not at the first request: that would hold up all requests that run.
        size = vllm_config.model_config.get_vocab_size()
        self.backend = Backend(vllm_config, self.tokenizer, size, options, counts())
        self.interlock_room = None
        if options.metrics:
            Publisher(counts().registry, make_folder()).start()

    return init


_switch_interval = ThreadSwitchInterval()
_SHORT_COMPILE = 0.003
"""Seconds that a new request waits for its compile. Afterwards the engine's thread asks all the time whether it
has ended, which makes both slower."""


def _grammar_init(original: Callable[..., Any]) -> Callable[..., Any]:
    def grammar_init(self: Any, request: Any) -> None:
        structured = request.structured_output_request
        if structured is None or not isinstance(self.backend, Backend):
            original(self, request)
            return
        _switch_interval.begin()
        try:
            original(self, request)
        finally:
            _switch_interval.end_with(structured._grammar)
        if isinstance(structured._grammar, Future):
            # The thread that reads requests has nothing else to do, and most compiles end within this time.
            wait([structured._grammar], timeout=_SHORT_COMPILE)

    return grammar_init


def _create_grammar(original: Callable[..., Any]) -> Callable[..., Any]:
    def create_grammar(self: Any, request: Any) -> Any:
        if not isinstance(self.backend, Backend):
            return original(self, request)
        return self.backend.create(request, self.reasoner_cls is not None and not self.enable_in_reasoning)

    return create_grammar


def _grammar_bitmask(original: Callable[..., Any]) -> Callable[..., Any]:
    def grammar_bitmask(self: Any, requests: Any, ids: list[str], scheduled_spec_decode_tokens: Any) -> Any:
        fill: Filler | None = getattr(self, "interlock_fill", None)
        simple = self.reasoner_cls is None or self.enable_in_reasoning
        if fill is not None and ids and simple:
            return fill(requests, ids)
        backend = self.backend
        if not isinstance(backend, Backend) or not ids:
            return original(self, requests, ids, scheduled_spec_decode_tokens)
        # vLLM's own loop decides which rows there are; they are written when it is through.
        backend.rows.collect()
        try:
            bits = original(self, requests, ids, scheduled_spec_decode_tokens)
        finally:
            backend.rows.finish()
        if backend.drafts == 0 and simple:
            # One row for each request, all of them constrained: from the next step on no loop is needed.
            self.interlock_fill = backend.rows.filler(backend.rows.view(self._grammar_bitmask))
        return bits

    return grammar_bitmask


def _validate_tokens(original: Callable[..., Any]) -> Callable[..., Any]:
    def validate_tokens(self: Any, request: Any, spec_tokens: list[int]) -> list[int]:
        drafts: list[int] = original(self, request, spec_tokens)
        backend = self.backend
        if not isinstance(backend, Backend) or not backend.jumps or not request.use_structured_output:
            return drafts
        structured = request.structured_output_request
        grammar = structured.grammar
        free = self.reasoner_cls is not None and not self.enable_in_reasoning and not structured.reasoning_ended
        if free or not isinstance(grammar, Grammar):
            return drafts
        room = backend.drafts
        if self.interlock_room is not None:
            # With asynchronous scheduling the step has its size already.
            room = min(room, len(self.interlock_room.get(request.request_id, ())))
        return grammar.with_forced(list(drafts), room)

    return validate_tokens


def _update_draft_token_ids_in_output(original: Callable[..., Any]) -> Callable[..., Any]:
    def update(self: Any, draft_token_ids: Any, scheduler_output: Any) -> Any:
        manager = self.structured_output_manager
        if not isinstance(manager.backend, Backend):
            return original(self, draft_token_ids, scheduler_output)
        manager.interlock_room = scheduler_output.scheduled_spec_decode_tokens
        try:
            return original(self, draft_token_ids, scheduler_output)
        finally:
            manager.interlock_room = None

    return update


def _finish_requests(original: Callable[..., Any]) -> Callable[..., Any]:
    def finish_requests(self: Any, *args: Any, **kwargs: Any) -> Any:
        finished = original(self, *args, **kwargs)
        for request in finished or ():
            structured = getattr(request, "structured_output_request", None)
            if structured is not None:
                # Nobody waits for its compile any more, whether it runs or has not begun.
                deadline = getattr(structured, "interlock_deadline", None)
                if deadline is not None:
                    deadline.cancel()
                waiting = structured._grammar
                if isinstance(waiting, Future):
                    waiting.cancel()
        return finished

    return finish_requests
