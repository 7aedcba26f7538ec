"""The masks of a whole step, filled in one native call.

vLLM asks each request's grammar for its rows, one after the other. Here a grammar only notes that it owes a row; all
rows that are owed are written together, at the end of vLLM's own loop or before a grammar moves.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from interlock import fill_bitmasks
from interlock.integrations._failed_guides import GUIDE_FAILURES, fill_all_but_failed
from interlock.integrations.metrics import NOTED
from interlock.integrations.server_counts import Counts
from interlock.integrations.vllm.grammar import Bits, Grammar

__all__ = ["Filler", "Rows"]

Filler = Callable[[Mapping[str, Any], Sequence[str]], Bits]
"""Writes one row for each of the requests with these ids, and gives these rows."""


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
            if grammar.failure is not None:
                return self._fill_sound(grammars, bits, rows)
            if grammar.is_late:
                grammar.settle()
            guides.append(grammar.guide)
            if not grammar.is_plain:
                others.append((grammar, at if rows is None else rows[at]))
        try:
            if len(guides) == 1:
                guides[0].fill_bitmask(bits, 0 if rows is None else rows[0])
            else:
                fill_bitmasks(guides, bits, rows, self._threads)
        except GUIDE_FAILURES:
            self._note_failures(grammars, bits, rows)
            return self._fill_sound(grammars, bits, rows)
        for grammar, row in others:
            grammar.refine(bits[row].view(np.uint32))
        self.metrics.fill_seconds.note(time.perf_counter() - begin)
        self.metrics.rows.note(len(guides))

    def _note_failures(self, grammars: Sequence[Grammar], bits: Bits, rows: list[int] | None) -> None:
        guides = [grammar.guide for grammar in grammars]
        for at, error in fill_all_but_failed(guides, bits, rows, self._threads).items():
            grammars[at].fail(error)

    def _fill_sound(self, grammars: Sequence[Grammar], bits: Bits, rows: list[int] | None) -> None:
        """Write the rows of a batch in which a grammar has failed: its own rows allow everything."""
        numbers = list(range(len(grammars))) if rows is None else rows
        sound: list[Grammar] = []
        theirs: list[int] = []
        for grammar, row in zip(grammars, numbers, strict=True):
            if grammar.failure is None:
                sound.append(grammar)
                theirs.append(row)
            else:
                bits[row] = -1
        if sound:
            self.fill(sound, bits, theirs)

    def filler(self, bits: Bits) -> Filler:
        """What fills the first rows of ``bits`` for requests that have one row each, all of them constrained.

        A server calls it once a step. By then a model has driven all else out of the processor's caches, and each
        line of Python costs microseconds. So there is as little of it as can be, and what can be made is made here.
        """
        heads = [bits[:count] for count in range(len(bits) + 1)]
        threads, clock = self._threads, time.perf_counter
        seconds, rows = self.metrics.fill_seconds, self.metrics.rows
        noted, listeners = seconds.noted, seconds.listeners
        note_seconds, note_rows = noted.append, rows.noted.append

        def fill(requests: Mapping[str, Any], ids: Sequence[str]) -> Bits:
            begin = clock()
            guides = []
            for i in ids:
                structured = requests[i].structured_output_request
                # What its property ``grammar`` gives, which costs two calls.
                grammar = structured._grammar
                if type(grammar) is not Grammar or not grammar.is_direct:
                    self.fill([requests[i].structured_output_request.grammar for i in ids], bits)
                    return heads[len(ids)]
                guides.append(grammar.guide)
            try:
                if len(guides) == 1:
                    guides[0].fill_bitmask(bits)
                else:
                    fill_bitmasks(guides, bits, None, threads)
            except GUIDE_FAILURES:
                self.fill([requests[i].structured_output_request.grammar for i in ids], bits)
                return heads[len(ids)]
            note_seconds(clock() - begin)
            note_rows(len(guides))
            if listeners or len(noted) >= NOTED:
                seconds.settle()
                rows.settle()
            return heads[len(guides)]

        return fill

    def view(self, bitmask: Any) -> Bits:
        """The memory of a mask as an array, which is made once for each tensor."""
        if bitmask is not self._tensor:
            self._bits = bitmask if isinstance(bitmask, np.ndarray) else bitmask.numpy()
            self._tensor = bitmask
        return self._bits
