"""A logits processor: which tokens each row of a batch may take next.

transformers gives a processor nothing but the ids so far and the scores, and changes rows as it likes: beams swap,
split and die; assisted generation goes back. So each row's guide is found again from its ids: the row before whose ids
are a prefix is moved on, forked if several rows continue it, or rolled back.

All that a step needs of the ids is on the processor after one transfer from the device: the newest token of each row,
with the device's word that everything in front of it is as it was. Where a step before was another kind (beams), the
ids behind the prompt are brought as a whole.

*Where the prompt ends* is found too. A call continues the generation before it if every row, its last token excepted,
was asked about already; any other call begins a new one. So the object may be used again after any kind of stop.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from transformers import LogitsProcessor

from interlock import ArgumentError, BudgetError, Index, TokenRejected
from interlock.integrations._batch import Batch
from interlock.integrations._cut_outputs import warn_cut_output
from interlock.integrations._mask import expect_padding
from interlock.integrations._number_end import NumberEnd
from interlock.integrations._prefilled import PrefilledIndex
from interlock.integrations._row import Constraint, Row, check_stops, given_one, warm_up
from interlock.integrations.transformers._last_call import length_of_loop
from interlock.integrations.transformers._masks import Masks
from interlock.util.argument_types import require
from interlock.util.near_words import telling_slips
from interlock.util.plurals import counted

__all__ = ["GuideLogitsProcessor", "constraints_of"]


def _given(constraints: Constraint | Sequence[Constraint], trigger: str | Sequence[int] | None) -> list[Constraint]:
    """The constraints of all prompts, or the one that they share, behind their trigger."""
    # Whatever is no list is meant as one constraint, and is refused by what it is.
    given: list[Any] = list(constraints) if isinstance(constraints, list | tuple) else [constraints]
    return [given_one(constraint, trigger) for constraint in given]


def _each(given: list[Constraint], rows: int) -> list[Constraint]:
    """One constraint a row: a single one is everybody's, of a list each is repeated for the beams of its prompt."""
    if not given or rows % len(given):
        do = "does" if len(given) == 1 else "do"
        raise ArgumentError(f"{counted(len(given), 'constraint')} {do} not fit {counted(rows, 'row')}")
    each = rows // len(given)
    return [constraint for constraint in given for _ in range(each)]


def constraints_of(
    constraints: Constraint | Sequence[Constraint], rows: int, trigger: str | Sequence[int] | None
) -> list[Constraint]:
    """The constraint of each row, behind its trigger."""
    return _each(_given(constraints, trigger), rows)


def _host(ids: torch.Tensor) -> npt.NDArray[np.int64]:
    """A copy of the ids in memory of the processor: one transfer, if they are on a device."""
    return np.array(ids.cpu().numpy(), dtype=np.int64, order="C")


def _texts(ids: npt.NDArray[np.int64]) -> list[bytes]:
    """The ids of each row as bytes, to compare rows by."""
    return [row.tobytes() for row in np.ascontiguousarray(ids)]


def _is_near(ids: torch.Tensor) -> bool:
    """Whether the ids lie in memory of the processor, where looking at them is no transfer."""
    return bool(ids.device.type == "cpu")


def _with_answer(ids: torch.Tensor, part: torch.Tensor, of: torch.Tensor) -> tuple[npt.NDArray[np.int64], bool]:
    """A copy of ``ids`` in memory of the processor, and whether ``part`` and ``of`` are equal, in one transfer."""
    if _is_near(ids):
        return _host(ids), torch.equal(part, of)
    same = (part == of).all().reshape(1)
    packed = _host(torch.cat([ids.reshape(-1).to(torch.int64), same.to(torch.int64)]))
    return packed[:-1].reshape(ids.shape), bool(packed[-1])


class GuideLogitsProcessor(LogitsProcessor):  # type: ignore[misc, unused-ignore]
    """Masks what may not come next, for ``generate(logits_processor=[...])``.

    ``constraints`` is one for all rows or a list with one per prompt: an ``Index``, a ``Triggered`` or ``None`` for a
    row without a mask. ``trigger``, text or token ids, leaves text free until it was generated. ``max_tokens`` and
    ``stop_token_ids`` are handed to ``Index.guide``. ``in_place`` masks the scores that were passed instead of a copy;
    it saves a copy where nothing else looks at the scores, which ``generate`` does if ``output_logits=True``.

    A processor does not know ``max_new_tokens``: without ``max_tokens``, ``generate`` cuts an output that is longer,
    and what is left is not whole. That is a ``CutOutputWarning``, but not with beams and drafts. Pass ``max_tokens=n``
    here and ``max_new_tokens=n + 1`` there, for the stop token.

    ``canonical`` leaves one token where the tokenizer makes that one of every permitted text (``Guide.forced_tokens``),
    so that what the index forces is spelled as the model's training text was, and greedy search writes what
    ``jump_forward`` writes. The prompt is the text in front, where the index holds from the start or a trigger on.

    ``number_end`` is for generators, see ``NumberEnd``.

    A row that is no beam and took a forbidden token (because another processor left nothing else) raises
    ``TokenRejected``. ``reset`` forgets the last generation; needed only before a prompt that is the last batch's
    unfinished output itself.
    """

    supports_continuous_batching = False

    @telling_slips
    def __init__(
        self,
        constraints: Constraint | Sequence[Constraint],
        *,
        trigger: str | Sequence[int] | None = None,
        max_tokens: int | None = None,
        stop_token_ids: Iterable[int] | None = None,
        in_place: bool = False,
        canonical: bool = False,
        number_end: NumberEnd | None = None,
    ) -> None:
        require(max_tokens=(max_tokens, "count?"), in_place=(in_place, "flag"), canonical=(canonical, "flag"))
        self._constraints = _given(constraints, trigger)
        if not self._constraints:
            raise ArgumentError("the list of constraints is empty: give one for all rows, or one for each prompt")
        self._max_tokens = max_tokens
        self._stop = None if stop_token_ids is None else [operator.index(token) for token in stop_token_ids]
        for constraint in self._constraints:
            check_stops(constraint, self._stop or ())
        self._in_place = in_place
        self._canonical = canonical
        self._number_end = number_end
        self.reset()
        warm_up(self._constraints)

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        """Asked by ``generate`` of a processor that was passed without a list: always an ``ArgumentError``."""
        raise ArgumentError("logits_processor is a list of processors: pass logits_processor=[processor]")

    def reset(self) -> None:
        """Forget the last generation."""
        self._batch = Batch([])
        self._prompt: torch.Tensor | None = None
        self._prompts: list[bytes] = []
        # The ids of the last call, where they are, and those behind the prompt in memory of the processor, as far as
        # ``_late`` does not hold them: the tokens of the steps since.
        self._seen: torch.Tensor | None = None
        self._behind: npt.NDArray[np.int64] = np.empty((0, 0), dtype=np.int64)
        self._late: list[npt.NDArray[np.int64]] = []
        # Whether the last call was a step of one token on every row.
        self._steps = True
        # Where the loop cuts, if that is known.
        self._cut_at: int | None = None
        self._masks = Masks(self._canonical, self._number_end)

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.Tensor:
        """The scores with minus infinity where a token is forbidden."""
        ids = input_ids.detach()
        try:
            if not self._step(ids) and not self._follow(ids):
                for constraint in self._constraints:
                    if isinstance(constraint, Index | PrefilledIndex):
                        expect_padding(
                            constraint.vocabulary.size,
                            scores.shape[-1],
                            "Vocabulary.from_tokenizer(tokenizer, size=model.config.vocab_size)",
                        )
                self._begin(ids)
            # Whoever called may write into the ids. The copy is made where they are, and waits for nothing.
            self._seen = ids.clone()
            self._check(len(ids))
            if self._cut_at is not None and ids.shape[1] + 1 >= self._cut_at:
                self._warn_of_cut(ids.shape[1] + 1)
            if not self._in_place:
                return self._masks.copied(self._batch, scores)
            self._masks.apply(self._batch, scores)
            return scores
        except BaseException:
            self.reset()
            raise

    def _begin(self, ids: torch.Tensor) -> None:
        host = _host(ids)
        self._prompt, self._prompts = ids.clone(), _texts(host)
        self._behind, self._late, self._steps = np.empty((len(ids), 0), dtype=np.int64), [], True
        made: list[Row] = []
        prompts: list[list[int]] = host.tolist() if self._canonical else [[]] * len(ids)
        for constraint, prompt in zip(_each(self._constraints, len(ids)), prompts, strict=True):
            made.append(Row(constraint, self._max_tokens, self._stop, prompt))
        self._batch = Batch(made)
        self._cut_at = length_of_loop()

    def _warn_of_cut(self, length: int) -> None:
        """Warn of a row that one more token does not complete, which is the last that the loop has for it."""
        prompt, self._cut_at = self._prompt, None
        for i, row in enumerate(self._batch.rows()):
            if row.guide is None or row.over or row.refused or row.guide.is_accepting:
                continue
            try:
                is_certain = row.guide.min_tokens_to_finish() > 1
            except BudgetError:
                is_certain = True
            # Within a budget the last token completes the output.
            if prompt is not None and (is_certain or self._max_tokens is None):
                which = f"row {i}" if self._batch.rows()[1:] else "the output"
                was, written = "is" if is_certain else "may be", length - prompt.shape[1]
                warn_cut_output(which, was, written, self._max_tokens)
                return

    def _step(self, ids: torch.Tensor) -> bool:
        """The usual case: every row is the one before plus a token."""
        seen = self._seen
        if not self._steps or seen is None or ids.device != seen.device:
            return False
        if ids.shape[0] != seen.shape[0] or ids.shape[1] != seen.shape[1] + 1:
            return False
        newest, same = _with_answer(ids[:, -1], ids[:, :-1], seen)
        if not same:
            return False
        self._take(newest)
        return True

    def _take(self, newest: npt.NDArray[np.int64]) -> None:
        """Take the newest token of each row."""
        self._batch.advance(newest.tolist())
        self._late.append(newest)
        self._steps = True

    def _known(self) -> npt.NDArray[np.int64]:
        """The ids of the last call behind the prompt."""
        if self._late:
            self._behind = np.concatenate([self._behind, np.stack(self._late, axis=1)], axis=1)
            self._late = []
        return self._behind

    def _follow(self, ids: torch.Tensor) -> bool:
        """Beams and drafts: find the row that each row continues."""
        prompt = self._prompt
        if prompt is None or ids.shape[0] != prompt.shape[0] or ids.shape[1] < prompt.shape[1]:
            return False
        start = prompt.shape[1]
        if ids.device != prompt.device:
            return False
        behind, same = _with_answer(ids[:, start:], ids[:, :start], prompt)
        if not same:
            return False
        known = self._known()
        self._steps = False
        # In most cases each row is a row before and one token; drafts may bring several, or take some back.
        is_one_more = behind.shape[1] == known.shape[1] + 1
        if is_one_more and np.array_equal(behind[:, :-1], known):
            self._take(behind[:, -1])
            return True
        kept = self._batch.rows()
        if is_one_more:
            length = known.shape[1]
            wanted, had = _texts(behind[:, :-1]), _texts(known)
        else:
            length = max(0, behind.shape[1] - 1)
            if any(len(row.tokens) < length for row in kept):
                return False
            wanted = _texts(behind[:, :length])
            had = [np.asarray(row.tokens[:length], dtype=np.int64).tobytes() for row in kept]
        # Rows of other prompts may have the same text, but another context in front of it.
        places: dict[tuple[int, bytes, bytes], int] = {}
        for j, (row, p, text) in enumerate(zip(kept, self._prompts, had, strict=True)):
            places.setdefault((id(row.constraint), p, text), j)
        keys = [(id(row.constraint), p, text) for row, p, text in zip(kept, self._prompts, wanted, strict=True)]
        parents = [places.get(key) for key in keys]
        # Forks first: whoever takes the row itself moves it.
        taken: set[int] = set()
        rows: list[Row] = []
        for parent in parents:
            if parent is None:
                return False
            rows.append(kept[parent].fork() if parent in taken else kept[parent])
            taken.add(parent)
        for row in rows:
            if len(row.tokens) > length:
                row.cut(length)
        self._batch = Batch(rows)
        for column in behind[:, length:].T.tolist():
            self._batch.advance(column)
        self._behind = behind
        return True

    def _check(self, count: int) -> None:
        """Only a beam may have taken a forbidden token, which has a neighbour with the same prompt, or a row that
        ``generate`` ended by a criterion of its own, such as a stop string: it is filled up while others go on.
        """
        if self._prompt is None:
            return
        for i, row in self._batch.others:
            strayed = row.strayed
            if not strayed:
                continue
            # Padding is one token again and again; a row that is still sampled has stop tokens left, and no others.
            filled = strayed[0] in row.stop or len(strayed) == 1 or strayed[1] == strayed[0]
            if filled and count > 1:
                continue
            beside = [j for j in (i - 1, i + 1) if 0 <= j < count]
            if any(self._prompts[i] == self._prompts[j] for j in beside):
                continue
            raise TokenRejected(
                f"row {i} took token {strayed[0]}, which was masked: did another processor leave no choice?"
            )
