"""The masks of a whole step, filled in one native call.

vLLM asks each request's grammar for its rows, one after the other. Here a grammar only notes that it owes a row; all
rows that are owed are written together, at the end of vLLM's own loop or before a grammar moves.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from interlock import fill_bitmasks
from interlock.integrations.server_counts import Counts
from interlock.integrations.vllm.grammar import Bits, Grammar

__all__ = ["Rows"]


class Rows:
    """The rows of one engine's mask that are still to be written."""

    def __init__(self, metrics: Counts, threads: int | None = None) -> None:
        self.metrics = metrics
        self._threads = threads
        self._lock = threading.Lock()
        self._owed: list[tuple[Grammar, int]] = []
        self._tensor: Any = None
        self._bits: Bits = np.empty((0, 0), dtype=np.int32)
        self.is_collecting = False

    def collect(self) -> None:
        """From now on rows are noted, and not written at once."""
        self.is_collecting = True

    def finish(self) -> None:
        """Write what is owed; from now on rows are written at once."""
        try:
            self.write()
        finally:
            self.is_collecting = False
            self._owed.clear()

    def add(self, grammar: Grammar, bitmask: Any, row: int) -> None:
        """Owe one row. vLLM asks for those of large batches from several threads."""
        with self._lock:
            if bitmask is not self._tensor:
                self.write()
                self.view(bitmask)
            self._owed.append((grammar, row))
            if not self.is_collecting:
                self.write()

    def write(self) -> None:
        """Write the rows that are owed."""
        if self._owed:
            owed, self._owed = self._owed, []
            self.fill([grammar for grammar, _ in owed], self._bits, [row for _, row in owed])

    def fill(self, grammars: Sequence[Grammar], bits: Bits, rows: list[int] | None = None) -> None:
        """Write one row for each grammar. Without ``rows`` these are the first rows, in order."""
        begin = time.perf_counter()
        guides, others = [], []
        for at, grammar in enumerate(grammars):
            if grammar.is_late:
                grammar.settle()
            guides.append(grammar.guide)
            if not grammar.is_plain:
                others.append((grammar, at if rows is None else rows[at]))
        if len(guides) == 1:
            guides[0].fill_bitmask(bits, 0 if rows is None else rows[0])
        else:
            fill_bitmasks(guides, bits, rows, self._threads)
        for grammar, row in others:
            grammar.refine(bits[row].view(np.uint32))
        self.metrics.fill_seconds.observe(time.perf_counter() - begin)
        self.metrics.rows.add(len(guides))

    def view(self, bitmask: Any) -> Bits:
        """The memory of a mask as an array, which is made once for each tensor."""
        if bitmask is not self._tensor:
            self._bits = bitmask if isinstance(bitmask, np.ndarray) else bitmask.numpy()
            self._tensor = bitmask
        return self._bits
