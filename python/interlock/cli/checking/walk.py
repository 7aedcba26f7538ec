"""Text through a guide: how a vocabulary spells bytes, and which bytes may come next."""

from __future__ import annotations

from collections.abc import Callable

import interlock
from interlock.cli.terminal.output import byte_name
from interlock.util.longest_tokens import longest_tokens, tokens_by_bytes


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
        self._vocabulary = vocabulary
        ids = tokens_by_bytes(vocabulary)
        self._single = {token[0]: i for token, i in ids.items() if len(token) == 1}
        self._are_bytes = len(ids) == len(self._single) == 256

    def spell(self, data: bytes) -> list[int]:
        """The ids of ``data``; raises ``VocabularyError`` where no token fits."""
        if self._are_bytes:
            return [self._single[byte] for byte in data]
        ids, at = longest_tokens(self._vocabulary, data)
        if at < len(data):
            name = byte_name(data[at])
            said = f"0x{data[at]:02x}" + ("" if name.startswith("\\x") else f", {name}")
            raise interlock.VocabularyError(f"no token spells byte {at} of the text ({said})")
        return ids
