"""The mask kernel for GPUs. Importing this module needs Triton."""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

__all__ = ["apply"]


@triton.jit  # type: ignore[untyped-decorator]
def _mask(  # type: ignore[no-untyped-def]
    logits, bits, rows, columns, words, logit_stride, HAS_ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    """One program masks BLOCK columns of one row. Logits are written where they are forbidden, and never read."""
    i = tl.program_id(0).to(tl.int64)
    if HAS_ROWS:
        row = tl.load(rows + i)
    else:
        row = i
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    word = tl.load(bits + i * words + (column >> 5), mask=(column >> 5) < words, other=0)
    forbidden = ((word >> (column & 31)) & 1) == 0
    tl.store(logits + row * logit_stride + column, -float("inf"), mask=forbidden & (column < columns))


def apply(logits: Any, bits: Any, rows: Any | None) -> None:
    """Mask two-dimensional ``logits`` whose rows are contiguous by contiguous ``bits``, both on one GPU."""
    columns, words = logits.shape[1], bits.shape[1]
    block = 1024
    grid = (len(bits), triton.cdiv(columns, block))
    _mask[grid](
        logits,
        bits,
        bits if rows is None else rows,
        columns,
        words,
        logits.stride(0),
        HAS_ROWS=rows is not None,
        BLOCK=block,
    )
