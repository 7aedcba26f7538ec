"""The engine's side: a vocabulary, and a grammar for each request."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence
from typing import Any

import interlock
from interlock import BudgetError, CancelledError, Guide, Index, InterlockError, LimitError
from interlock.integrations.metrics import refusal_reason
from interlock.integrations.server_counts import Counts
from interlock.integrations.vllm.batch import Rows
from interlock.integrations.vllm.deadlines import Deadline, Deadlines
from interlock.integrations.vllm.grammar import Grammar, LateBudget
from interlock.integrations.vllm.options import Options
from interlock.integrations.vllm.sources import Source, compile_source, source_of
from interlock.integrations.vllm.vocabulary import speller_of, vocabulary_of
from interlock.masks import make_mask

__all__ = ["Backend", "guide_within"]

logger = logging.getLogger("vllm.interlock")


def guide_within(index: Index, max_tokens: int, **given: Any) -> Guide:
    """A guide whose output ends within ``max_tokens``, its stop token included where that is possible.

    vLLM counts the stop token, a guide does not. An output that needs them all is cut before its stop token, so it is
    complete, but the reason that vLLM gives is ``length``. ``BudgetError`` if even that is too little.
    """
    try:
        return _bounded(index, max(max_tokens - 1, 0), **given)
    except BudgetError:
        return _bounded(index, max_tokens, **given)


def _bounded(index: Index, max_tokens: int | None, **given: Any) -> Guide:
    """A guide with this budget."""
    if max_tokens is not None and given.get("min_tokens", 0) > max_tokens:
        # The stop token's room is among the tokens that vLLM wants at least.
        given = {**given, "min_tokens": max_tokens}
    return index.guide(max_tokens=max_tokens, **given)


def _guide(index: Index, max_tokens: int | None, **given: Any) -> Guide:
    return index.guide(**given) if max_tokens is None else guide_within(index, max_tokens, **given)


def _begun(index: Index, max_tokens: int | None, context: list[int], **given: Any) -> Guide:
    """A guide for an output that follows ``context``, whose first token is the one that the tokenizer makes there.

    Where the tokenizer would join the prompt's end and the output's beginning in one token, as after a blank, no token
    is forced at all. Then the output begins as a text of its own.
    """
    guide = _guide(index, max_tokens, context_ids=context, **given)
    if guide.forced_bytes() and not guide.forced_tokens():
        return _guide(index, max_tokens, **given)
    return guide


class Backend:
    """What vLLM calls a structured-output backend. It has the methods of vLLM's ``StructuredOutputBackend``."""

    def __init__(self, vllm_config: Any, tokenizer: Any, vocab_size: int, options: Options, counts: Counts) -> None:
        self.vllm_config, self.tokenizer, self.vocab_size = vllm_config, tokenizer, vocab_size
        self.options, self.counts = options, counts
        self.deadlines = Deadlines(options.deadline)
        self.rows = Rows(counts, options.threads or None)
        interlock.set_index_cache_bytes(options.index_cache_mb << 20)
        interlock.set_mask_cache_bytes(options.mask_cache_mb << 20)
        begin = time.perf_counter()
        self.vocabulary = vocabulary_of(tokenizer, vocab_size, options, counts)
        self._any_object = self._warmed_up()
        self._marks = frozenset(self.vocabulary.special_token_ids) | frozenset(self.vocabulary.eos_token_ids)
        self.drafts: int = getattr(vllm_config, "num_speculative_tokens", 0) or 0
        self.jumps = options.jump_forward and self.drafts > 0
        self.canonical = self.jumps if options.canonical == "auto" else options.canonical == "1"
        # Only for forced tokens.
        self._follows = self.jumps or self.canonical
        self._spell = speller_of(tokenizer, self.vocabulary) if self._follows else None
        logger.info(
            "interlock %s: a vocabulary of %d tokens in %.2f s; jump-forward %s, budgets %s",
            interlock.__version__,
            vocab_size,
            time.perf_counter() - begin,
            "on" if self.jumps else "off",
            "on" if options.budget else "off",
        )

    def _warmed_up(self) -> Index:
        """The index of ``json_object``, which requests find compiled as long as it is held.

        Compiled now, with a first mask: what a process makes once for all sources of a vocabulary, and modules that are
        loaded when they are first used, cost the first request 40 to 100 ms otherwise.
        """
        index = compile_source(Source("json_object", "", self.options.whitespace), self.vocabulary, self.options)
        guide_within(index, 16).fill_bitmask(interlock.allocate_bitmask(1, self.vocab_size))
        return index

    # --- vLLM's methods -------------------------------------------------------------------------------------------

    def compile_grammar(self, request_type: Any, grammar_spec: str, stop_token_ids: set[int] | None = None) -> Grammar:
        """A grammar of what vLLM passes to every backend. It knows neither the budget nor the prompt of its request."""
        kind = str(getattr(request_type, "name", request_type)).lower()
        source = Source(kind, grammar_spec, self.options.whitespace)
        with self.deadlines.new() as deadline:
            index = self._index(source, deadline)
        stops = self._stops(stop_token_ids)
        guide = index.guide(stop_token_ids=stops, canonical_forced=self.canonical)
        return Grammar("", guide, self.rows, stops, canonical=self.canonical, spell=self._spell)

    def allocate_token_bitmask(self, max_num_seqs: int) -> Any:
        """A mask of so many rows that allow everything: an int32 tensor in memory."""
        import torch

        # Made by NumPy so that rows lie at lines of the cache where they can.
        return torch.from_numpy(interlock.allocate_bitmask(max_num_seqs, self.vocab_size))

    def destroy(self) -> None:
        """vLLM shuts down; nothing of the backend needs an end."""

    # --- one request ----------------------------------------------------------------------------------------------

    def create(self, request: Any, reasons: bool) -> Grammar:
        """The grammar of a request of the engine; runs in vLLM's pool. ``reasons`` says that reasoning comes first.

        Errors are `InterlockError`; a compile that takes too long is a ``LimitError``, one that nobody waits for any
        more a ``CancelledError``.
        """
        begin, outcome = time.perf_counter(), "refused"
        deadline = self.deadlines.new()
        request.structured_output_request.interlock_deadline = deadline
        params = request.sampling_params
        try:
            source = source_of(params.structured_outputs, self.options)
            with deadline:
                index = self._index(source, deadline)
            grammar = self._grammar(index, request, params, reasons)
            self.counts.requests.add(1, source.kind)
            outcome = "compiled"
            return grammar
        except InterlockError as error:
            reason = "deadline" if deadline.expired else refusal_reason(error)
            self.counts.refusals.add(1, reason, "engine")
            outcome = "cancelled" if reason == "cancelled" else outcome
            logger.warning("request %s: refused (%s): %s", request.request_id, reason, error)
            raise
        finally:
            self.counts.compile_seconds.observe(time.perf_counter() - begin, outcome)

    def _index(self, source: Source, deadline: Deadline) -> Index:
        try:
            index = compile_source(source, self.vocabulary, self.options, deadline.token)
        except CancelledError:
            if deadline.expired:
                raise LimitError(f"compiling the {source.kind} took longer than {self.options.deadline:g} s") from None
            raise
        if self.options.warm_up_ms > 0:
            index.warm_up(max_ms=self.options.warm_up_ms, background=True)
        return index

    def _grammar(self, index: Index, request: Any, params: Any, reasons: bool) -> Grammar:
        stops = self._stops(params.all_stop_token_ids)
        given: dict[str, Any] = {"stop_token_ids": stops, "canonical_forced": self.canonical}
        total = min(request.max_tokens, self._room_after(request))
        budgeted, late = self.options.budget and not self._only_reads(params), None
        if budgeted and reasons:

            def begin(left: int | None) -> Guide:
                # Without a stop token's room: the grammar tries both.
                context: dict[str, Any] = {"context_ids": self._context(request.all_token_ids)} if self._follows else {}
                return _bounded(index, left, **given, **context)

            late = LateBudget(total, lambda: request.num_output_tokens, begin, 1 + self.drafts)
        within = total if budgeted and not reasons else None
        if not reasons and params.min_tokens:
            # vLLM would forbid stop tokens in its workers, also where nothing else may follow.
            given["min_tokens"], params.min_tokens = params.min_tokens, 0
        if self._follows and not reasons:
            guide = _begun(index, within, self._context(request.prompt_token_ids or ()), **given)
        else:
            guide = _guide(index, within, **given)
        # Here, and not in a step of the engine.
        make_mask(guide)
        return Grammar(
            request.request_id,
            guide,
            self.rows,
            stops,
            endless=bool(params.ignore_eos),
            canonical=self.canonical,
            budget=late,
            spell=self._spell,
        )

    def _only_reads(self, params: Any) -> bool:
        """Whether this engine reads prompts for another one, which writes the output: then `max_tokens` is 1 here."""
        transfer = getattr(self.vllm_config, "kv_transfer_config", None)
        remote = ((getattr(params, "extra_args", None) or {}).get("kv_transfer_params") or {}).get("do_remote_decode")
        return bool(remote) or getattr(transfer, "kv_role", None) == "kv_producer"

    def _room_after(self, request: Any) -> int:
        """How many tokens the model's length leaves."""
        longest: int = self.vllm_config.model_config.max_model_len
        return max(longest - int(request.num_prompt_tokens), 1)

    def _stops(self, stop_token_ids: Iterable[int] | None) -> Sequence[int]:
        given = sorted(i for i in stop_token_ids or () if 0 <= i < self.vocab_size)
        return given or self.vocabulary.eos_token_ids

    def _context(self, ids: Sequence[int]) -> list[int]:
        """The tokens before the output, from the last special one on: how it begins depends on no others."""
        tail: list[int] = []
        for i in reversed(ids):
            if not 0 <= i < self.vocab_size:
                break
            tail.append(i)
            if i in self._marks:
                break
        return tail[::-1]
