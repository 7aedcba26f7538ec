"""A batch of prompts, each under a constraint of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from interlock import ArgumentError
from interlock.integrations._row import Constraint
from interlock.integrations.mlx_lm._logits_processor import GuideLogitsProcessor
from interlock.util.argument_types import require

__all__ = ["BatchReply", "constrained_batch"]


@dataclass
class BatchReply:
    """What was generated for one prompt: the text, its ids without a stop token, and why it ended: ``"stop"`` or
    ``"length"``.
    """

    text: str
    token_ids: list[int]
    finish_reason: str


def constrained_batch(
    model: Any,
    tokenizer: Any,
    prompts: Sequence[Sequence[int]],
    constraints: Sequence[Constraint],
    *,
    max_tokens: int | Sequence[int] = 128,
    trigger: str | Sequence[int] | None = None,
    budget: bool = True,
    canonical: bool = False,
    logits_processors: Sequence[Sequence[Any]] | None = None,
    **options: Any,
) -> list[BatchReply]:
    """``mlx_lm.batch_generate`` with ``constraints[i]`` for ``prompts[i]``; None leaves a row free.

    mlx-lm's own function has the same processors for all prompts, its ``BatchGenerator`` has not, and is what this
    runs. ``max_tokens`` is one number or one a prompt, and with ``budget`` the budget of the constraint.
    ``logits_processors[i]`` are further processors of a row, which come before the mask. ``options`` go to
    ``BatchGenerator``: ``sampler``, ``completion_batch_size``, ...

    The text is what the ids spell, byte for byte, where the row has a constraint, and elsewhere what the tokenizer
    makes of them.

    Raises ``ArgumentError`` if the lists have different lengths or hold something else, and ``BudgetError`` if a
    budget is too small for its constraint, before anything is generated.
    """
    _check_lists(tokenizer, prompts, constraints)
    require(budget=(budget, "flag"))
    limits = [max_tokens] * len(prompts) if isinstance(max_tokens, int) else list(max_tokens)
    others = [()] * len(prompts) if logits_processors is None else list(logits_processors)
    if not len(prompts) == len(constraints) == len(limits) == len(others):
        raise ArgumentError(
            f"there are {len(prompts)} prompts, {len(constraints)} constraints, {len(limits)} limits and "
            f"{len(others)} lists of processors"
        )
    processors: list[list[Any]] = []
    for constraint, limit, more in zip(constraints, limits, others, strict=True):
        masks = []
        if constraint is not None:
            within = limit if budget else None
            masks = [GuideLogitsProcessor(constraint, trigger=trigger, max_tokens=within, canonical=canonical)]
        processors.append([*more, *masks])
    if not processors:
        return []

    from mlx_lm.generate import BatchGenerator

    stop = [[token] for token in sorted(tokenizer.eos_token_ids)]
    generator = BatchGenerator(model, stop_tokens=stop, **options)
    ids: dict[int, list[int]] = {}
    reasons: dict[int, str] = {}
    try:
        uids = generator.insert([list(prompt) for prompt in prompts], limits, logits_processors=processors)
        ids = {uid: [] for uid in uids}
        while responses := generator.next_generated():
            for response in responses:
                if response.finish_reason != "stop":
                    ids[response.uid].append(response.token)
                if response.finish_reason is not None:
                    reasons[response.uid] = response.finish_reason
    finally:
        generator.close()
    replies = []
    for uid, constraint, row in zip(uids, constraints, processors, strict=True):
        if constraint is None:
            text = tokenizer.decode(ids[uid])
        else:
            row[-1].check([*prompts[uids.index(uid)], *ids[uid]])
            text = constraint.vocabulary.decode(ids[uid]).decode(errors="replace")
        replies.append(BatchReply(text, ids[uid], reasons[uid]))
    return replies


def _check_lists(tokenizer: Any, prompts: Any, constraints: Any) -> None:
    """``ArgumentError`` for what is no tokenizer of mlx-lm, for texts in the place of ids, for a single constraint."""
    if not hasattr(tokenizer, "eos_token_ids"):
        raise ArgumentError(
            f"the tokenizer that mlx_lm.load returned is needed, not {type(tokenizer).__name__}: "
            "constrained_batch(model, tokenizer, prompts, constraints)"
        )
    if isinstance(prompts, str) or any(isinstance(prompt, str) for prompt in prompts):
        raise ArgumentError(
            "prompts are lists of token ids, not texts: [tokenizer.encode(prompt) for prompt in prompts]"
        )
    if not isinstance(constraints, Sequence):
        raise ArgumentError("constraints are a list with one for each prompt: [index] * len(prompts)")
