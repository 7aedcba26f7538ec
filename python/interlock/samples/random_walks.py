"""Random walks through a guide: every token is one that its mask allows."""

from __future__ import annotations

import random

from interlock._core import CancelToken, Guide, InterlockError, check_regex

__all__ = ["random_walk"]

CLOSERS = (b'"', b"}", b"]")
"""What ends a JSON value soonest; a walk that is long enough prefers these, then what opens nothing."""

PATIENCE = 60
"""Tokens that a walk of a grammar looks for the end by itself, before it goes the shortest way there."""


def _go_shortest_way(guide: Guide, most: int) -> None:
    """Advance along the shortest way to the end; nowhere, where no way is known that takes ``most`` tokens in all."""
    try:
        whole = guide.num_tokens + guide.min_tokens_to_finish()
        if whole > most:
            return
        ahead = guide.index.guide(max_tokens=whole)
    except InterlockError:
        return
    stops = set(guide.index.vocabulary.eos_token_ids)
    ahead.advance_many(guide.tokens)
    while not guide.is_accepting:
        allowed = [token for token in ahead.allowed_token_ids().tolist() if token not in stops]
        if not allowed:
            return
        ahead.advance(allowed[0])
        guide.advance(allowed[0])


def _towards_the_end(guide: Guide, rng: random.Random, choice: list[int]) -> list[int]:
    """Of some tokens of a grammar those after which the output may end; else those that close and open nothing."""
    few = rng.sample(choice, min(len(choice), 24))
    ending = []
    for token in few:
        guide.advance(token)
        if guide.is_accepting:
            ending.append(token)
        guide.rollback(1)
    token_bytes = guide.index.vocabulary.token_bytes
    closing = [i for i in choice if set(token_bytes(i)) <= set(b")]};")]
    return ending or closing or [i for i in few if not set(token_bytes(i)) & set(b"([{ \t\r\n")] or few


def random_walk(guide: Guide, rng: random.Random, length: int, most: int, cancel: CancelToken | None = None) -> bool:
    """Advance a fresh guide at random until it has ended; false if that took more than ``most`` tokens.

    After ``length`` tokens the walk looks for the end: it stops where it may, closes what is open, and opens nothing
    unless it must.
    """
    vocabulary = guide.index.vocabulary
    is_grammar = guide.index.kind == "grammar"
    stops = set(vocabulary.eos_token_ids)
    while not guide.is_terminated:
        if guide.num_tokens >= most:
            return False
        if cancel is not None and cancel.is_cancelled:
            check_regex("", cancel=cancel)  # The core raises the error, which says why.
        if is_grammar and guide.num_tokens == length + PATIENCE:
            _go_shortest_way(guide, most)
        allowed = guide.allowed_token_ids().tolist()
        ends = [i for i in allowed if i in stops]
        late = guide.num_tokens >= length
        if ends and (late or len(ends) == len(allowed) or rng.random() < 0.1):
            guide.advance(ends[0])
            continue
        choice = [i for i in allowed if i not in stops]
        if late and is_grammar:
            choice = _towards_the_end(guide, rng, choice)
        elif late:
            tokens = [(i, vocabulary.token_bytes(i)) for i in choice]
            closing = [i for i, token in tokens if token in CLOSERS]
            choice = closing or [i for i, token in tokens if not set(token) & set(b"[{ \t\r\n")] or choice
        guide.advance(rng.choice(choice))
    return True
