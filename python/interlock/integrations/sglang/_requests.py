"""What a request asks of its output beside the source, brought to its grammar.

SGLang gives a backend the source alone. Here the two methods of ``GrammarManager`` in which a request gets its grammar
are wrapped, once in a process and only where this backend was chosen, and the request's terms are bound to it:

* ``max_new_tokens``: the output is complete within it. One token is kept for the stop token where that is possible, so
  that the finish reason is "stop". A request whose every output is longer is refused with 400.
* ``min_new_tokens``: SGLang forbids stop tokens until then, and where nothing else may follow no token is left, which
  ends the request with 500. Here the mask holds them back, except there: an output that can be no longer ends.
* ``stop_token_ids``: tokens without text end the output only where it is complete. Those that spell text stay text, and
  end the output wherever the model writes them, as stop strings do.
* The end of the prompt, for forced tokens.
"""

from __future__ import annotations

import functools
import itertools
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from interlock import BudgetError, Vocabulary
from interlock.integrations.server_counts import counts
from interlock.integrations.sglang._grammar import InterlockGrammar, Terms
from interlock.integrations.sglang._options import Options
from interlock.util.plurals import counted

__all__ = ["bind", "terms_of", "watch_requests"]

_LOG = logging.getLogger(__name__)

CONTEXT_TOKENS = 512
"""How far back a special token is looked for in the prompt."""

_MARK = "_interlock_watched"


def watch_requests(options: Options) -> None:
    """Wrap ``GrammarManager``. Where it has not the methods that are wrapped, requests keep the server's own terms."""
    from sglang.srt.constrained.grammar_manager import GrammarManager

    if getattr(GrammarManager, _MARK, False):
        return
    one: Callable[..., Any] | None = getattr(GrammarManager, "process_req_with_grammar", None)
    many: Callable[..., Any] | None = getattr(GrammarManager, "get_ready_grammar_requests", None)
    if one is None or many is None:
        _LOG.warning("this SGLang's GrammarManager is another one: max_new_tokens is no budget of constrained outputs")
        return

    @functools.wraps(one)
    def process_req_with_grammar(self: Any, req: Any) -> Any:
        waits = one(self, req)
        if not waits:
            _bind_safely(req, options)
        return waits

    @functools.wraps(many)
    def get_ready_grammar_requests(self: Any) -> Any:
        ready = many(self)
        for req in ready:
            _bind_safely(req, options)
        return ready

    GrammarManager.process_req_with_grammar = process_req_with_grammar
    GrammarManager.get_ready_grammar_requests = get_ready_grammar_requests
    setattr(GrammarManager, _MARK, True)


def _bind_safely(req: Any, options: Options) -> None:
    """An exception in the scheduler's loop would end the server, so one that is not foreseen refuses the request."""
    try:
        bind(req, options)
    except Exception as error:
        _LOG.exception("the terms of request %s could not be bound", getattr(req, "rid", "?"))
        req.set_finish_with_abort(f"{type(error).__name__}: {error}")


def bind(req: Any, options: Options) -> None:
    """Give the grammar of a request its terms, or refuse the request."""
    grammar = req.grammar
    after_reasoning = getattr(grammar, "begin_after_reasoning", None)
    inner = grammar.grammar if after_reasoning is not None else grammar
    if not isinstance(inner, InterlockGrammar):
        return
    counts().requests.add(1, inner.kind)
    terms = terms_of(req, inner.index.vocabulary, options)
    if after_reasoning is not None:
        after_reasoning(terms)
        if not grammar._is_generation():
            return
    if terms.max_tokens is None:
        inner.begin(terms)
        counts().budgets.add(1, "none")
    elif not _begin_within(inner, terms):
        counts().budgets.add(1, "refused")
        counts().refusals.add(1, "budget", "engine")
        req.set_finish_with_abort(f"BudgetError: max_new_tokens is {terms.max_tokens + 1}, {_needed(inner, terms)}")
        return
    if terms.min_tokens:
        # The mask holds stop tokens back from here on.
        req.sampling_params.min_new_tokens = 0


def _begin_within(grammar: InterlockGrammar, terms: Terms) -> bool:
    """Begin with a budget, without room for a stop token if there is none; whether any output is short enough."""
    assert terms.max_tokens is not None
    for budget, outcome in ((terms.max_tokens, "kept"), (terms.max_tokens + 1, "kept_without_stop")):
        try:
            if budget > 0:
                grammar.begin(replace(terms, max_tokens=budget))
                counts().budgets.add(1, outcome)
                return True
        except BudgetError:
            continue
    return False


def _needed(grammar: InterlockGrammar, terms: Terms) -> str:
    try:
        replace(terms, max_tokens=1).guide(grammar.index)
    except BudgetError as error:
        if error.value is not None:
            return f"but a complete output needs {counted(error.value, 'token')}"
    return "and no complete output is known that is short enough to be counted"


def terms_of(req: Any, vocabulary: Vocabulary, options: Options) -> Terms:
    """What a request asks of its output."""
    asked = req.sampling_params
    most = getattr(asked, "max_new_tokens", None)
    stops = [int(i) for i in getattr(asked, "stop_token_ids", None) or () if 0 <= int(i) < vocabulary.size]
    special = _silent_ids(vocabulary)
    silent = [i for i in stops if i in special or not vocabulary.token_bytes(i)]
    ends = sorted({*vocabulary.eos_token_ids, *silent})
    # One less, for the stop token.
    return Terms(
        max_tokens=most - 1 if options.budget and most is not None and most > 0 else None,
        min_tokens=int(getattr(asked, "min_new_tokens", 0) or 0),
        stop_token_ids=tuple(ends) if silent else None,
        held_back_ids=tuple(sorted({*ends, *stops})),
        context_ids=_context(req, vocabulary, special),
    )


@functools.lru_cache(maxsize=4)
def _silent_ids(vocabulary: Vocabulary) -> frozenset[int]:
    """The special and stop ids of a vocabulary."""
    return frozenset(vocabulary.special_token_ids) | frozenset(vocabulary.eos_token_ids)


def _context(req: Any, vocabulary: Vocabulary, special: frozenset[int]) -> tuple[int, ...] | None:
    """The prompt from its last special token on; ``None`` if there is none near its end."""
    prompt = getattr(req, "origin_input_ids", None)
    if not prompt:
        return None
    end = [int(i) for i in prompt[-CONTEXT_TOKENS:]]
    after = list(itertools.takewhile(lambda i: i not in special, reversed(end)))
    # Placeholders of images have ids of their own.
    if len(after) == len(end) or any(not 0 <= i < vocabulary.size for i in end):
        return None
    return tuple(end[len(end) - len(after) - 1 :])
