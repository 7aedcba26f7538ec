"""One request's place in its output: the object that vLLM calls a grammar."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from interlock import BudgetError, Guide, InterlockError
from interlock.integrations._failed_guides import GUIDE_FAILURES
from interlock.integrations.metrics import refusal_reason

if TYPE_CHECKING:
    from interlock.integrations.vllm.batch import Rows

__all__ = ["Grammar", "LateBudget"]

logger = logging.getLogger("vllm.interlock")

Bits = npt.NDArray[np.int32]


class LateBudget:
    """A budget that can only be known when the reasoning before the output has ended.

    ``spent()`` says how many tokens the request has written so far, ``begin(left)`` makes a guide for ``left`` tokens,
    or without a budget for None.
    """

    def __init__(
        self, total: int, spent: Callable[[], int], begin: Callable[[int | None], Guide], reserve: int
    ) -> None:
        self.total, self.spent, self.begin, self.reserve = total, spent, begin, reserve
        self.known: int | None = None


class Grammar:
    """What vLLM asks of a request's constraint, answered by a guide.

    It has the methods of vLLM's ``StructuredOutputGrammar``. With ``endless``, which is vLLM's ``ignore_eos``, the end
    of the output repeats and nothing follows it.

    ``spell`` is for a tokenizer of a kind that interlock does not know: it encodes a text, and forced bytes are spelled
    by it. Such tokens are permitted and their bytes are certain, so they are good drafts; in the whole text
    the tokenizer might have chosen others. With ``canonical`` such a token alone is allowed where bytes are forced; of
    tokenizers that interlock knows the guide itself sees to that.
    """

    def __init__(
        self,
        request_id: str,
        guide: Guide,
        rows: Rows,
        stop_token_ids: Sequence[int],
        *,
        endless: bool = False,
        canonical: bool = False,
        budget: LateBudget | None = None,
        spell: Callable[[str], list[int]] | None = None,
    ) -> None:
        self.request_id, self.guide = request_id, guide
        # What a reset begins with where the guide failed: such a guide stays where it is.
        self._fresh = guide.fork()
        self._spell = spell
        self._rows, self._stops = rows, tuple(stop_token_ids)
        self._endless, self._budget = endless, budget
        self._canonical = canonical and spell is not None
        # Whether every row is what its guide writes, with no budget that is known later.
        self.is_direct = not self.is_late and self.is_plain
        #: Why its guide gives no masks any more. The next token that it is given ends the request.
        self.failure: InterlockError | None = None
        # How many stop tokens came after the end; the guide does not know them.
        self._after_end = 0
        # The forced tokens that were found last, and after how many tokens.
        self._forced: list[int] = []
        self._forced_at: int | None = None
        # The drafts of the step, and where those that were added begin.
        self._drafted: list[int] = []
        self._drafted_from = 0

    # --- vLLM's methods -------------------------------------------------------------------------------------------

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:
        """Take tokens that were sampled, or that a mask is needed behind; whether all of them are allowed."""
        self._rows.write()
        if self.failure is not None:
            # Drafts of this step are dropped with the request.
            return self._rows.is_collecting
        if self._drafted:
            self._count_drafts(tokens)
        try:
            taken = self._advance(tokens)
        except GUIDE_FAILURES as error:
            self.fail(error)
            return self._rows.is_collecting
        if taken == len(tokens):
            return True
        self._rows.metrics.rejected.add(1)
        why = self.guide.explain(tokens[taken]) if not self.guide.is_terminated else "the output has ended"
        logger.error("request %s: token %d is not allowed: %s", request_id, tokens[taken], why)
        self._retreat(taken)
        return False

    def validate_tokens(self, tokens: list[int]) -> list[int]:
        """The allowed beginning of some drafts. The grammar stays where it is."""
        if self.failure is not None:
            return []
        if self.is_plain:
            return tokens[: self.guide.validate(tokens)]
        count = 0
        for token in tokens:
            forced = self.forced_tokens() if self._canonical else []
            if forced and token != forced[0]:
                break
            if not self._advance([token]):
                break
            count += 1
        self._retreat(count)
        return tokens[:count]

    def rollback(self, num_tokens: int) -> None:
        """Take back the last ``num_tokens``, a stop token included."""
        self._rows.write()
        if self.failure is None:
            self._retreat(num_tokens)

    def fill_bitmask(self, bitmask: Any, batch_index: int) -> None:
        """Write the mask of allowed tokens into one row; at the latest when the masks of the batch are complete."""
        self._rows.add(self, bitmask, batch_index)

    def is_terminated(self) -> bool:
        """Whether the output has ended, so that nothing is masked any more."""
        return self.failure is None and self.guide.is_terminated and not self._endless

    def reset(self) -> None:
        """Go back to the start. A grammar whose guide failed begins anew with another guide."""
        if self.failure is not None:
            self.failure, self.guide = None, self._fresh.fork()
            self.is_direct = not self.is_late and self.is_plain
            if self._budget is not None:
                self._budget.known = None
        self.guide.reset()
        self._after_end, self._forced_at, self._drafted = 0, None, []

    def fail(self, error: InterlockError) -> None:
        """Give no masks any more: the guide failed. vLLM ends the request when it asks for the next token."""
        self.failure, self.is_direct = error, False
        self._rows.metrics.refusals.add(1, refusal_reason(error), "engine")
        logger.error("request %s ends: %s", self.request_id, error)

    # --- for the batch --------------------------------------------------------------------------------------------

    @property
    def is_plain(self) -> bool:
        """Whether its next row is what its guide writes, and nothing else."""
        return not (self._canonical or self._endless)

    @property
    def is_late(self) -> bool:
        """Whether its budget is not known before its first row."""
        return self._budget is not None

    def settle(self) -> None:
        """Before a row is written: make the guide that knows its budget, if only now that is known."""
        budget = self._budget
        if budget is None or (budget.known is not None and self.guide.num_tokens):
            return
        left = budget.total - budget.spent()
        if left == budget.known:
            return
        budget.known, tokens = left, self.guide.tokens
        for tokens_left in (left - budget.reserve, left):
            try:
                guide = budget.begin(max(tokens_left, 0))
                break
            except BudgetError:
                continue
        else:
            self._rows.metrics.refusals.add(1, "budget", "engine")
            why = "the %d tokens that reasoning left are too few for any output that is known"
            logger.warning("request %s: " + why, self.request_id, left)
            guide, self._budget = budget.begin(None), None
        if guide.advance_many(tokens) == len(tokens):
            self.guide = guide

    def refine(self, row: npt.NDArray[np.uint32]) -> None:
        """Narrow a row that the guide wrote: what `is_plain` says it is not."""
        if self.guide.is_terminated:
            if self._endless:
                row[:] = 0
                for token in self._stops:
                    row[token >> 5] |= np.uint32(1 << (token & 31))
            return
        if self._canonical and (forced := self.forced_tokens()):
            row[:] = 0
            row[forced[0] >> 5] = np.uint32(1 << (forced[0] & 31))

    # --- forced tokens --------------------------------------------------------------------------------------------

    def forced_tokens(self) -> list[int]:
        """The tokens that must come next. Asking again costs nothing as long as they are the ones that came."""
        at = self.guide.num_tokens
        if self._forced_at is not None and 0 <= at - self._forced_at < len(self._forced):
            return self._forced[at - self._forced_at :]
        self._forced_at, self._forced = at, self._forced_here()
        return self._forced

    def _forced_here(self) -> list[int]:
        if not self.guide.forced_bytes():
            return []
        exact = self.guide.forced_tokens()
        if exact or self._spell is None:
            return exact
        # The last token is left out: what follows might join it.
        ids = self._spell(self.guide.forced_text())[:-1]
        return ids[: self.guide.validate(ids)]

    def with_forced(self, drafts: list[int], room: int) -> list[int]:
        """``drafts``, all of which are allowed, and behind them the tokens that are forced there, ``room`` in all."""
        if self.failure is not None:
            return []
        if len(drafts) >= room or self.guide.is_terminated or (drafts and drafts[-1] in self._stops):
            return drafts
        forced = self._forced_behind(drafts)[: room - len(drafts)]
        if not forced:
            return drafts
        self._rows.metrics.forced.add(len(forced), "proposed")
        self._drafted = [*drafts, *forced]
        self._drafted_from = len(drafts)
        return self._drafted

    def _forced_behind(self, drafts: list[int]) -> list[int]:
        if not drafts:
            return self.forced_tokens()
        if self._spell is None:
            return self.guide.forced_tokens(drafts)
        taken = self._advance(drafts)
        forced = self.forced_tokens() if taken == len(drafts) else []
        self._retreat(taken)
        return forced

    def _count_drafts(self, tokens: list[int]) -> None:
        """How many of the forced drafts came true. What is accepted while masks are filled does not count."""
        if self._rows.is_collecting:
            return
        same = 0
        while same < min(len(tokens), len(self._drafted)) and tokens[same] == self._drafted[same]:
            same += 1
        if same > self._drafted_from:
            self._rows.metrics.forced.add(same - self._drafted_from, "accepted")
        self._drafted = []

    # --- moving ---------------------------------------------------------------------------------------------------

    def _advance(self, tokens: list[int]) -> int:
        taken = self.guide.advance_many(tokens)
        if taken < len(tokens) and self._endless and self.guide.is_terminated:
            for token in tokens[taken:]:
                if token not in self._stops:
                    break
                taken, self._after_end = taken + 1, self._after_end + 1
        if self._forced_at is not None and taken:
            at = self.guide.num_tokens - taken - self._forced_at
            if at < 0 or tokens[:taken] != self._forced[at : at + taken]:
                self._forced_at = None
        return taken

    def _retreat(self, count: int) -> None:
        after = min(count, self._after_end)
        self._after_end -= after
        if count > after:
            self.guide.rollback(count - after)
        if self._forced_at is not None and self.guide.num_tokens < self._forced_at:
            self._forced_at = None
