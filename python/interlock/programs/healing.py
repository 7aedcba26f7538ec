"""Token healing: the last token of fixed text is taken back where a longer token may have been meant.

A model that is to go on behind ``"The year is "`` has seen the blank and the first digits as one token in most of its
training text. So the last token before a generated part is taken back, and the model chooses among that token and all
longer ones that begin with the same bytes and go on as the constraint permits.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from interlock._core import Guide, Vocabulary
from interlock.util.longest_tokens import tokens_by_bytes

__all__ = ["Healing", "LongerTokens"]

# So many spellings that are no tokens themselves are tried at one seam.
_TRIED = 4096


@dataclass
class Healing:
    """The choice at a seam: which tokens may take the last one's place, and what each of them adds."""

    allowed: npt.NDArray[np.bool_]
    """By token id: the last token itself, and all longer ones."""
    added: dict[int, list[int]]
    """The tokens that a guide takes for what a longer token adds."""


class LongerTokens:
    """The tokens of a vocabulary by their bytes."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._by_bytes = tokens_by_bytes(vocabulary)
        self._sorted = sorted(self._by_bytes)

    def behind(self, token: int) -> list[tuple[int, bytes]]:
        """Tokens that begin with the bytes of ``token``, and what each of them adds."""
        head = self._vocabulary.token_bytes(token)
        if not head:
            return []
        found: list[tuple[int, bytes]] = []
        for i in range(bisect_left(self._sorted, head), len(self._sorted)):
            spelling = self._sorted[i]
            if not spelling.startswith(head):
                break
            if len(spelling) > len(head):
                found.append((self._by_bytes[spelling], spelling[len(head) :]))
        return found

    def healing(self, token: int, guide: Guide) -> Healing | None:
        """The choice behind fixed text that ends with ``token``; ``None`` where no longer token is permitted."""
        candidates = self.behind(token)
        if not candidates:
            return None
        allowed = np.zeros(self._vocabulary.size, dtype=np.bool_)
        now = np.zeros(self._vocabulary.size, dtype=np.bool_)
        now[guide.allowed_token_ids()] = True
        added: dict[int, list[int]] = {}
        tried = 0
        for longer, rest in candidates:
            first = self._by_bytes.get(rest[:1])
            if first is not None and not now[first]:
                continue
            whole = self._by_bytes.get(rest)
            if whole is not None:
                if now[whole]:
                    added[longer] = [whole]
                continue
            pieces = [self._by_bytes.get(rest[i : i + 1]) for i in range(len(rest))]
            spelled = [piece for piece in pieces if piece is not None]
            tried += 1
            if tried <= _TRIED and len(spelled) == len(rest) and guide.validate(spelled) == len(spelled):
                added[longer] = spelled
        if not added:
            return None
        allowed[list(added)] = True
        allowed[token] = True
        return Healing(allowed, added)
