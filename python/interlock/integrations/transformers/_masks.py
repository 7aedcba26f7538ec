"""The masks of all rows of a batch, filled in one call and applied to torch logits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from interlock import ArgumentError, apply_bitmask, fill_bitmasks
from interlock.integrations.transformers._row import Row

__all__ = ["fill", "mask_logits"]


def fill(rows: list[Row]) -> tuple[npt.NDArray[np.int32], list[int]]:
    """The masks of those rows that have one, and which rows these are. Guides come first, filled in one call."""
    guided: list[int] = []
    special: list[tuple[int, bool, list[int]]] = []
    words = 0
    for i, row in enumerate(rows):
        if row.constraint is None:
            continue
        words = max(words, (row.constraint.vocabulary.size + 31) // 32)
        if (other := row.special()) is not None:
            special.append((i, *other))
        elif row.guide is not None:
            guided.append(i)
    bits = np.full((len(guided) + len(special), words), -1, dtype=np.int32)
    guides = [guide for i in guided if (guide := rows[i].guide) is not None]
    if guides:
        fill_bitmasks(guides, bits, list(range(len(guides))))
    view = bits.view(np.uint32)
    for k, (_, only, ids) in enumerate(special, len(guided)):
        if only:
            view[k] = 0
            for t in ids:
                view[k, t >> 5] |= np.uint32(1 << (t & 31))
        else:
            for t in ids:
                view[k, t >> 5] &= np.uint32(~(1 << (t & 31)) & 0xFFFFFFFF)
    return bits, guided + [i for i, _, _ in special]


def mask_logits(rows: list[Row], logits: torch.Tensor) -> npt.NDArray[np.int32]:
    """Mask ``logits`` (rows, width of the logits) in place; the masks come back, in the order of ``fill``."""
    for row in rows:
        if row.constraint is not None and logits.shape[1] < len(row.constraint.vocabulary):
            message = f"the logits have {logits.shape[1]} columns, the vocabulary has {len(row.constraint.vocabulary)}"
            raise ArgumentError(f"{message} tokens")
    bits, numbers = fill(rows)
    if numbers:
        words: Any = bits
        apply_bitmask(logits, words, None if numbers == list(range(len(logits))) else numbers)
    return bits
