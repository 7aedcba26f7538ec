"""The tokens that come next in a row whatever the model says.

Exact ones come from the guide, which has to know how the tokenizer encodes. Where it does not, ``ForcedRuns`` takes the
bytes that are forced and has the tokenizer itself spell them: these tokens are permitted, and what they spell is
certain, but another spelling of it might have been the tokenizer's choice in the whole text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from interlock.integrations._row import Row

__all__ = ["ForcedRuns", "forced_run"]


def forced_run(row: Row) -> list[int]:
    """Tokens that come next whatever the model says: a forced run, or the only token that is allowed."""
    guide = row.guide
    if guide is None or row.over or row.refused:
        return []
    run = guide.forced_tokens()
    if run:
        return run
    allowed = guide.allowed_token_ids()
    return [int(allowed[0])] if len(allowed) == 1 else []


class ForcedRuns:
    """Forced runs along one row, spelled once.

    ``spell`` is the tokenizer's way from bytes to ids, without special tokens in front or behind. A run ends before the
    first of its tokens that is in ``avoid``.
    """

    def __init__(
        self, spell: Callable[[bytes], Sequence[int]] | None = None, avoid: Collection[int] = frozenset()
    ) -> None:
        self._spell, self._avoid = spell, avoid
        # Whose run it is, and behind which of its tokens. Another row may stand elsewhere behind the same tokens.
        self._row: Row | None = None
        self._before: list[int] = []
        self._run: list[int] = []

    def following(self, row: Row) -> list[int]:
        """The tokens that come next in ``row``, one run of them; empty where nothing is forced.

        A run that has begun is continued: its rest, spelled by itself, might be other tokens.
        """
        start = len(self._before)
        done = len(row.tokens) - start
        if row is self._row and 0 <= done < len(self._run) and row.tokens == self._before + self._run[:done]:
            return self._run[done:]
        self._row, self._before = row, list(row.tokens)
        self._run = self._kept(forced_run(row)) or self._kept(self._spelled(row))
        return self._run

    def ahead(self, row: Row, limit: int) -> list[int]:
        """All tokens that come next, run after run, at most ``limit`` and no stop token. The row stays where it is."""
        length = len(row.tokens)
        found: list[int] = []
        while len(found) < limit:
            run = [token for token in self.following(row) if token not in row.stop][: limit - len(found)]
            if not run:
                break
            for token in run:
                row.advance(token)
            found += run
        row.cut(length)
        self._row, self._before, self._run = row, list(row.tokens), found
        return list(found)

    def _kept(self, run: list[int]) -> list[int]:
        avoided = (i for i, token in enumerate(run) if token in self._avoid)
        return run[: next(avoided, len(run))]

    def _spelled(self, row: Row) -> list[int]:
        """The forced bytes as the tokenizer spells them. The last token is left out: what follows might join it."""
        guide = row.guide
        if self._spell is None or guide is None or row.over or row.refused:
            return []
        text = guide.forced_bytes()
        if len(text) < 2:
            return []
        ids = list(self._spell(text))[:-1]
        return ids[: guide.validate(ids)]
