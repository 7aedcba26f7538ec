"""Masks of a batch, in the form that SGLang's own code reads too: ``int32``, a bit for each token, 1 for allowed.

Rows that nobody fills stay free, so a new mask allows everything.
"""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import interlock
from interlock import Guide, InterlockError
from interlock.integrations._failed_guides import GUIDE_FAILURES, fill_all_but_failed
from interlock.integrations.metrics import refusal_reason
from interlock.integrations.server_counts import counts
from interlock.masks import apply_padded

__all__ = ["allocated", "applied", "fill_guides", "moved", "reset", "row_words", "set_tokens"]


_LOG = logging.getLogger(__name__)


@functools.cache
def _pinned() -> bool:
    import torch

    return bool(torch.cuda.is_available())


def allocated(vocab_size: int, batch_size: int) -> Any:
    """A torch tensor on the CPU that allows everything; where there is CUDA, in memory that it copies from in the
    background. It is a new one each time: the copy of the last may not have ended."""
    import torch

    return torch.full((batch_size, (vocab_size + 31) // 32), -1, dtype=torch.int32, pin_memory=_pinned())


def moved(mask: Any, device: Any) -> Any:
    """``mask`` on ``device``."""
    return mask.to(device, non_blocking=True)


def applied(logits: Any, mask: Any) -> None:
    """Make the logits of forbidden tokens minus infinity, in place, on any device."""
    apply_padded(logits, mask)


def reset(mask: Any) -> None:
    """Allow everything in all rows."""
    mask[:] = -1


def fill_guides(guides: Sequence[Guide], rows: Sequence[int], mask: Any) -> Collection[int]:
    """Fill row ``rows[i]`` for ``guides[i]``, all in one native call; the rows of guides that failed.

    These rows allow everything, and the token that is sampled then ends the request: it is not accepted.
    """
    failed: dict[int, InterlockError] = {}
    if not guides:
        return failed
    begin, numbers = time.perf_counter(), counts()
    try:
        if len(guides) == 1:
            guides[0].fill_bitmask(mask, rows[0])
        else:
            interlock.fill_bitmasks(guides, mask, rows=rows)
    except GUIDE_FAILURES:
        failed = fill_all_but_failed(guides, mask, rows)
        for error in failed.values():
            counts().refusals.add(1, refusal_reason(error), "engine")
            _LOG.error("a request ends: %s", error)
    numbers.fill_seconds.observe(time.perf_counter() - begin)
    numbers.rows.add(len(guides))
    return {rows[at] for at in failed}


def row_words(mask: Any, row: int) -> npt.NDArray[np.uint32]:
    """The words of one row in the memory of the mask, which lies on the CPU."""
    words = mask[row]
    array: npt.NDArray[np.int32] = words.numpy() if hasattr(words, "numpy") else words
    return array.view(np.uint32)


def set_tokens(mask: Any, token_ids: Iterable[int], row: int, allowed: bool, first_reset: bool) -> None:
    """Allow or forbid ``token_ids`` in one row. With ``first_reset`` all others become the opposite first.

    Ids beyond the mask have no logits and are passed over.
    """
    width = 32 * mask.shape[-1]
    bits: dict[int, int] = {}
    for token in token_ids:
        if 0 <= token < width:
            bits[token >> 5] = bits.get(token >> 5, 0) | 1 << (token & 31)
    if hasattr(mask, "device") and getattr(mask.device, "type", mask.device) != "cpu":
        _set_on_device(mask[row], bits, allowed, first_reset)
        return
    words = row_words(mask, row)
    if first_reset:
        words[:] = 0 if allowed else 0xFFFFFFFF
    for word, some in bits.items():
        if allowed:
            words[word] |= np.uint32(some)
        else:
            words[word] &= np.uint32(~some & 0xFFFFFFFF)


def _set_on_device(words: Any, bits: dict[int, int], allowed: bool, first_reset: bool) -> None:
    import torch

    if first_reset:
        words.fill_(0 if allowed else -1)
    if not bits:
        return
    where = torch.tensor(list(bits), dtype=torch.long, device=words.device)
    some = np.array([b if allowed else ~b & 0xFFFFFFFF for b in bits.values()], dtype=np.uint32).view(np.int32)
    change = torch.from_numpy(some).to(words.device)
    words[where] = words[where] | change if allowed else words[where] & change
