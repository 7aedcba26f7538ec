"""Random walks through a guide: every token is one that its mask allows."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from interlock._core import CancelToken, Guide, Vocabulary, check_regex
from interlock.samples.shortest_way import guide_of_shortest_way

__all__ = ["random_walk"]

_Ids = npt.NDArray[np.int32]

CLOSERS = (b'"', b"}", b"]")
"""What ends a JSON value soonest; a walk that is long enough prefers these, then what opens nothing."""

PATIENCE = 60
"""Tokens that a walk of a grammar looks for the end by itself, before it goes the shortest way there."""


def _go_shortest_way(guide: Guide, most: int) -> None:
    """Advance along the shortest way to the end; nowhere, where no way is known that takes ``most`` tokens in all."""
    ahead = guide_of_shortest_way(guide, most)
    if ahead is None:
        return
    stops = set(guide.index.vocabulary.eos_token_ids)
    while not guide.is_accepting:
        allowed = [token for token in ahead.allowed_token_ids().tolist() if token not in stops]
        if not allowed:
            return
        ahead.advance(allowed[0])
        guide.advance(allowed[0])


class _TokensThat:
    """The tokens whose bytes pass a test, each looked at once in a walk: thousands are allowed at every step."""

    def __init__(self, vocabulary: Vocabulary, test: Callable[[bytes], bool]) -> None:
        self._token_bytes, self._test = vocabulary.token_bytes, test
        self._known = np.full(vocabulary.size, -1, np.int8)

    def among(self, tokens: _Ids) -> npt.NDArray[np.bool_]:
        """Which of these tokens pass."""
        new = tokens[self._known[tokens] < 0]
        self._known[new] = [self._test(self._token_bytes(token)) for token in new.tolist()]
        return np.asarray(self._known[tokens] == 1)


class _Closing:
    """Chooses what brings a walk to its end."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._closers = _TokensThat(vocabulary, lambda token: set(token) <= set(b")]};"))
        self._openers = _TokensThat(vocabulary, lambda token: bool(set(token) & set(b"([{ \t\r\n")))
        self._value_closers = _TokensThat(vocabulary, lambda token: token in CLOSERS)
        self._value_openers = _TokensThat(vocabulary, lambda token: bool(set(token) & set(b"[{ \t\r\n")))

    def of_grammar(self, guide: Guide, rng: random.Random, choice: _Ids) -> _Ids:
        """Of some tokens of a grammar those after which the output may end; else those that close and open nothing."""
        few = choice[rng.sample(range(len(choice)), min(len(choice), 24))]
        ending = []
        for token in few.tolist():
            guide.advance(token)
            if guide.is_accepting:
                ending.append(token)
            guide.rollback(1)
        if ending:
            return np.array(ending)
        closing = choice[self._closers.among(choice)]
        return closing if len(closing) else _others(few, self._openers)

    def of_document(self, choice: _Ids) -> _Ids:
        """Of the tokens of a document those that close a value; else those that open nothing."""
        closing = choice[self._value_closers.among(choice)]
        return closing if len(closing) else _others(choice, self._value_openers)


def _others(tokens: _Ids, openers: _TokensThat) -> _Ids:
    others = tokens[~openers.among(tokens)]
    return others if len(others) else tokens


def random_walk(guide: Guide, rng: random.Random, length: int, most: int, cancel: CancelToken | None = None) -> bool:
    """Advance a fresh guide at random until it has ended; false if that took more than ``most`` tokens.

    After ``length`` tokens the walk goes the shortest way to the end, a little later in a grammar. Where none is known
    it stops where it may, closes what is open, and opens nothing unless it must.
    """
    vocabulary = guide.index.vocabulary
    is_grammar = guide.index.kind == "grammar"
    stops = np.array(vocabulary.eos_token_ids)
    closing = _Closing(vocabulary)
    while not guide.is_terminated:
        if guide.num_tokens >= most:
            return False
        if cancel is not None and cancel.is_cancelled:
            check_regex("", cancel=cancel)  # The core raises the error, which says why.
        if guide.num_tokens == length + (PATIENCE if is_grammar else 0):
            _go_shortest_way(guide, most)
        allowed = guide.allowed_token_ids()
        is_stop = np.isin(allowed, stops)
        ends, choice = allowed[is_stop], allowed[~is_stop]
        late = guide.num_tokens >= length
        if len(ends) and (late or not len(choice) or rng.random() < 0.1):
            guide.advance(int(ends[0]))
            continue
        if late:
            choice = closing.of_grammar(guide, rng, choice) if is_grammar else closing.of_document(choice)
        guide.advance(int(choice[rng.randrange(len(choice))]))
    return True
