"""Free text until the reasoning ends, and the grammar from there on.

SGLang wraps its own backends for ``--reasoning-parser``, and leaves registered ones as they are; so this one wraps
itself. Beside SGLang's wrapper, rows whose reasoning has ended are filled together in one native call, and the
request's terms begin to hold where the grammar does: of ``max_new_tokens`` the reasoning has used up a part.
"""

from __future__ import annotations

import dataclasses
import logging
from typing import Any

from sglang.srt.constrained.base_grammar_backend import BaseGrammarObject, GrammarRow
from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend, ReasonerGrammarObject

from interlock import BudgetError
from interlock.integrations.server_counts import counts
from interlock.integrations.sglang._compiling import CompilePool
from interlock.integrations.sglang._grammar import InterlockGrammar, Terms, fill_entries
from interlock.integrations.sglang._grammar_cache import GrammarCache, Key
from interlock.integrations.sglang._grammar_cache_mixin import KeepsGrammars

__all__ = ["InterlockReasonerBackend", "InterlockReasonerGrammar"]

_LOG = logging.getLogger(__name__)


class InterlockReasonerGrammar(ReasonerGrammarObject):  # type: ignore[misc, unused-ignore]
    """A grammar that waits for the end of the reasoning."""

    _terms: Terms | None = None

    def begin_after_reasoning(self, terms: Terms) -> None:
        """Let ``terms`` hold from where the reasoning ends; its tokens count against ``max_tokens``."""
        self._terms = terms

    def deciding_grammar(self) -> BaseGrammarObject | None:
        """The grammar inside where it alone decides about the next token; ``None`` while reasoning may go on."""
        return self.grammar if self._is_generation() and not self.reasoning_in_grammar else None

    def transfer_state(self, token: int) -> None:
        """Follow one token; with the one that ends the reasoning, the terms of the request begin to hold."""
        reasoned = self._is_thinking()
        super().transfer_state(token)
        if reasoned and self._is_generation() and self._terms is not None:
            self._begin(self._terms)

    def _begin(self, terms: Terms) -> None:
        grammar = self.grammar
        if not isinstance(grammar, InterlockGrammar) or self.reasoning_in_grammar:
            return
        # A newer SGLang may count otherwise; then the output may be cut, as it is without a budget.
        spent = len(getattr(self, "_thinking_match_history", ()))
        left = None if terms.max_tokens is None else terms.max_tokens - spent
        # Held back from the request's first token on, by the server.
        terms = dataclasses.replace(terms, min_tokens=0, context_ids=None)
        for budget in (left, None if left is None else left + 1):
            try:
                if budget is None or budget > 0:
                    grammar.begin(dataclasses.replace(terms, max_tokens=budget))
                    counts().budgets.add(1, "kept" if budget is not None else "none")
                    return
            except BudgetError:
                continue
        # Nothing whole is left to say. The server cuts the output, as it does without a budget.
        counts().budgets.add(1, "spent_by_reasoning")
        grammar.begin(dataclasses.replace(terms, max_tokens=None))

    @staticmethod
    def fill_vocab_mask_batched(entries: list[GrammarRow], vocab_mask: Any) -> None:
        """Fill the rows of a batch, those of grammars at work in one native call."""
        fill_entries(entries, vocab_mask)

    def copy(self) -> InterlockReasonerGrammar:
        """A second grammar in the same state."""
        made: Any = super().copy()
        made.__class__ = InterlockReasonerGrammar
        made._terms = self._terms
        again: InterlockReasonerGrammar = made
        return again


class InterlockReasonerBackend(KeepsGrammars, ReasonerGrammarBackend):  # type: ignore[misc, unused-ignore]
    """SGLang's wrapper with grammars of the kind above, and the pool and bounded cache of the backend inside."""

    def __init__(self, backend: Any, reasoning_parser: Any, tokenizer: Any, enable_strict_thinking: bool) -> None:
        super().__init__(backend, reasoning_parser, tokenizer, enable_strict_thinking=enable_strict_thinking)
        self.executor: CompilePool = backend.executor
        self.cache: GrammarCache = GrammarCache(backend.options.cache_entries)

    def _make_grammar_object(self, grammar: BaseGrammarObject | None, reasoning: bool) -> InterlockReasonerGrammar:
        made: Any = super()._make_grammar_object(grammar, reasoning)
        made.__class__ = InterlockReasonerGrammar
        again: InterlockReasonerGrammar = made
        return again

    def kind_of(self, key: Key) -> str:
        """The kind of a source; its key may also name a variant of the frame around it."""
        return key[0].partition(":")[0]
