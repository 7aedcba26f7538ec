"""Forced runs as drafts: assisted generation whose candidates are the tokens that the index forces.

The model sees a forced run in one pass and is still asked about every token of it, so the scores and hidden states of
forced tokens exist (jump-forward leaves them out), and ``generate`` keeps its own loop, caches and stopping criteria.

transformers makes its candidate generators in a method of the model. ``forced_drafts`` calls the loop with a stand-in
for the model that answers that one method itself and leaves everything else to the model, which is never changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import LogitsProcessorList
from transformers.generation.candidate_generator import CandidateGenerator, PromptLookupCandidateGenerator

from interlock import ArgumentError
from interlock.integrations._forced import forced_run
from interlock.integrations._row import Constraint, Row
from interlock.integrations.transformers._logits_processor import GuideLogitsProcessor, constraints_of

__all__ = ["ForcedCandidates", "forced_drafts"]


class ForcedCandidates(CandidateGenerator):  # type: ignore[misc, unused-ignore]
    """Drafts of one row: what ``constraint`` forces after its tokens, and otherwise those of ``fallback``.

    ``prompt`` is (1, length): the ids that are not generated. ``limit`` bounds a draft, 0 is without bound.
    ``proposed`` counts the tokens of all drafts.
    """

    def __init__(
        self,
        constraint: Constraint,
        prompt: torch.Tensor,
        *,
        max_tokens: int | None = None,
        stop_token_ids: Sequence[int] | None = None,
        limit: int = 0,
        fallback: CandidateGenerator | None = None,
    ) -> None:
        stop = None if stop_token_ids is None else list(stop_token_ids)
        self._row = Row(constraint, max_tokens, stop, prompt.flatten().tolist())
        self._start = prompt.shape[-1]
        self._limit = limit
        self._fallback = fallback
        self.proposed = 0

    def get_candidates(self, input_ids: torch.Tensor, **kwargs: Any) -> tuple[torch.Tensor, torch.Tensor | None]:
        """``input_ids`` (1, length) with the draft behind them, and no logits."""
        if input_ids.shape[0] != 1:
            raise ArgumentError("assisted generation has one row")
        tokens = input_ids[0, self._start :].tolist()
        row = self._row
        common = 0
        while common < min(len(tokens), len(row.tokens)) and tokens[common] == row.tokens[common]:
            common += 1
        row.cut(common)
        for token in tokens[common:]:
            row.advance(token)
        drafts: list[int] = []
        while not self._limit or len(drafts) < self._limit:
            run = [token for token in forced_run(row) if token not in row.stop]
            if self._limit:
                run = run[: self._limit - len(drafts)]
            if not run:
                break
            for token in run:
                row.advance(token)
            drafts += run
        row.cut(len(tokens))
        if not drafts:
            return (input_ids, None) if self._fallback is None else self._fallback.get_candidates(input_ids, **kwargs)
        self.proposed += len(drafts)
        tail = torch.tensor([drafts], dtype=input_ids.dtype, device=input_ids.device)
        return torch.cat([input_ids, tail], dim=1), None

    def update_candidate_strategy(self, input_ids: torch.Tensor, scores: torch.Tensor, num_matches: int) -> None:
        """Nothing to learn: forced tokens are accepted."""
        if self._fallback is not None:
            self._fallback.update_candidate_strategy(input_ids, scores, num_matches)


class _WithCandidates:
    """The model, but for where its candidates come from."""

    def __init__(self, model: Any, candidates: ForcedCandidates) -> None:
        self._model, self._candidates = model, candidates

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._model(*args, **kwargs)

    def _get_candidate_generator(self, **_: Any) -> CandidateGenerator:
        return self._candidates


@torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
def forced_drafts(
    model: Any,
    input_ids: torch.Tensor,
    logits_processor: Any,
    stopping_criteria: Any,
    generation_config: Any,
    constraints: Constraint | Sequence[Constraint] = None,
    trigger: str | Sequence[int] | None = None,
    max_tokens: int | None = None,
    max_drafts: int = 0,
    **model_kwargs: Any,
) -> Any:
    """Assisted generation for ``model.generate(..., custom_generate=forced_drafts, constraints=index)``, one row.

    ``constraints``, ``trigger`` and ``max_tokens`` are those of ``GuideLogitsProcessor``; the mask comes before the
    other processors. ``max_drafts`` bounds a draft (0: no bound). With ``prompt_lookup_num_tokens`` the prompt is
    searched for a draft where nothing is forced. Returns what ``generate`` returns.

    Raises ``ArgumentError`` for several rows or beams.
    """
    if len(input_ids) != 1 or (generation_config.num_beams or 1) > 1:
        raise ArgumentError("forced_drafts takes one row, without beams")
    constraint = constraints_of(constraints, 1, trigger)[0]
    eos = getattr(generation_config, "_eos_token_tensor", None)
    stop = None if eos is None or constraint is None else [int(t) for t in eos.flatten().tolist()]
    mask = GuideLogitsProcessor(constraint, max_tokens=max_tokens, stop_token_ids=stop)
    processors = LogitsProcessorList([mask, *logits_processor])
    fallback = None
    if generation_config.prompt_lookup_num_tokens is not None:
        fallback = PromptLookupCandidateGenerator(
            eos_token_id=eos,
            num_output_tokens=generation_config.prompt_lookup_num_tokens,
            max_matching_ngram_size=generation_config.max_matching_ngram_size or 2,
            max_length=generation_config.max_length,
            logits_processor=processors,
            vocab_size=model.config.get_text_config().vocab_size,
        )
    candidates = ForcedCandidates(
        constraint, input_ids, max_tokens=max_tokens, stop_token_ids=stop, limit=max_drafts, fallback=fallback
    )
    return type(model)._assisted_decoding(
        _WithCandidates(model, candidates),
        input_ids,
        logits_processor=processors,
        stopping_criteria=stopping_criteria,
        generation_config=generation_config,
        **model_kwargs,
    )
