"""One generated part of a program, token by token."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from interlock._core import Guide, Index
from interlock.budget_cuts import first_bytes
from interlock.generators.replies.budget_warnings import judge_budget
from interlock.masks import allocate_bitmask, apply_padded
from interlock.output_types.context_room import context_room
from interlock.programs.cached_model import CachedModel, common_length
from interlock.programs.healing import LongerTokens
from interlock.programs.sampling import Sampler
from interlock.programs.seam_tokenization import Transcript

__all__ = ["Decoder"]

_NONE = np.float32(-np.inf)


class Decoder:
    """Writes parts that an index permits into transcripts of one model.

    A part ends where nothing can follow, at a stop token, or where it may end and the model would rather write
    something that the index does not permit: what the model wants to say next is not part of this. So the number in
    ``"It costs " + 12 + " euros"`` ends before the blank, although a number has no end of its own.
    """

    def __init__(self, model: CachedModel) -> None:
        self.model = model
        self._longer: LongerTokens | None = None
        self._first: npt.NDArray[np.uint16] | None = None
        self.ended_by_budget = False
        """Whether the last part has all tokens that it could have, and might have had more."""
        self._bits = allocate_bitmask(1, model.vocabulary)

    def write(
        self,
        transcript: Transcript,
        index: Index,
        max_tokens: int,
        sampler: Sampler,
        stopped: Callable[[bytes], bool] | None = None,
    ) -> bytes:
        """Generate one part behind ``transcript`` and return its bytes. ``stopped`` is asked after every token whether
        the bytes so far are enough. Warns (``TightBudgetWarning``) if the budget left no room. ``BudgetError`` if no
        output has ``max_tokens`` tokens or fewer, ``PromptTooLongError`` if the context has no room for one.
        """
        begun = len(transcript.data)
        room = context_room(len(transcript.ids), self.model.context, max_tokens)
        if room is not None:
            room.check(index, "text")
            max_tokens = room.left
        guide = index.guide(max_tokens=max_tokens, context_ids=transcript.ids)
        healed = not guide.must_stop and self._heal(transcript, guide, sampler)
        while not guide.must_stop:
            if stopped is not None and stopped(transcript.data[begun:]):
                break
            run = self._forced(transcript, guide, healed)
            if not run:
                token = self._chosen(transcript, guide, sampler)
                if token is None:
                    break
                run = [token]
            guide.advance_many(run)
            transcript.ids.extend(run)
        free = index.guide()
        self.ended_by_budget = (
            guide.num_tokens >= max_tokens
            and free.advance_many(guide.tokens) == len(guide.tokens)
            and not free.must_stop
        )
        judge_budget(index, [guide.tokens], max_tokens, self._first_bytes, room=room)
        return transcript.data[begun:]

    def _first_bytes(self) -> npt.NDArray[np.uint16]:
        if self._first is None:
            self._first = first_bytes(self.model.vocabulary)
        return self._first

    def _heal(self, transcript: Transcript, guide: Guide, sampler: Sampler) -> bool:
        """Choose again the last token of fixed text. Whether another one was chosen."""
        if len(transcript.ids) <= transcript.start or len(transcript.ids) < 2:
            return False
        if self._longer is None:
            self._longer = LongerTokens(self.model.vocabulary)
        last = transcript.ids[-1]
        healing = self._longer.healing(last, guide)
        if healing is None:
            return False
        logits = np.where(healing.allowed, self.model.logits(transcript.ids[:-1]), _NONE)
        token = sampler.choose(logits)
        if token == last:
            return False
        transcript.ids[-1] = token
        guide.advance_many(healing.added[token])
        return True

    def _forced(self, transcript: Transcript, guide: Guide, healed: bool) -> list[int]:
        """Tokens that come next whatever the model says."""
        if not healed:
            run = guide.forced_tokens()
            if run:
                return run
        forced = guide.forced_bytes()
        if len(forced) > 1:
            # As the tokenizer spells them behind the text so far. The last token may become another by what follows.
            made = transcript.spelled_with(forced)
            if common_length(made, transcript.ids) == len(transcript.ids):
                run = made[len(transcript.ids) : -1]
                return run[: guide.validate(run)]
        allowed = guide.allowed_token_ids()
        return [int(allowed[0])] if len(allowed) == 1 and not guide.is_accepting else []

    def _chosen(self, transcript: Transcript, guide: Guide, sampler: Sampler) -> int | None:
        """The model's choice; ``None`` for the end."""
        logits = self.model.logits(transcript.ids)
        guide.fill_bitmask(self._bits)
        masked = logits[None, :].copy()
        apply_padded(masked, self._bits)
        if not guide.is_accepting:
            return sampler.choose(masked[0])
        token = sampler.choose(logits)
        if masked[0, token] != _NONE:
            return None if token in self.model.vocabulary.eos_token_ids else token
        return self._beginning(token, masked[0], sampler)

    def _beginning(self, token: int, masked: npt.NDArray[np.float32], sampler: Sampler) -> int | None:
        """A token that is not permitted may begin with what is: then the part goes on, with what it begins with."""
        head = self.model.vocabulary.decode([token])[:1]
        vocabulary = self.model.vocabulary
        allowed = np.flatnonzero(masked != _NONE)
        if not head or len(allowed) > 512:
            return None
        same = [int(i) for i in allowed if vocabulary.decode([int(i)])[:1] == head]
        if not same:
            return None
        only = np.full_like(masked, _NONE)
        only[same] = masked[same]
        return sampler.choose(only)
