"""The logits processor: which tokens mlx-lm may sample next.

mlx computes when it has to: what a call returns is a plan, and the model's pass is one too until somebody looks at its
numbers. So the pass is sent off first, and the mask is made while it runs.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from interlock import ArgumentError, TokenRejected
from interlock.integrations._forced import ForcedRuns
from interlock.integrations._mask import RowMask
from interlock.integrations._number_end import NumberEnd
from interlock.integrations._row import Constraint, Row, check_stops, given_one, warm_up
from interlock.integrations._sequences import Sequences
from interlock.util.argument_types import require

__all__ = ["GuideLogitsProcessor"]


class GuideLogitsProcessor:
    """Masks what may not come next: ``generate(..., logits_processors=[processor])``.

    ``constraint`` is an ``Index`` or a ``Triggered``. ``trigger``, text or token ids, leaves text free until it was
    generated. ``max_tokens`` is a budget, the same number as that of ``generate``: what is generated, free text
    included, is complete within so many tokens. ``stop_token_ids`` replaces the vocabulary's. ``canonical`` leaves one
    token where the tokenizer makes that one of every permitted text (``Guide.forced_tokens``).

    ``number_end`` is for generators, see ``NumberEnd``.

    The sequence that a call is about is found from its ids, so one processor serves the sequences of a batch that have
    one constraint, generations one after the other, and speculative decoding, which goes back. For a constraint per
    prompt use ``constrained_batch``, or ``BatchGenerator.insert(..., logits_processors=[[p] for p in processors])``. A
    prompt that *is* an unfinished output goes on with that one unless ``reset()`` was called.

    Raises ``ArgumentError`` for what is no constraint, and ``BudgetError`` if ``max_tokens`` is too small. A call
    raises ``TokenRejected`` if another processor left no choice but a forbidden token.
    """

    def __init__(
        self,
        constraint: Constraint,
        *,
        trigger: str | Sequence[int] | None = None,
        max_tokens: int | None = None,
        stop_token_ids: Iterable[int] | None = None,
        canonical: bool = False,
        number_end: NumberEnd | None = None,
    ) -> None:
        require(max_tokens=(max_tokens, "count?"))
        made = given_one(constraint, trigger)
        if made is None:
            raise ArgumentError("a constraint is an Index or a Triggered, not None")
        stop = None if stop_token_ids is None else [operator.index(token) for token in stop_token_ids]
        check_stops(made, stop or ())

        def start(prompt: list[int]) -> Row:
            return Row(made, max_tokens, stop, prompt, whole=True)

        start([])  # what is impossible is said now
        self._sequences = Sequences(start)
        self._mask = RowMask()
        self._canonical, self._number_end = canonical, number_end
        self._none: dict[Any, Any] = {}
        warm_up([made])

    def __iter__(self) -> Iterator[GuideLogitsProcessor]:
        """The processor itself: mlx-lm wants a list of processors, and one that stands alone is meant as a list."""
        yield self

    def reset(self) -> None:
        """Forget all sequences."""
        self._sequences.reset()

    def check(self, tokens: Any) -> None:
        """``TokenRejected`` if ``tokens``, a prompt and what was generated behind it, has a token that was masked.

        A call says so of the tokens before it. Nothing says it of the last one, unless this is asked.
        """
        strayed = self._sequences.row_at(_ids(tokens)).strayed
        if strayed:
            raise TokenRejected(
                f"token {strayed[0]} was taken, which was masked: did another processor leave no choice?"
            )

    def __call__(self, tokens: Any, logits: Any) -> Any:
        """``logits``, (1, width) or (width,), with minus infinity where a token is forbidden, as a new array.

        ``tokens`` are the ids so far, an ``mx.array`` or a list.
        """
        import mlx.core as mx

        mx.async_eval(logits)
        row = self._sequences.row_at(_ids(tokens))
        forced = ForcedRuns().following(row) if self._canonical else []
        width = int(logits.shape[-1])
        if logits.size != width:
            raise ArgumentError(f"the logits of one sequence are expected, not an array of shape {logits.shape}")
        words = self._mask.fill(row, width, forced)
        if words is None:
            return logits
        allowed = np.zeros(width, dtype=np.bool_)
        bits = np.unpackbits(words.view(np.uint8), bitorder="little", count=min(width, 32 * len(words)))
        allowed[: len(bits)] = bits
        none = self._none.get(logits.dtype)
        if none is None:
            none = self._none[logits.dtype] = mx.array(float("-inf"), dtype=logits.dtype)
        end, guide = self._number_end, row.guide
        if end is not None and guide is not None and end.is_open(guide):
            ending = end.ending(guide, np.array(logits.astype(mx.float32)), row.stop)
            if ending is not None and ending.score is None:
                allowed[:] = False
                allowed[ending.stop] = True
            elif ending is not None:
                here = np.zeros(width, dtype=np.bool_)
                here[ending.stop] = True
                logits = mx.where(mx.array(here), mx.array(ending.score, dtype=logits.dtype), logits)
        return mx.where(mx.array(allowed), logits, none)


def _ids(tokens: Any) -> npt.NDArray[np.int32]:
    return np.asarray(tokens).astype(np.int32, copy=False).reshape(-1)
