"""Bytes as tokens without a tokenizer: the longest token that fits, from the left."""

from __future__ import annotations

from functools import lru_cache

from interlock._core import Vocabulary

__all__ = ["longest_tokens", "tokens_by_bytes"]


@lru_cache(maxsize=2)
def tokens_by_bytes(vocabulary: Vocabulary) -> dict[bytes, int]:
    """The token of each spelling; special and stop tokens left out, and those that spell nothing. Costs some tenths of
    a second for a large vocabulary, and is kept for the last two.
    """
    silent = {*vocabulary.special_token_ids, *vocabulary.eos_token_ids}
    found: dict[bytes, int] = {}
    for i in range(vocabulary.size):
        spelling = b"" if i in silent else vocabulary.token_bytes(i)
        if spelling:
            found.setdefault(spelling, i)
    return found


def longest_tokens(vocabulary: Vocabulary, data: bytes) -> tuple[list[int], int]:
    """Tokens that spell ``data``, and how many bytes they spell: fewer than all where no token goes on."""
    known, longest = tokens_by_bytes(vocabulary), _longest(vocabulary)
    ids: list[int] = []
    at = 0
    while at < len(data):
        sizes = range(min(longest, len(data) - at), 0, -1)
        size = next((n for n in sizes if data[at : at + n] in known), 0)
        if not size:
            break
        ids.append(known[data[at : at + size]])
        at += size
    return ids, at


@lru_cache(maxsize=2)
def _longest(vocabulary: Vocabulary) -> int:
    return max(map(len, tokens_by_bytes(vocabulary)), default=0)
