"""Jump-forward: tokens that the index forces are appended without asking the model.

The loop takes the place of transformers' own (``generate(custom_generate=jump_forward)``) and works on the model's KV
cache. Forced tokens wait and are fed together with the token sampled before them, in one forward pass.

Rows of a batch wait with different numbers of tokens. A pass is as wide as the longest; shorter rows are padded on
the left inside it, with attention 0 there and positions that do not count the holes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from interlock import ArgumentError, Guide
from interlock.integrations._batch import Batch
from interlock.integrations._cut_outputs import warn_cut_output
from interlock.integrations._forced import forced_run
from interlock.integrations._mask import expect_padding
from interlock.integrations._number_end import NumberEnd
from interlock.integrations._row import Constraint, Row, warm_up
from interlock.integrations.transformers._logits_processor import constraints_of
from interlock.integrations.transformers._masks import Masks
from interlock.integrations.transformers._own_draws import own_draws

__all__ = ["JumpForwardStats", "jump_forward"]


@dataclass
class JumpForwardStats:
    """What one call did: ``model_calls`` forward passes for ``forced`` and ``sampled`` tokens, all rows together."""

    model_calls: int = 0
    forced: int = 0
    sampled: int = 0


def _closed(row: torch.Tensor, count: int, width: int) -> torch.Tensor:
    """Padding, prompt, and the last ``count`` of ``width`` columns, without the hole between prompt and these."""
    middle = len(row) - width
    return torch.cat([row[count:middle], row[len(row) - count :]])


class _Sequence:
    """One row: its ids so far, what the model has not seen yet, and whether it has stopped."""

    def __init__(self, prompt: torch.Tensor, row: Row) -> None:
        self.ids = prompt
        self.row = row
        self.waiting: list[int] = []
        self.new: list[int] = []
        self.logprobs: list[float] = []
        self.done = False
        #: Tokens of a text from outside that are still to come.
        self.outside = 0

    def take(self, token: int, stopping: Any, logprob: float = 0.0) -> None:
        """Append a token; one without a ``logprob`` was forced. ``ArgumentError`` for a forbidden one, which another
        processor left as the only choice.
        """
        is_outside = self.outside > 0
        self.outside -= is_outside
        self.row.advance(token)
        if self.row.refused:
            raise ArgumentError(f"token {token} is forbidden: another processor left no choice")
        self.waiting.append(token)
        self.new.append(token)
        self.logprobs.append(logprob)
        self.ids = torch.cat([self.ids, torch.tensor([[token]], dtype=self.ids.dtype, device=self.ids.device)], dim=1)
        # What comes from outside may hold tokens that would end a generation.
        self.done = self.row.over or not is_outside and bool(stopping(self.ids, None).all())


def _warn_of_cut(batch: Sequence[_Sequence], most: int | None) -> None:
    """Warn once where the number of tokens cut an output in the middle, which only a budget makes whole in time.
    ``most`` is that of ``generate``, prompt included.
    """
    long = [(i, one) for i, one in enumerate(batch) if most is not None and one.ids.shape[1] >= most]
    guides = [(i, len(one.new), one.row.guide) for i, one in long if not one.row.over]
    cut = [(i, length) for i, length, guide in guides if guide is not None and not guide.is_accepting]
    if cut:
        row, length = cut[0]
        which = f"row {row}" if len(batch) > 1 else "the output"
        warn_cut_output(which, "was", length)


def _check_width(model: Any, constraints: Constraint | Sequence[Constraint]) -> None:
    """``ArgumentError`` for indexes of another model's vocabulary, before its stop tokens are asked about."""
    width = getattr(model.config, "vocab_size", None)
    for one in constraints if isinstance(constraints, list | tuple) else [constraints]:
        vocabulary = getattr(one, "vocabulary", None)
        if isinstance(width, int) and vocabulary is not None:
            expect_padding(vocabulary.size, width)


@torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
def jump_forward(
    model: Any,
    input_ids: torch.Tensor,
    logits_processor: Any,
    stopping_criteria: Any,
    generation_config: Any,
    constraints: Constraint | Sequence[Constraint] = None,
    trigger: str | Sequence[int] | None = None,
    max_tokens: int | None = None,
    on_tokens: Callable[[int, list[int], bool], None] | None = None,
    stats: JumpForwardStats | None = None,
    on_guide: Callable[[int, Guide], bool] | None = None,
    number_end: NumberEnd | None = None,
    seed: int | None = None,
    logprobs: list[list[float]] | None = None,
    **model_kwargs: Any,
) -> torch.Tensor:
    """A loop for ``model.generate(..., custom_generate=jump_forward, constraints=index)``: greedy search or sampling.

    ``constraints``, ``trigger`` and ``max_tokens`` are those of ``GuideLogitsProcessor``.
    ``on_tokens(row, ids, forced)`` is called for tokens as they appear, and ``stats`` counts. ``on_guide(row, guide)``
    is called behind each token that a guide took; it may call ``guide.force`` and then answers true. What it forces may
    hold stop tokens: they end nothing. ``number_end`` is for generators, see ``NumberEnd``. With a ``seed`` the random
    choices are those of this call alone, and repeat whatever other threads draw. ``logprobs`` takes a list for each
    row: the log-probability of each token among those that its mask allowed, before temperature and other processors,
    and 0 of a forced one. Returns the ids with the prompt, padded on the right.

    Raises ``ArgumentError`` for beams, encoder-decoder models, inputs other than ids and, with more than one row, for
    caches that are not plain attention over everything.
    """
    stats = JumpForwardStats() if stats is None else stats
    mask = model_kwargs.pop("attention_mask", None)
    model_kwargs.pop("position_ids", None)
    # transformers 5.24 gave it another name.
    cache_name = "cache" if "cache" in model_kwargs else "past_key_values"
    cache = model_kwargs.pop(cache_name, None)
    use_cache = model_kwargs.pop("use_cache", True)
    model_kwargs.pop("logits_to_keep", None)
    others = sorted(k for k, v in model_kwargs.items() if v is not None)
    if others or model.config.is_encoder_decoder or not use_cache or cache is None:
        raise ArgumentError(f"jump_forward needs a decoder with a KV cache, and no inputs but ids; got {others}")
    if (generation_config.num_beams or 1) > 1 or generation_config.return_dict_in_generate:
        raise ArgumentError("jump_forward has no beams and returns ids only")
    if cache.get_seq_length() != 0:
        raise ArgumentError("jump_forward needs an empty cache")
    plain = all(type(layer).__name__ == "DynamicLayer" for layer in getattr(cache, "layers", [None]))
    if len(input_ids) > 1 and not plain:
        raise ArgumentError("jump_forward with several rows needs a cache of plain attention layers")
    device = input_ids.device
    mask = torch.ones_like(input_ids) if mask is None else mask.to(device)
    positions = mask
    eos = getattr(generation_config, "_eos_token_tensor", None)
    stop = None if eos is None else [int(t) for t in eos.flatten().tolist()]
    _check_width(model, constraints)
    prompts = [ids[keep.bool()].tolist() for ids, keep in zip(input_ids, mask, strict=True)]
    rows = [
        Row(constraint, max_tokens, stop if constraint is not None else None, prompt)
        for constraint, prompt in zip(constraints_of(constraints, len(input_ids), trigger), prompts, strict=True)
    ]
    warm_up(row.constraint for row in rows)
    batch = [_Sequence(input_ids[i : i + 1], row) for i, row in enumerate(rows)]
    accepted = inspect.signature(model.forward).parameters
    pad = getattr(generation_config, "_pad_token_tensor", None)
    filler = 0 if pad is None else int(pad)
    masks = Masks(number_end=number_end)
    draws = own_draws(seed)

    def follow(i: int, sequence: _Sequence) -> bool:
        """Whether the host forced something behind the last token."""
        guide = sequence.row.guide
        # Within a text from outside nothing new is said.
        if on_guide is None or guide is None or sequence.done or sequence.outside or not on_guide(i, guide):
            return False
        sequence.outside = len(guide.forced_tokens())
        return True

    def jump() -> None:
        for i, sequence in enumerate(batch):
            while not sequence.done and (run := forced_run(sequence.row)):
                before = len(sequence.new)
                for token in run:
                    if not sequence.done:
                        sequence.take(token, stopping_criteria)
                        if follow(i, sequence):
                            break
                stats.forced += len(sequence.new) - before
                if on_tokens is not None:
                    on_tokens(i, sequence.new[before:], True)

    jump()
    first = True
    while not all(sequence.done for sequence in batch):
        counts = [len(sequence.waiting) for sequence in batch]
        width = max(counts)
        block = torch.full((len(batch), width), filler, dtype=input_ids.dtype)
        seen = torch.zeros((len(batch), width), dtype=mask.dtype)
        for i, sequence in enumerate(batch):
            if counts[i]:
                block[i, width - counts[i] :] = torch.tensor(sequence.waiting, dtype=input_ids.dtype)
                seen[i, width - counts[i] :] = 1
            sequence.waiting = []
        block, seen = block.to(device), seen.to(device)
        if first:
            # Prompts move to the right as far as what follows them allows: the last column is every row's newest token.
            feed = torch.cat([torch.full_like(block, filler), input_ids, block], dim=1)
            known = torch.cat([torch.zeros_like(seen), mask, seen], dim=1)
            feed = torch.stack([_closed(row, count, width) for row, count in zip(feed, counts, strict=True)])
            mask = torch.stack([_closed(row, count, width) for row, count in zip(known, counts, strict=True)])
            place = (mask.long().cumsum(-1) - 1).clamp(min=0)
            first = False
        else:
            feed, mask = block, torch.cat([mask, seen], dim=1)
            place = positions[:, -1:] + seen.long().cumsum(-1)
        positions = place
        extra: dict[str, Any] = {"position_ids": place} if "position_ids" in accepted else {}
        if "logits_to_keep" in accepted:
            extra["logits_to_keep"] = 1
        outputs = model(input_ids=feed, attention_mask=mask, use_cache=True, **{cache_name: cache}, **extra)
        cache = outputs[cache_name]
        stats.model_calls += 1
        logits = outputs.logits[:, -1].to(copy=True, dtype=torch.float32, device=device)
        masks.apply(Batch(rows), logits)
        ranked = None if logprobs is None else logits.log_softmax(-1)
        for i, sequence in enumerate(batch):
            if sequence.done:
                continue
            with draws:
                scores = logits_processor(sequence.ids, logits[i : i + 1])
                is_drawn = generation_config.do_sample
                chosen = torch.multinomial(scores.softmax(-1), 1) if is_drawn else scores.argmax(-1)
            token = int(chosen)
            sequence.take(token, stopping_criteria, 0.0 if ranked is None else float(ranked[i, token]))
            follow(i, sequence)
            stats.sampled += 1
            if on_tokens is not None:
                on_tokens(i, [token], False)
        jump()
    if max_tokens is None:
        _warn_of_cut(batch, generation_config.max_length)
    if logprobs is not None:
        logprobs += [sequence.logprobs for sequence in batch]
    longest = max((len(sequence.new) for sequence in batch), default=0)
    tail = np.full((len(batch), longest), filler, dtype=np.int64)
    for i, sequence in enumerate(batch):
        tail[i, : len(sequence.new)] = np.array(sequence.new, dtype=np.int64)
    return torch.cat([input_ids, torch.from_numpy(tail).to(device=device, dtype=input_ids.dtype)], dim=1)
