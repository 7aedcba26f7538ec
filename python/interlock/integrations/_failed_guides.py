"""Fills the masks of a batch in which a guide may fail.

A guide of a grammar fails where a mask takes more work than its limits allow, one from a file where that is damaged,
and any where it meets a bug. That must cost its own request, and neither the others of the batch nor the server.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interlock import ArtifactError, Guide, InterlockError, InternalError, LimitError, fill_bitmasks

__all__ = ["GUIDE_FAILURES", "fill_all_but_failed"]

#: What a guide raises that has failed, now and whenever it is asked again.
GUIDE_FAILURES = (LimitError, ArtifactError, InternalError)


def fill_all_but_failed(
    guides: Sequence[Guide], bits: Any, rows: Sequence[int] | None = None, threads: int | None = None
) -> dict[int, InterlockError]:
    """Fill rows as ``fill_bitmasks`` does; the answer says which guides failed, and why.

    The row of a guide that failed allows everything, so that a server can sample a token; the request must end then.

    >>> from interlock import Index, Vocabulary, allocate_bitmask
    >>> vocabulary = Vocabulary([b"a", b"b", b""], eos_token_ids=[2])
    >>> bits = allocate_bitmask(2, vocabulary)
    >>> fill_all_but_failed([Index.from_regex(text, vocabulary).guide() for text in ("a", "b+")], bits)
    {}
    >>> bits.tolist()
    [[1], [2]]
    """
    numbers = list(range(len(guides))) if rows is None else list(rows)
    left, failed = list(range(len(guides))), dict[int, InterlockError]()
    while left:
        try:
            fill_bitmasks([guides[i] for i in left], bits, [numbers[i] for i in left], threads)
            break
        except GUIDE_FAILURES as error:
            if error.batch_index is None:
                raise
            at = left.pop(error.batch_index)
            failed[at] = error
            bits[numbers[at]] = -1
    return failed
