"""The mask kernel for GPUs. Importing this module needs Triton.

One program of the kernel owns one *tile*: 64 words of one row of the mask, which are 2,048 columns of the logits. It
reads its words first, once each, and what they say decides how much memory the tile moves:

* every column allowed: nothing, or for a copy a plain copy;
* every column forbidden: a full store, and nothing is read;
* forbidden columns in at most a quarter of the words: a store of these columns alone;
* anything else: the words that allow some column are read, and the tile is stored as a whole. Accesses to whole words
  are vectorized, those to single columns are not, so this is faster than storing many single columns.

Logits are moved as integers of their width and never computed with, so every dtype takes the same way and every bit of
an allowed logit stays what it is, signs of zeros and bits of NaNs included.
"""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

__all__ = ["TILE_WORDS", "apply"]

# Words of a tile, and warps of a program. A thread then moves 32 columns. Of tiles of 32 to 256 words and of 1 to 8
# warps, these take least on an H100 over all kinds of masks.
TILE_WORDS = 64
NUM_WARPS = 2


@triton.jit  # type: ignore[untyped-decorator]
def _mask(  # type: ignore[no-untyped-def]
    out,
    source,
    bits,
    bits_rows,
    logit_rows,
    columns,
    words,
    out_stride,
    source_stride,
    bits_stride,
    FILL: tl.constexpr,
    HAS_BITS_ROWS: tl.constexpr,
    HAS_LOGIT_ROWS: tl.constexpr,
    COPY: tl.constexpr,
    TILE: tl.constexpr,
):
    """Mask tile ``program_id(1)`` of row ``program_id(0)``. ``FILL`` is minus infinity as an integer."""
    i = tl.program_id(0).to(tl.int64)
    bits_row = i
    if HAS_BITS_ROWS:
        bits_row = tl.load(bits_rows + i).to(tl.int64)
    row = i
    if HAS_LOGIT_ROWS:
        row = tl.load(logit_rows + i).to(tl.int64)
    word_at = tl.program_id(1) * TILE + tl.arange(0, TILE)
    # A row without a mask has a negative number: all of its columns are allowed.
    is_free = bits_row < 0
    word = tl.load(bits + bits_row * bits_stride + word_at, mask=word_at < tl.where(is_free, 0, words), other=0)
    # Columns that the logits do not have count as allowed, so that the last tile is not mixed because of them.
    left = columns - word_at * 32
    none = tl.full([TILE], -1, tl.int32)
    beyond = tl.where(left <= 0, none, tl.where(left >= 32, tl.zeros_like(none), none << tl.where(left > 0, left, 0)))
    word = tl.where(is_free, none, word | beyond)
    # How many words have a forbidden column, and how many an allowed one, in one sum.
    counts = tl.sum((word != -1).to(tl.int32) | ((word != 0).to(tl.int32) << 16), axis=0)
    holed = counts & 0xFFFF

    lane = tl.arange(0, 32)
    column = word_at[:, None] * 32 + lane[None, :]
    inside = column < columns
    to = out + row * out_stride + column
    if holed == 0:
        if COPY:
            tl.store(to, tl.load(source + row * source_stride + column, mask=inside), mask=inside)
    else:
        allowed = ((word[:, None] >> lane[None, :]) & 1) != 0
        fill = tl.full([TILE, 32], FILL, out.dtype.element_ty)
        if counts >> 16 == 0:
            tl.store(to, fill, mask=inside)
        elif (holed * 4 <= TILE) & (not COPY):
            tl.store(to, fill, mask=inside & (allowed == 0))
        else:
            some = (word != 0)[:, None]
            read = tl.load(source + row * source_stride + column, mask=inside & some, other=FILL)
            tl.store(to, tl.where(allowed, read, fill), mask=inside)


def apply(
    out: Any,
    bits: Any,
    *,
    logit_rows: Any | None = None,
    bits_rows: Any | None = None,
    source: Any | None = None,
) -> None:
    """Mask ``out`` in place, or with ``source`` make it the masked copy of ``source``. All tensors lie on one GPU.

    ``out`` and ``source`` have the shape ``[rows, columns]``, one dtype that has a minus infinity, and contiguous rows
    at any stride. ``bits`` is ``int32`` of shape ``[rows, words]`` with contiguous rows; columns beyond it are
    forbidden.

    Program ``i`` masks row ``logit_rows[i]`` of the logits by row ``bits_rows[i]`` of ``bits``; either is row ``i``
    where it is left out. A negative row of ``bits`` stands for a row without a mask. Both are integer tensors, and
    what they name must exist. Of a copy every row must be named.
    """
    integer = _integers(out)
    moved = integer if source is None else _integers(source)
    columns, words = integer.shape[1], bits.shape[1]
    numbers = bits_rows if bits_rows is not None else logit_rows
    count = len(bits) if numbers is None else len(numbers)
    if count == 0 or columns == 0:
        return
    _mask[(count, triton.cdiv(columns, TILE_WORDS * 32))](
        integer,
        moved,
        bits,
        bits if bits_rows is None else bits_rows,
        bits if logit_rows is None else logit_rows,
        columns,
        words,
        integer.stride(0),
        moved.stride(0),
        bits.stride(0),
        FILL=_minus_infinity(out.dtype),
        HAS_BITS_ROWS=bits_rows is not None,
        HAS_LOGIT_ROWS=logit_rows is not None,
        COPY=source is not None,
        TILE=TILE_WORDS,
        num_warps=NUM_WARPS,
    )


# Minus infinity as a signed integer of the dtype's width.
_MINUS_INFINITY = {
    "torch.float64": -(1 << 63) + (0x7FF << 52),
    "torch.float32": -(1 << 31) + (0xFF << 23),
    "torch.float16": -(1 << 15) + (0x1F << 10),
    "torch.bfloat16": -(1 << 15) + (0xFF << 7),
    "torch.float8_e5m2": -(1 << 7) + (0x1F << 2),
}


def _minus_infinity(dtype: Any) -> int:
    return _MINUS_INFINITY[str(dtype)]


def _integers(logits: Any) -> Any:
    """The same memory as integers of the same width."""
    import torch

    width = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[logits.element_size()]
    return logits.view(width)
