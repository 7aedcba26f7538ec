"""One request's grammar, as SGLang's scheduler and its speculative workers drive it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from sglang.srt.constrained.base_grammar_backend import BaseGrammarObject, GrammarRow, GrammarStats

from interlock import Guide, Index, TokenRejected
from interlock.integrations._failed_guides import GUIDE_FAILURES
from interlock.integrations.server_counts import counts
from interlock.integrations.sglang import _masks
from interlock.util.plurals import counted

__all__ = ["InterlockGrammar", "Terms", "fill_entries"]


@dataclasses.dataclass(frozen=True)
class Terms:
    """What a request asks of its output beside the source."""

    max_tokens: int | None = None
    """The output is complete within so many tokens, the stop token not counted."""
    min_tokens: int = 0
    """No stop token before so many tokens, unless nothing else may follow."""
    stop_token_ids: tuple[int, ...] | None = None
    """The ids that end the output; by default the vocabulary's."""
    held_back_ids: tuple[int, ...] = ()
    """The ids that ``min_tokens`` holds back."""
    context_ids: tuple[int, ...] | None = None
    """The end of the prompt, from a special token on; for forced tokens."""

    def guide(self, index: Index) -> Guide:
        """A guide at the start. ``BudgetError`` if ``max_tokens`` is too small for any output."""
        return index.guide(self.max_tokens, self.stop_token_ids, self.context_ids)


class InterlockGrammar(BaseGrammarObject):  # type: ignore[misc, unused-ignore]
    """An index and, from the first question on, a guide over it.

    The object that a compile returns is a template: SGLang keeps a copy of it and copies that for every later request.
    Templates make no guide.
    """

    def __init__(self, index: Index, kind: str, terms: Terms = Terms(), stats: Any = None) -> None:  # noqa: B008
        super().__init__()
        self.index = index
        self.kind = kind
        self.terms = terms
        self.grammar_stats = GrammarStats(dispatch_type=kind) if stats is None else stats
        self._guide: Guide | None = None

    @property
    def guide(self) -> Guide:
        """The guide of this request."""
        if self._guide is None:
            self._guide = self.terms.guide(self.index)
        return self._guide

    def begin(self, terms: Terms) -> None:
        """Go to the start, under ``terms``. ``BudgetError``, and nothing changes, if no output is short enough."""
        self._guide, self.terms = terms.guide(self.index), terms

    # --- tokens ---

    def accept_token(self, token: int) -> None:
        """Take one token; after the end there is nothing to take. ``TokenRejected``, a ``ValueError``, if it is not
        allowed: the request then ends with an error, and nothing has changed.
        """
        guide = self.guide
        if guide.is_terminated:
            return
        try:
            guide.advance(token)
        except TokenRejected as error:
            counts().rejected.add(1)
            after = counted(guide.num_tokens, "token")
            raise TokenRejected(f"{error} (after {after} of the {self.kind} grammar)") from error
        self.current_token = token

    def rollback(self, k: int) -> None:
        """Undo the last ``k`` tokens, a stop token included."""
        self.guide.rollback(k)

    def is_terminated(self) -> bool:
        """Whether a stop token was taken."""
        try:
            return self._guide is not None and self._guide.is_terminated
        except GUIDE_FAILURES:
            return False

    def copy(self) -> InterlockGrammar:
        """A second grammar in the same state; of a template, one at the start."""
        stats = self.grammar_stats
        if stats is not None:
            stats = dataclasses.replace(stats, is_cache_hit=True, tree_traversal_time=[])
        made = InterlockGrammar(self.index, self.kind, self.terms, stats)
        made._guide = None if self._guide is None else self._guide.fork()
        made.current_token, made.finished = self.current_token, self.finished
        return made

    # --- masks ---

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> Any:
        """A mask of ``batch_size`` rows on the CPU, ``int32``, that allows everything."""
        return _masks.allocated(vocab_size, batch_size)

    def fill_vocab_mask(self, vocab_mask: Any, idx: int) -> None:
        """Fill one row."""
        if not _masks.fill_guides([self.guide], [idx], vocab_mask):
            self.hold_back(vocab_mask, idx)

    def hold_back(self, vocab_mask: Any, row: int) -> None:
        """Forbid stop tokens in a row that was filled, while the output has fewer tokens than it was asked to have.

        Where nothing else may follow they stay: the grammar permits no longer output.
        """
        guide, terms = self.guide, self.terms
        if guide.num_tokens >= terms.min_tokens or not guide.is_accepting or guide.must_stop:
            return
        _masks.set_tokens(vocab_mask, terms.held_back_ids, row, allowed=False, first_reset=False)
        if not _masks.row_words(vocab_mask, row).any():
            guide.fill_bitmask(vocab_mask, row)

    @staticmethod
    def fill_vocab_mask_batched(entries: list[GrammarRow], vocab_mask: Any) -> None:
        """Fill the rows of a batch in one native call. Rows that are not listed stay as they are."""
        fill_entries(entries, vocab_mask)

    @staticmethod
    def reset_vocab_mask(vocab_mask: Any) -> None:
        """Allow everything in all rows."""
        _masks.reset(vocab_mask)

    @staticmethod
    def move_vocab_mask(vocab_mask: Any, device: Any) -> Any:
        """The mask on the device of the logits."""
        return _masks.moved(vocab_mask, device)

    @staticmethod
    def apply_vocab_mask(logits: Any, vocab_mask: Any) -> None:
        """Make the logits of forbidden tokens minus infinity, in place."""
        _masks.applied(logits, vocab_mask)

    # --- jump-forward ---

    def try_jump_forward(self, tokenizer: Any) -> tuple[list[int], str] | None:
        """What must come next: tokens that the tokenizer makes of it whatever follows, and the text after them.

        ``None`` if nothing is forced. SGLang 0.5.23 has no caller of this.
        """
        guide = self.guide
        forced = guide.forced_bytes()
        if not forced:
            return None
        tokens = guide.forced_tokens()
        spelled = b"".join(map(self.index.vocabulary.token_bytes, tokens))
        try:
            rest = _whole_characters(forced[len(spelled) :])
        except UnicodeDecodeError:  # The tokens end inside a character.
            tokens, rest = [], guide.forced_text()
        return (tokens, rest) if tokens or rest else None

    def jump_forward_str_state(self, helper: tuple[list[int], str]) -> tuple[str, int]:
        """The text that follows the tokens of ``helper``. There is no numbered state: the second is -1."""
        return helper[1], -1

    def jump_and_retokenize(self, old_output_ids: list[int], new_output_ids: list[int], next_state: int) -> None:
        """Replace the tokens of the output so far: ``new_output_ids`` may spell it otherwise, and go on.

        Output ids may begin with tokens that this grammar never took, as those of reasoning are; they must be the same
        in both. ``ValueError``, and nothing changes, if the new ones are not allowed.
        """
        guide = self.guide
        before = len(old_output_ids) - guide.num_tokens
        if before < 0 or list(old_output_ids[before:]) != guide.tokens:
            raise ValueError("the old output is not what this grammar has taken")
        if list(old_output_ids[:before]) != list(new_output_ids[:before]):
            raise ValueError("the new output changes tokens before the grammar began")
        old, new = list(old_output_ids[before:]), list(new_output_ids[before:])
        same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
        trial = guide.fork()
        trial.rollback(len(old) - same)
        taken = trial.advance_many(new[same:])
        if taken < len(new) - same:
            at = same + taken
            raise ValueError(f"token {new[at]}, number {at} of the new output, is refused: {trial.explain(new[at])}")
        self._guide = trial
        if new:
            self.current_token = new[-1]

    def __repr__(self) -> str:
        tokens = 0 if self._guide is None else self._guide.num_tokens
        return f"InterlockGrammar(kind={self.kind!r}, index={self.index.fingerprint[:12]}, tokens={tokens})"


def _whole_characters(data: bytes) -> str:
    """The text of ``data``, without a character that it begins and does not end. ``UnicodeDecodeError`` if it does not
    begin with a character."""
    if data and data[0] & 0xC0 == 0x80:
        raise UnicodeDecodeError("utf-8", data, 0, 1, "inside a character")
    for cut in range(min(4, len(data) + 1)):
        try:
            return data[: len(data) - cut].decode()
        except UnicodeDecodeError:
            continue
    raise UnicodeDecodeError("utf-8", data, 0, 1, "no whole characters")


def fill_entries(entries: Sequence[GrammarRow], vocab_mask: Any) -> None:
    """Fill the rows of grammars of any kind; those that stand on a guide together, in one native call."""
    guides: list[Guide] = []
    rows: list[int] = []
    waiting: list[tuple[InterlockGrammar, int]] = []
    for row, grammar in entries:
        current = grammar if isinstance(grammar, InterlockGrammar) else _inner(grammar)
        if current is None:
            grammar.fill_vocab_mask(vocab_mask, row)
            continue
        guides.append(current.guide)
        rows.append(row)
        if current.terms.min_tokens:
            waiting.append((current, row))
    failed = _masks.fill_guides(guides, rows, vocab_mask)
    for current, row in waiting:
        if row not in failed:
            current.hold_back(vocab_mask, row)


def _inner(grammar: Any) -> InterlockGrammar | None:
    """The grammar that alone decides about the next token of a reasoning wrapper; ``None`` if it does not."""
    decides = getattr(grammar, "deciding_grammar", None)
    found = decides() if decides is not None else None
    return found if isinstance(found, InterlockGrammar) else None
