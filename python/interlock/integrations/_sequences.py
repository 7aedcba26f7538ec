"""Which row a call of a logits processor is about, found from its ids.

Loops that sample one sequence, or the rows of a batch one after the other, give a processor nothing but the ids so far.
They may take turns among sequences, go back (drafts that were refused) and begin anew, and say none of this.

* Ids that are those of a sequence seen before and one token more go on with it.
* Ids that part from a sequence behind its prompt, in their last token or earlier, go back in it.
* All others begin a sequence, and are its prompt.

Sequences that are alike so far are in the same state, so it does not matter which of them goes on first.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from interlock.integrations._row import Row

__all__ = ["Sequences"]

_BYTES = 4


@dataclass
class _Sequence:
    """Ids that a call was about, how many of them are the prompt, and the row that stands behind them."""

    ids: bytes
    prompt: int
    row: Row


class Sequences:
    """The sequences that a processor was asked about lately.

    ``start`` makes the row of a new one from its prompt. ``keep`` bounds how many are kept: at least as many as take
    turns.
    """

    def __init__(self, start: Callable[[list[int]], Row], keep: int = 1024) -> None:
        self._start, self._keep = start, keep
        self._known: OrderedDict[bytes, list[_Sequence]] = OrderedDict()
        self._count = 0

    def reset(self) -> None:
        """Forget all sequences."""
        self._known.clear()
        self._count = 0

    def row_at(self, ids: npt.NDArray[np.int32]) -> Row:
        """The row behind ``ids``, one dimension of ``int32``."""
        whole = ids.tobytes()
        if not whole:
            return self._put(_Sequence(whole, 0, self._start([])))
        head = whole[:-_BYTES]
        waiting = self._known.get(head)
        if waiting:
            sequence = waiting.pop()
            self._count -= 1
            if not waiting:
                del self._known[head]
            sequence.ids = whole
            sequence.row.advance(int(ids[-1]))
            return self._put(sequence)
        for other in self._latest():
            if len(other.ids) > len(head) >= other.prompt * _BYTES and other.ids.startswith(head):
                row = other.row.fork()
                row.cut(len(ids) - 1 - other.prompt)
                row.advance(int(ids[-1]))
                return self._put(_Sequence(whole, other.prompt, row))
        return self._put(_Sequence(whole, len(ids), self._start(ids.tolist())))

    def _latest(self) -> list[_Sequence]:
        return [sequence for known in reversed(self._known.values()) for sequence in reversed(known)]

    def _put(self, sequence: _Sequence) -> Row:
        self._known.setdefault(sequence.ids, []).append(sequence)
        self._known.move_to_end(sequence.ids)
        self._count += 1
        while self._count > self._keep:
            oldest = next(iter(self._known))
            self._known[oldest].pop(0)
            self._count -= 1
            if not self._known[oldest]:
                del self._known[oldest]
        return sequence.row
