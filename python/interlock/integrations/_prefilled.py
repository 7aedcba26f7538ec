"""An index behind a text that stands already: the beginning of the output, which somebody else wrote.

What a constraint needs of an index is a guide, and the guide of this one begins behind that text. So masks, budgets
and forced tokens are those of the whole output, and what is generated is its rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from interlock import ArgumentError, BudgetError, Guide, Index, Vocabulary
from interlock.util.longest_tokens import longest_tokens
from interlock.util.plurals import counted

__all__ = ["PrefilledIndex", "spelled"]


class PrefilledIndex:
    """``index`` behind ``text``, which can begin an output of it; ``prompt_ids`` end with the tokens of ``text``.

    ``ArgumentError`` for a text that begins no output.
    """

    def __init__(self, index: Index, text: str, prompt_ids: Sequence[int]) -> None:
        self.index, self.text = index, text
        self.ids = _ending(prompt_ids, text.encode(), index.vocabulary)
        free = index.guide()
        if free.advance_many(self.ids) < len(self.ids):
            raise ArgumentError(f"{text!r} begins no output of the index")

    @property
    def vocabulary(self) -> Vocabulary:
        """That of the index."""
        return self.index.vocabulary

    @property
    def kind(self) -> str:
        """That of the index."""
        return self.index.kind

    @property
    def source(self) -> str:
        """That of the index."""
        return self.index.source

    def guide(
        self,
        max_tokens: int | None = None,
        stop_token_ids: Iterable[int] | None = None,
        context_ids: Iterable[int] | None = None,
    ) -> Guide:
        """A guide behind the text. ``max_tokens`` is about what follows; ``context_ids`` may end with the text."""
        stop = None if stop_token_ids is None else list(stop_token_ids)
        context, size = list(context_ids or ()), len(self.ids)
        # Where the text begins inside of a token, nothing is said of what stands in front.
        context = context[: len(context) - size] if size and context[-size:] == self.ids else []
        budget = None if max_tokens is None else max_tokens + size
        try:
            guide = self.index.guide(max_tokens=budget, stop_token_ids=stop, context_ids=context)
            fits = guide.advance_many(self.ids) == size
        except BudgetError:
            fits = False
        if fits:
            return guide
        assert max_tokens is not None
        free = self.index.guide(stop_token_ids=stop)
        free.advance_many(self.ids)
        needed = max(free.min_tokens_to_finish(), max_tokens + 1)
        error = BudgetError(
            f"max_tokens is {max_tokens}, but behind {self.text!r} a complete output needs {counted(needed, 'token')}; "
            f"pass max_tokens={needed} or more"
        )
        error.limit, error.value = max_tokens, needed
        raise error


def _ending(prompt_ids: Sequence[int], data: bytes, vocabulary: Vocabulary) -> list[int]:
    """The last tokens of a prompt, which spell ``data``; where it begins inside of one, others that do."""
    size, start = 0, len(prompt_ids)
    while size < len(data) and start:
        start -= 1
        if not 0 <= prompt_ids[start] < vocabulary.size:
            break
        size += len(vocabulary.decode([prompt_ids[start]]))
    ids = [int(token) for token in prompt_ids[start:]]
    if size == len(data) and vocabulary.decode(ids) == data:
        return ids
    return spelled(vocabulary, data)


def spelled(vocabulary: Vocabulary, data: bytes) -> list[int]:
    """Bytes by the longest tokens from the left. ``ArgumentError`` for a byte that no token spells."""
    ids, at = longest_tokens(vocabulary, data)
    if at < len(data):
        raise ArgumentError(f"no token of the vocabulary spells the byte {data[at : at + 1]!r}")
    return ids
