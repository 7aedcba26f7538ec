"""Text through a guide: how a vocabulary spells bytes, which bytes may come next, and random walks."""

from __future__ import annotations

import random
from collections.abc import Callable

import interlock


def next_bytes(guide: interlock.Guide) -> list[int]:
    """The first bytes of the tokens that are allowed now, ascending."""
    vocabulary = guide.index.vocabulary
    is_text = spells(vocabulary)
    ids = [i for i in guide.allowed_token_ids().tolist() if is_text(i)]
    return sorted({token[0] for i in ids if (token := vocabulary.token_bytes(i))})


def spells(vocabulary: interlock.Vocabulary) -> Callable[[int], bool]:
    """Whether a token spells text: it is neither special nor a stop token."""
    silent = {*vocabulary.special_token_ids, *vocabulary.eos_token_ids}
    return lambda i: i not in silent


class Speller:
    """Ids for text: always the longest token that fits.

    A model's tokenizer may cut elsewhere. Masks speak of bytes, so where a document is refused does not depend on it.
    """

    def __init__(self, vocabulary: interlock.Vocabulary) -> None:
        is_text = spells(vocabulary)
        self.ids: dict[bytes, int] = {}
        for i in range(vocabulary.size):
            if (token := vocabulary.token_bytes(i)) and is_text(i):
                self.ids.setdefault(token, i)
        self.longest = max(map(len, self.ids), default=0)
        self.single = {token[0]: i for token, i in self.ids.items() if len(token) == 1}

    def spell(self, data: bytes) -> list[int]:
        """The ids of ``data``; raises ``VocabularyError`` where no token fits."""
        if self.longest == 1 and len(self.ids) == 256:
            return [self.single[byte] for byte in data]
        ids, at = [], 0
        while at < len(data):
            for length in range(min(self.longest, len(data) - at), 0, -1):
                if (found := self.ids.get(data[at : at + length])) is not None:
                    ids.append(found)
                    at += length
                    break
            else:
                raise interlock.VocabularyError(f"no token spells byte {at} of the text (0x{data[at]:02x})")
        return ids


CLOSERS = (b'"', b"}", b"]")
"""What ends a JSON value soonest; a walk that is long enough prefers these, then what opens nothing."""


def _towards_the_end(guide: interlock.Guide, rng: random.Random, choice: list[int]) -> list[int]:
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


def random_walk(guide: interlock.Guide, rng: random.Random, length: int, most: int) -> bool:
    """Advance a fresh guide at random until it has ended; false if that took more than ``most`` tokens.

    After ``length`` tokens the walk looks for the end: it stops where it may, closes what is open, and opens nothing
    unless it must.
    """
    vocabulary = guide.index.vocabulary
    stops = set(vocabulary.eos_token_ids)
    while not guide.is_terminated:
        if guide.num_tokens >= most:
            return False
        allowed = guide.allowed_token_ids().tolist()
        ends = [i for i in allowed if i in stops]
        late = guide.num_tokens >= length
        if ends and (late or len(ends) == len(allowed) or rng.random() < 0.1):
            guide.advance(ends[0])
            continue
        choice = [i for i in allowed if i not in stops]
        if late and guide.index.kind == "grammar":
            choice = _towards_the_end(guide, rng, choice)
        elif late:
            tokens = [(i, vocabulary.token_bytes(i)) for i in choice]
            closing = [i for i, token in tokens if token in CLOSERS]
            choice = closing or [i for i, token in tokens if not set(token) & set(b"[{ \t\r\n")] or choice
        guide.advance(rng.choice(choice))
    return True
