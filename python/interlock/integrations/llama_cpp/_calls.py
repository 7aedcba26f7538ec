"""Calls of llama-cpp-python's own methods under a constraint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from interlock import ArgumentError
from interlock.integrations._number_end import NumberEnd
from interlock.integrations._row import Constraint
from interlock.integrations.llama_cpp._drafts import ForcedTokenDrafts
from interlock.integrations.llama_cpp._logits_processor import GuideLogitsProcessor
from interlock.integrations.llama_cpp._model import check_llama
from interlock.util.argument_types import require
from interlock.util.quoting import quoted

__all__ = ["constrained"]

_OTHERS = ("generate", "eval", "sample", "embed", "create_embedding", "tokenize", "detokenize")
"""Methods of a ``Llama`` that write no completion."""


class _Processors(list[Any]):
    """A list of processors that can be extended as llama-cpp-python 0.3.36 does it for ``logit_bias``: it goes on with
    what ``extend`` returns, which is nothing for a plain list.
    """

    def extend(self, others: Iterable[Any]) -> Any:
        """The list with ``others`` in front: a mask has the last word."""
        self[:0] = others
        return self


def constrained(
    create: Callable[..., Any],
    constraint: Constraint,
    /,
    *args: Any,
    max_tokens: int | None = None,
    trigger: str | Sequence[int] | None = None,
    stop_token_ids: Iterable[int] | None = None,
    canonical: bool | None = None,
    budget: bool = True,
    number_end: NumberEnd | None = None,
    on_end: Callable[[list[int], int], None] | None = None,
    **options: Any,
) -> Any:
    """What ``create(*args, max_tokens=max_tokens, **options)`` returns under ``constraint``.

    ``create`` is a method of a ``llama_cpp.Llama``: ``create_chat_completion``, ``create_completion``, or the object
    itself. ``constraint``, ``trigger``, ``stop_token_ids`` and ``canonical`` are those of ``GuideLogitsProcessor``.
    With ``budget``, ``max_tokens`` is the budget, and the output is complete within that and within the context; where
    ``max_tokens`` is None, within the context. Processors in ``logits_processor`` see the logits before the mask.
    ``number_end`` is for generators, see ``NumberEnd``. ``on_end`` is called when the output has ended, with its tokens
    except the last and the number of the prompt's. With ``stream=True`` the answer is an iterator, as ``create``'s.

    Raises ``ArgumentError`` for another ``create`` and for a text in the place of messages, ``TypeError`` for
    arguments of a wrong type, what ``GuideLogitsProcessor`` raises, and what goes wrong while tokens are sampled:
    ``BudgetError`` if the context has no room for an output, ``TokenRejected`` if another processor left no choice.

    >>> constrained(llama.create_chat_completion, index, messages=messages, max_tokens=200)  # doctest: +SKIP
    """
    llama = create if hasattr(create, "n_ctx") else getattr(create, "__self__", None)
    if llama is None or not hasattr(llama, "n_vocab"):
        raise ArgumentError("create must be a method of a llama_cpp.Llama, such as llama.create_chat_completion")
    if getattr(create, "__name__", None) in _OTHERS:
        raise ArgumentError(
            f"create is llama.create_chat_completion, llama.create_completion or llama itself, not {create.__name__}"
        )
    check_llama(llama)
    require(max_tokens=(max_tokens, "count?"), budget=(budget, "flag"))
    _check_messages(create, args, options)
    if max_tokens is not None and max_tokens <= 0:
        raise ArgumentError(f"max_tokens must be positive or None, but is {max_tokens}")
    within = None if not budget else int(llama.n_ctx()) if max_tokens is None else max_tokens
    mask = GuideLogitsProcessor(
        constraint,
        llama,
        trigger=trigger,
        max_tokens=within,
        stop_token_ids=stop_token_ids,
        canonical=canonical,
        raising=False,
        number_end=number_end,
    )
    processors = _Processors([*(options.pop("logits_processor", None) or ()), mask])
    try:
        answer = create(*args, max_tokens=max_tokens, logits_processor=processors, **options)
    finally:
        _release(llama)
    if isinstance(answer, Iterator):
        return _checked(answer, mask, llama, on_end)
    mask.check()
    if on_end is not None:
        on_end(mask.tokens, mask.num_prompt_tokens)
    return answer


def _check_messages(create: Any, args: Sequence[Any], options: dict[str, Any]) -> None:
    """``ArgumentError`` for a text where a chat is needed, and for a chat where a text is."""
    is_chat = getattr(create, "__name__", None) in ("create_chat_completion", "create_chat_completion_openai_v1")
    first = args[0] if args else options.get("messages" if is_chat else "prompt")
    if is_chat and isinstance(first, str):
        raise ArgumentError(
            f"create_chat_completion takes messages, not a text: [{{'role': 'user', 'content': {quoted(first)}}}]"
        )
    if not is_chat and "messages" in options:
        raise ArgumentError("messages are for llama.create_chat_completion; a completion takes prompt, a text")


def _checked(
    chunks: Iterator[Any], mask: GuideLogitsProcessor, llama: Any, on_end: Callable[[list[int], int], None] | None
) -> Iterator[Any]:
    try:
        # Somebody may close the model between two pieces.
        while (chunk := _next(chunks, llama)) is not None:
            mask.check()
            yield chunk
        mask.check()
        if on_end is not None:
            on_end(mask.tokens, mask.num_prompt_tokens)
    finally:
        _release(llama)


def _next(chunks: Iterator[Any], llama: Any) -> Any:
    """The next piece, ``None`` behind the last one."""
    check_llama(llama)
    return next(chunks, None)


def _release(llama: Any) -> None:
    """The generation is over: drafts follow nobody."""
    if isinstance(llama.draft_model, ForcedTokenDrafts):
        llama.draft_model.follow(None)
