"""Calls of llama-cpp-python's own methods under a constraint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from interlock import ArgumentError
from interlock.integrations._number_end import NumberEnd
from interlock.integrations._row import Constraint
from interlock.integrations.llama_cpp._drafts import ForcedTokenDrafts
from interlock.integrations.llama_cpp._logits_processor import GuideLogitsProcessor

__all__ = ["constrained"]


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

    Raises what ``GuideLogitsProcessor`` raises, and what goes wrong while tokens are sampled: ``BudgetError`` if the
    context has no room for an output, ``TokenRejected`` if another processor left no choice.

    >>> constrained(llama.create_chat_completion, index, messages=messages, max_tokens=200)  # doctest: +SKIP
    """
    llama = create if hasattr(create, "n_ctx") else getattr(create, "__self__", None)
    if llama is None or not hasattr(llama, "n_vocab"):
        raise ArgumentError("create must be a method of a llama_cpp.Llama, such as llama.create_chat_completion")
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


def _checked(
    chunks: Iterator[Any], mask: GuideLogitsProcessor, llama: Any, on_end: Callable[[list[int], int], None] | None
) -> Iterator[Any]:
    try:
        for chunk in chunks:
            mask.check()
            yield chunk
        mask.check()
        if on_end is not None:
            on_end(mask.tokens, mask.num_prompt_tokens)
    finally:
        _release(llama)


def _release(llama: Any) -> None:
    """The generation is over: drafts follow nobody."""
    if isinstance(llama.draft_model, ForcedTokenDrafts):
        llama.draft_model.follow(None)
