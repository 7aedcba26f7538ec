"""The rows of one generation, moved together.

Nearly all rows of a batch follow a guide at nearly all steps, and a step of a batch must not cost Python's time for
each of them. So the rows that *run*, which follow a guide that has not ended, take their tokens in one call. What
they took is written into the rows themselves only when somebody asks for these. All other rows, which are free, over or
refused, take their tokens one by one.
"""

from __future__ import annotations

from collections.abc import Sequence

from interlock import Guide, advance_each
from interlock.integrations._row import Row

__all__ = ["Batch"]

_TAKEN = b"\x01"


class Batch:
    """Rows in the order of the logits."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = list(rows)
        self._late: list[list[int]] = []
        #: Words of the widest mask, and the least width of the logits.
        self.words = max((row.words for row in rows), default=0)
        self.width = max((row.tokens_of_vocabulary for row in rows), default=0)
        self._sort()

    def _sort(self) -> None:
        """Find the rows that run."""
        self.running: list[int] = []
        self.guides: list[Guide] = []
        self.others: list[tuple[int, Row]] = []
        for i, row in enumerate(self._rows):
            if row.guide is not None and row.special() is None:
                self.running.append(i)
                self.guides.append(row.guide)
            else:
                self.others.append((i, row))
        self._all_taken = _TAKEN * len(self.running)

    def rows(self) -> list[Row]:
        """The rows, with all of their tokens."""
        if self._late:
            for i in self.running:
                self._rows[i].take([tokens[i] for tokens in self._late])
            self._late.clear()
        return self._rows

    def stop_of(self, row: int) -> frozenset[int]:
        """The stop tokens of one row."""
        return self._rows[row].stop

    def advance(self, tokens: list[int]) -> None:
        """Take one token on every row, whatever it is."""
        changed = False
        if self.running:
            own = tokens if not self.others else [tokens[i] for i in self.running]
            answers = advance_each(self.guides, own)
            if answers == self._all_taken:
                self._late.append(tokens)
            else:
                changed = True
                rows = self.rows()
                for i, answer in zip(self.running, answers, strict=True):
                    if answer:
                        rows[i].take([tokens[i]])
                    else:
                        rows[i].tokens.append(tokens[i])
        for i, row in self.others:
            guide = row.guide
            row.advance(tokens[i])
            changed = changed or row.guide is not guide
        if changed:
            self.rows()
            self._sort()
