"""The logits processor: which tokens llama-cpp-python may sample next.

llama-cpp-python calls a processor from C, where an exception is printed and lost, and the token would be sampled from
unmasked logits. So a processor that fails leaves nothing but stop tokens, keeps what went wrong, and ``check`` raises
it.

A processor gets the ids that the model has read. Those include the drafts that are being verified, while the question
may be about a place before or among them. ``ForcedTokenDrafts`` tells where a round of drafts begins, and a round is
asked about place by place.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from interlock import ArgumentError, BudgetError, Index, TokenRejected, UnsupportedError
from interlock._core import apply_bitmask_cpu
from interlock.integrations._forced import ForcedRuns
from interlock.integrations._mask import RowMask, expect_padding
from interlock.integrations._number_end import NumberEnd
from interlock.integrations._prefilled import PrefilledIndex
from interlock.integrations._row import Constraint, Row, check_stops, given_one, warm_up
from interlock.integrations._sequences import Sequences
from interlock.integrations._triggers import Triggered
from interlock.integrations.llama_cpp._drafts import ForcedTokenDrafts
from interlock.integrations.llama_cpp._model import check_llama
from interlock.output_types.context_room import context_room
from interlock.util.argument_types import require

__all__ = ["GuideLogitsProcessor"]

_LOST = 32
"""Bytes of the longest token that ``Llama.detokenize`` writes; of longer ones it writes nothing."""


@dataclass
class _Round:
    """A pass of the model over drafts: the sampled ids, how many the model has read then, places asked about."""

    ids: bytes
    length: int
    read: int
    sampler: Any
    asked: int = 0


class GuideLogitsProcessor:
    """Masks what may not come next: ``Llama.generate(..., logits_processor=LogitsProcessorList([processor]))``.

    ``constraint`` is an ``Index`` or a ``Triggered``, made with the vocabulary of ``llama``. ``trigger``, text or token
    ids, leaves text free until it was generated. ``max_tokens`` is a budget: what is generated, free text included, is
    complete within so many tokens, and within what the context has room for; ``None`` is without one.
    ``stop_token_ids`` replaces the vocabulary's.

    ``canonical`` leaves one token where bytes are forced: the tokenizer's, where the core knows it, and otherwise one
    of those that the model's tokenizer makes of these bytes. By default it is on where drafts are verified
    (``ForcedTokenDrafts``): other spellings of forced bytes would refuse drafts.

    Serves one generation at a time, and any number of them one after the other. A prompt that *is* the unfinished
    output of the generation before goes on with that one unless ``reset()`` was called.

    ``number_end`` is for generators, see ``NumberEnd``.

    An error within a call ends the generation with a stop token. ``check()`` raises it; it fits as a stopping
    criterion. ``constrained`` does all of this.

    Raises ``ArgumentError`` if ``llama`` is no ``Llama`` or was closed, if the vocabulary does not fit the model,
    if the model has a draft model other than ``ForcedTokenDrafts``, or one and not ``logits_all``; ``BudgetError``
    if ``max_tokens`` is too small.
    """

    def __init__(
        self,
        constraint: Constraint,
        llama: Any,
        *,
        trigger: str | Sequence[int] | None = None,
        max_tokens: int | None = None,
        stop_token_ids: Iterable[int] | None = None,
        canonical: bool | None = None,
        raising: bool = True,
        number_end: NumberEnd | None = None,
    ) -> None:
        made = given_one(constraint, trigger)
        if made is None:
            raise ArgumentError("a constraint is an Index or a Triggered, not None")
        self._constraint = made
        self._llama = llama
        self._max_tokens = max_tokens
        self._stop = None if stop_token_ids is None else [operator.index(token) for token in stop_token_ids]
        self._raising, self._number_end = raising, number_end
        check_llama(llama)
        require(max_tokens=(max_tokens, "count?"))
        width = int(llama.n_vocab())
        if len(made.vocabulary) > width:
            raise ArgumentError(
                f"the logits have {width} columns, the vocabulary has {len(made.vocabulary)} tokens: "
                "make it with vocabulary_from_llama"
            )
        expect_padding(made.vocabulary.size, width, "vocabulary_from_llama(llama)")
        check_stops(made, self._stop or ())
        self._context = int(llama.n_ctx())
        drafts = llama.draft_model
        if drafts is not None and not isinstance(drafts, ForcedTokenDrafts):
            raise ArgumentError(
                f"drafts of {type(drafts).__name__} cannot be followed: give draft_model=ForcedTokenDrafts(fallback)"
            )
        # Without it, llama-cpp-python 0.3.36 has room for the logits of one batch only and fails in the middle.
        if drafts is not None and len(llama.scores) < self._context:
            raise ArgumentError("a draft model needs Llama(..., logits_all=True)")
        self._drafts = drafts
        self._canonical = drafts is not None if canonical is None else canonical
        self._lost = _lost_tokens(made)
        self._forced = ForcedRuns(self._spell, self._lost)
        # What is impossible is said now, not inside of a call.
        first = Row(made, max_tokens, self._stop, whole=True)
        self._stops = sorted(first.stop)
        self._kept_words = ~_words(self._lost, made.vocabulary.size) if self._lost else None
        self._sequences = Sequences(self._begin, keep=8)
        self._mask = RowMask()
        self.reset()
        warm_up([made])

    def __iter__(self) -> Iterator[GuideLogitsProcessor]:
        """The processor itself. llama-cpp-python wants a list of processors; of one that stands alone it would print an
        error, and go on without it.
        """
        yield self

    def reset(self) -> None:
        """Forget the last generation, and its error."""
        self._sequences.reset()
        self._round: _Round | None = None
        self._last: tuple[bytes, Row] | None = None
        #: What went wrong inside of a call.
        self.error: BaseException | None = None

    @property
    def tokens(self) -> list[int]:
        """The tokens of the output behind which the last call was, without the prompt."""
        return [] if self._last is None else list(self._last[1].tokens)

    @property
    def num_prompt_tokens(self) -> int:
        """How many tokens the prompt of that output has."""
        return 0 if self._last is None else len(self._last[0]) // np.dtype(np.int32).itemsize - len(self.tokens)

    def check(self, *_: Any) -> bool:
        """Raise what went wrong inside of a call; otherwise False, which for a stopping criterion means to go on."""
        if self.error is not None:
            raise self.error
        return False

    def __call__(self, input_ids: npt.NDArray[np.intc], scores: npt.NDArray[np.single]) -> npt.NDArray[np.single]:
        """``scores`` with minus infinity where a token is forbidden, in place."""
        try:
            self.check()
            row = self._row_at(self._sampled(input_ids))
            forced = self._forced.following(row) if self._canonical else []
            words = self._mask.fill(row, len(scores), forced)
            if words is not None:
                # Tokens that would be missing in the text are forbidden.
                if self._kept_words is not None:
                    np.bitwise_and(words, self._kept_words, words)
                end, guide = self._number_end, row.guide
                ending = None
                if end is not None and guide is not None and end.is_open(guide):
                    ending = end.ending(guide, scores, row.stop)
                _apply(scores, words)
                if ending is not None:
                    ending.apply(scores)
        except BaseException as error:
            self.error = error
            kept = scores[self._stops].copy()
            scores[:] = -np.inf
            # Whatever the logits are, something has to be left.
            scores[self._stops] = np.where(np.isfinite(kept), kept, 0)
            if self._raising:
                raise
        return scores

    def drafts(self, input_ids: npt.NDArray[np.intc], fallback: Any) -> npt.NDArray[np.intc]:
        """Drafts behind ``input_ids``, all of which were sampled; ``fallback`` is asked where nothing is forced."""
        if self.error is not None:
            return np.empty(0, dtype=np.intc)
        row = self._row_at(input_ids)
        room = max(0, self._context - len(input_ids))
        found = self._forced.ahead(row, room)
        if not found and fallback is not None and not row.over:
            found = np.asarray(fallback(input_ids)).tolist()[:room]
            if row.guide is not None:
                found = found[: row.guide.validate(found)]
        self._round = _Round(
            _bytes(input_ids), len(input_ids), len(input_ids) + len(found), getattr(self._llama, "_sampler", None)
        )
        return np.asarray(found, dtype=np.intc)

    def _begin(self, prompt: list[int]) -> Row:
        budget = self._max_tokens
        if budget is not None:
            room = context_room(len(prompt), self._context, budget)
            if room is not None:
                budget = room.left
                try:
                    return Row(self._constraint, budget, self._stop, prompt, whole=True)
                except BudgetError as error:
                    raise room.error(error) from None
        return Row(self._constraint, budget, self._stop, prompt, whole=True)

    def _spell(self, text: bytes) -> list[int]:
        ids: list[int] = self._llama.tokenize(text, add_bos=False, special=False)
        return ids

    def _sampled(self, ids: npt.NDArray[np.intc]) -> npt.NDArray[np.intc]:
        """The ids before the place that is asked about."""
        if self._drafts is not None:
            self._drafts.follow(self)
        current = self._round
        if current is not None:
            here = len(ids) == current.read and current.length + current.asked <= current.read
            same = getattr(self._llama, "_sampler", None) is current.sampler
            if here and same and _bytes(ids[: current.length]) == current.ids:
                current.asked += 1
                return ids[: current.length + current.asked - 1]
            self._round = None
        return ids

    def _row_at(self, ids: npt.NDArray[np.intc]) -> Row:
        key = _bytes(ids)
        if self._last is None or self._last[0] != key:
            self._last = (key, self._sequences.row_at(np.ascontiguousarray(ids, dtype=np.int32)))
        return self._last[1]


def _bytes(ids: npt.NDArray[np.intc]) -> bytes:
    return np.ascontiguousarray(ids, dtype=np.int32).tobytes()


def _lost_tokens(constraint: Index | PrefilledIndex | Triggered) -> frozenset[int]:
    """The tokens that ``Llama.detokenize`` leaves out."""
    vocabulary = constraint.vocabulary
    silent = {*vocabulary.special_token_ids, *vocabulary.eos_token_ids}
    return frozenset(i for i in range(len(vocabulary)) if i not in silent and len(vocabulary.token_bytes(i)) > _LOST)


def _words(ids: Iterable[int], size: int) -> npt.NDArray[np.int32]:
    words = np.zeros((size + 31) // 32, dtype=np.uint32)
    for i in ids:
        words[i >> 5] |= np.uint32(1 << (i & 31))
    return words.view(np.int32)


def _apply(scores: npt.NDArray[np.single], words: npt.NDArray[np.int32]) -> None:
    """Mask ``scores`` in place. llama.cpp's candidates are records, so their logits do not lie beside each other."""
    beside = np.ascontiguousarray(scores)
    apply_bitmask_cpu(beside, words)
    if beside is not scores:
        scores[:] = beside
    if beside.max() == -np.inf:
        if not words.any():
            raise UnsupportedError(f"only tokens of more than {_LOST} bytes are left, which Llama.detokenize drops")
        raise TokenRejected("every token that is allowed has a logit of minus infinity: did another processor do that?")
