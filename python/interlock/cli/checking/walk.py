"""Text through a guide: how a vocabulary spells bytes, and which bytes may come next."""

from __future__ import annotations

from collections.abc import Callable

import interlock
from interlock.cli.terminal.output import byte_name


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
                name = byte_name(data[at])
                said = f"0x{data[at]:02x}" + ("" if name.startswith("\\x") else f", {name}")
                raise interlock.VocabularyError(f"no token spells byte {at} of the text ({said})")
        return ids
