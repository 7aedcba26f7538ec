"""The usual keywords of a call, for type checkers: a misspelt name and a value of another type are found early.

Which of them a call takes depends on its backend, which a type checker does not know; that is checked when the call is
made. A backend has rarer ones too. Pass these from a ``dict[str, Any]``: ``gen(prompt, User, **more)``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

__all__ = ["CallOptions", "SamplingOptions"]


class SamplingOptions(TypedDict, total=False):
    """How a token is chosen, in every model of this process. ``None`` is the default of the backend."""

    temperature: float | None
    top_p: float | None
    top_k: int | None
    min_p: float | None
    seed: int | None


class CallOptions(SamplingOptions, total=False):
    """Usual keywords of a call of a generator besides ``max_tokens``, ``stream`` and ``errors``."""

    chat: bool | None
    describe: bool | None
    stop: str | Sequence[str] | None
    whitespace: str | None
    attempts: int | None
    context: Any
    on_tight: Literal["warn", "ignore", "error"] | None
    on_unsupported: Literal["error", "warn"] | None
    do_sample: bool | None
    num_beams: int | None
    jump_forward: bool | None
    stats: Any
    logprobs: bool | int | None
    repetition_penalty: float | None
    repeat_penalty: float | None
    presence_penalty: float | None
    frequency_penalty: float | None
    no_repeat_ngram_size: int | None
    logit_bias: Mapping[Any, float] | None
    logits_processor: Any
    generation_config: Any
    assistant_model: Any
    draft_model: Any
    use_cache: bool | None
    extra_body: Any
    extra_headers: Any
    timeout: Any
