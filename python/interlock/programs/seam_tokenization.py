"""The tokens of a program and what they spell, with seams between fixed and generated text.

A tokenizer spells a text as a whole: at a seam two pieces often make tokens that neither has alone. So fixed text that
follows generated text is encoded together with it, and the tokens in front of the seam are kept wherever they stay the
same. The other seam, where generated text follows fixed text, is healed while generating (``healing``).
"""

from __future__ import annotations

from collections.abc import Sequence

from interlock.programs.cached_model import CachedModel, common_length
from interlock.util.longest_tokens import longest_tokens

__all__ = ["Transcript"]

# So many tokens in front of a seam may be spelled anew.
_SEAM = 8


class Transcript:
    """Ids that grow. ``ids[start:]`` spell the program's text; in front of them stand the tokens of its prompt."""

    def __init__(self, model: CachedModel, prompt_ids: Sequence[int]) -> None:
        self._model = model
        self.ids = list(prompt_ids)
        self.start = len(self.ids)

    def fork(self) -> Transcript:
        """A second transcript with the same ids."""
        other = Transcript(self._model, self.ids)
        other.start = self.start
        return other

    @property
    def data(self) -> bytes:
        """The bytes of the program's text."""
        return self._model.vocabulary.decode(self.ids[self.start :])

    def append(self, text: str) -> None:
        """Write fixed text."""
        if text:
            self.ids = self.spelled_with(text.encode())

    def spelled_with(self, new: bytes) -> list[int]:
        """The ids of the transcript with ``new`` behind it; tokens before the seam may be others."""
        region = self.ids[self.start :]
        decode = self._model.vocabulary.decode
        whole = decode(region) + new
        try:
            made = self._model.encode(whole.decode())
            if decode(made) == whole and common_length(made, region) >= len(region) - _SEAM:
                return self.ids[: self.start] + made
            return self.ids + self._encoded(new.decode())
        except UnicodeDecodeError:
            return self.ids + self.spell(new)

    def _encoded(self, text: str) -> list[int]:
        """A text by itself, in the middle of a line: some tokenizers begin every text with a blank."""
        data, decode = text.encode(), self._model.vocabulary.decode
        made = self._model.encode(text)
        if decode(made) == data:
            return made
        front = self._model.encode("\n")
        made = self._model.encode("\n" + text)
        if made[: len(front)] == front and decode(made[len(front) :]) == data:
            return made[len(front) :]
        return self.spell(data)

    def cut(self, length: int) -> None:
        """Go back to the first ``length`` bytes of the text. A token that lies across the end is spelled anew."""
        data = self.data
        if len(data) <= length:
            return
        kept, size = self.start, 0
        for i in range(self.start, len(self.ids)):
            size += len(self._model.vocabulary.decode([self.ids[i]]))
            if size > length:
                break
            kept = i + 1
        del self.ids[kept:]
        rest = data[len(self.data) : length]
        if rest:
            self.ids = self.spelled_with(rest)

    def spell(self, data: bytes) -> list[int]:
        """Bytes by the longest tokens from the left, for what the tokenizer cannot encode by itself."""
        return longest_tokens(self._model.vocabulary, data)[0]
