"""The mask kernel under Triton's interpreter, beside the plain definition.

Triton decides when it is imported whether kernels are interpreted, so test_triton_kernel.py runs this file in processes
of its own: ``python triton_kernel_cases.py NAME`` prints how many cases were looked at, and fails at the first one that
differs.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator

os.environ["TRITON_INTERPRET"] = "1"

import numpy as np
import torch

from interlock import _triton

TILE = _triton.TILE_WORDS * 32
DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e5m2]


def kinds(rng: np.random.Generator, words: int) -> dict[str, np.ndarray]:
    """Rows of every kind that the kernel tells apart, in each tile and across tiles."""
    one_hole, one_token = np.full(words, -1, np.int32), np.zeros(words, np.int32)
    at = int(rng.integers(words))
    one_hole[at] = ~np.int32(1 << int(rng.integers(31)))
    one_token[at] = np.int32(1 << int(rng.integers(31)))
    few, many = np.full(words, -1, np.int32), np.full(words, -1, np.int32)
    few[rng.random(words) < 0.2] = 5
    many[rng.random(words) < 0.4] = 5
    mixed = np.full(words, -1, np.int32)
    mixed[words // 3 : 2 * words // 3] = 0
    return {
        "all": np.full(words, -1, np.int32),
        "none": np.zeros(words, np.int32),
        "one hole": one_hole,
        "one token": one_token,
        "few holes": few,
        "many holes": many,
        "whole tiles": mixed,
        "random": rng.integers(-(2**31), 2**31, words, dtype=np.int32),
    }


def integers(tensor: torch.Tensor) -> np.ndarray:
    """The bits of logits, by which results are compared: a zero keeps its sign, and a NaN its payload."""
    return (
        tensor.contiguous()
        .view({1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[tensor.itemsize])
        .numpy()
    )


def logits_of(rng: np.random.Generator, rows: int, columns: int, dtype: torch.dtype) -> torch.Tensor:
    """Any numbers, with zeros of both signs, infinities and NaNs among them."""
    values = rng.standard_normal((rows, columns))
    where = rng.random((rows, columns))
    for i, special in enumerate((0.0, -0.0, np.inf, -np.inf, np.nan)):
        values[(where > i * 0.02) & (where < i * 0.02 + 0.01)] = special
    return torch.from_numpy(values).to(dtype)


def plain(logits: torch.Tensor, bits: np.ndarray, pairs: list[tuple[int, int]]) -> torch.Tensor:
    """The definition, row by row: which row of logits is masked by which row of bits, negative for none."""
    expected, columns = logits.clone(), logits.shape[1]
    for row, by in pairs:
        if by < 0:
            continue
        allowed = np.zeros(columns, bool)
        unpacked = np.unpackbits(bits[by].view(np.uint8), bitorder="little").astype(bool)[:columns]
        allowed[: len(unpacked)] = unpacked
        # By integers, since not every operation of torch knows numbers of one byte.
        target = expected[row].view(torch.uint8) if logits.itemsize == 1 else expected[row]
        target[torch.from_numpy(~allowed)] = 0xFC if logits.itemsize == 1 else float("-inf")
    return expected


def check(got: torch.Tensor, expected: torch.Tensor, what: object) -> None:
    wrong = np.argwhere(integers(got) != integers(expected))
    assert len(wrong) == 0, f"{what}: {len(wrong)} logits differ, the first at {wrong[0].tolist()}"


def widths() -> Iterator[str]:
    """All dtypes, kinds of rows and widths: odd ones, those of a word, of a tile, and real ones."""
    rng = np.random.default_rng(1)
    for columns in (1, 7, 31, 32, 33, 1000, TILE - 1, TILE, TILE + 1, 3 * TILE + 17):
        words = -(-columns // 32)
        bits = np.stack(list(kinds(rng, words).values()))
        for dtype in DTYPES:
            logits = logits_of(rng, len(bits), columns, dtype)
            expected = plain(logits, bits, [(i, i) for i in range(len(bits))])
            got, made = logits.clone(), torch.empty_like(logits)
            _triton.apply(got, torch.from_numpy(bits))
            check(got, expected, ("in place", columns, dtype))
            _triton.apply(made, torch.from_numpy(bits), source=logits)
            check(made, expected, ("copy", columns, dtype))
            yield f"{columns} {dtype}"


def real_width() -> Iterator[str]:
    """The width of a real vocabulary, each kind of row once."""
    rng = np.random.default_rng(2)
    columns = 128_256
    rows = kinds(rng, columns // 32)
    for dtype in (torch.bfloat16,):
        bits = np.stack(list(rows.values()))
        logits = logits_of(rng, len(bits), columns, dtype)
        got = logits.clone()
        _triton.apply(got, torch.from_numpy(bits))
        check(got, plain(logits, bits, [(i, i) for i in range(len(bits))]), dtype)
        yield str(dtype)


def batches() -> Iterator[str]:
    """Batches from one row to 1,024."""
    rng = np.random.default_rng(3)
    counts = ((n, dtype) for n in (0, 1, 2, 3, 31, 32, 33) for dtype in (torch.float32, torch.bfloat16))
    for count, dtype in [*counts, (256, torch.float32), (1024, torch.bfloat16)]:
        bits = rng.integers(-(2**31), 2**31, (count, 3), dtype=np.int32)
        logits = logits_of(rng, count, 70, dtype)
        got = logits.clone()
        _triton.apply(got, torch.from_numpy(bits))
        check(got, plain(logits, bits, [(i, i) for i in range(count)]), (count, dtype))
        yield f"{count} {dtype}"


def strides() -> Iterator[str]:
    """Rows of logits, sources and masks at any distance; what lies between them is not touched."""
    rng = np.random.default_rng(4)
    for columns, gap, dtype in itertools.product((33, TILE + 5), (1, 3, 16, 64), DTYPES):
        words = -(-columns // 32)
        bits = torch.from_numpy(rng.integers(-(2**31), 2**31, (4, words + gap), dtype=np.int32))[:, :words]
        whole = logits_of(rng, 4, columns + 2 * gap, dtype)
        logits = whole[:, gap : gap + columns]
        expected = whole.clone()
        expected[:, gap : gap + columns] = plain(logits, bits.numpy(), [(i, i) for i in range(4)])
        source, made = logits.clone(), whole.clone()
        _triton.apply(logits, bits)
        check(whole, expected, ("in place", columns, gap, dtype))
        _triton.apply(made[:, gap : gap + columns], bits, source=source)
        check(made, expected, ("copy", columns, gap, dtype))
        # Every second row.
        whole = logits_of(rng, 8, columns, dtype)
        expected = whole.clone()
        expected[::2] = plain(whole[::2], bits.numpy(), [(i, i) for i in range(4)])
        _triton.apply(whole[::2], bits)
        check(whole, expected, ("every second", columns, dtype))
        yield f"{columns} {gap} {dtype}"


def chosen() -> Iterator[str]:
    """Rows of logits that are named, rows of a pool that are named, and rows without a mask."""
    rng = np.random.default_rng(5)
    for columns, dtype in itertools.product((50, TILE + 40), DTYPES):
        words = -(-columns // 32)
        pool = np.concatenate([np.stack(list(kinds(rng, words).values())) for _ in range(2)])
        for count, integer in ((1, torch.int32), (5, torch.int64), (9, torch.int32)):
            rows = rng.permutation(12)[:count]
            of = rng.integers(-1, len(pool), count)
            where, by = torch.from_numpy(rows).to(integer), torch.from_numpy(of).to(integer)
            logits = logits_of(rng, 12, columns, dtype)
            got = logits.clone()
            _triton.apply(got, torch.from_numpy(pool), logit_rows=where, bits_rows=by)
            check(got, plain(logits, pool, list(zip(rows, of, strict=True))), ("both", columns, dtype))
            got = logits.clone()
            _triton.apply(got, torch.from_numpy(pool[:count]), logit_rows=where)
            check(got, plain(logits, pool, list(zip(rows, range(count), strict=True))), ("rows", columns, dtype))
            got, made = logits.clone()[:count], torch.empty_like(logits)[:count]
            _triton.apply(got, torch.from_numpy(pool), bits_rows=by)
            expected = plain(logits[:count], pool, list(zip(range(count), of, strict=True)))
            check(got, expected, ("pool", columns, dtype))
            _triton.apply(made, torch.from_numpy(pool), bits_rows=by, source=logits[:count])
            check(made, expected, ("copy", columns, dtype))
        yield f"{columns} {dtype}"


def narrow() -> Iterator[str]:
    """Masks narrower or wider than the logits: columns without a bit are forbidden."""
    rng = np.random.default_rng(6)
    for columns, words, dtype in itertools.product((40, TILE, 2 * TILE + 1), (1, 2, 64, 70, 200), DTYPES[1:4]):
        bits = rng.integers(-(2**31), 2**31, (3, words), dtype=np.int32)
        bits[1], bits[2] = -1, 0
        logits = logits_of(rng, 3, columns, dtype)
        got = logits.clone()
        _triton.apply(got, torch.from_numpy(bits))
        check(got, plain(logits, bits, [(i, i) for i in range(3)]), (columns, words, dtype))
        yield f"{columns} {words} {dtype}"


def device_rows() -> Iterator[str]:
    """The rows that ``DeviceRows`` keeps, masked by the kernel."""
    import interlock
    from interlock import masks
    from interlock.gpu import DeviceRows

    masks._suits_kernel = lambda values: values.stride(1) == 1
    # No GPU: nothing is to be made current.
    torch.cuda.device = lambda which: __import__("contextlib").nullcontext()
    vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256], size=300)
    indexes = [interlock.Index.from_regex(p, vocabulary) for p in ("[a-z]{2,9}", "(ab)+", "x?y?z?")]
    guides = [indexes[i % 3].guide() if i % 4 else None for i in range(12)]
    rows = DeviceRows(12, vocabulary, device="cpu")
    for step in range(6):
        rows.fill(guides)
        bits = interlock.allocate_bitmask(12, vocabulary)
        interlock.fill_bitmasks(guides, bits)
        logits = torch.randn(12, 300)
        expected = logits.clone()
        interlock.apply_bitmask(expected, bits)
        rows.apply(logits)
        check(logits, expected, step)
        assert not masks._without_kernel, "the kernel ran"
        for guide in guides:
            if guide is not None and not guide.is_terminated:
                guide.advance(int(guide.allowed_token_ids()[step % 2 - 1]))
        yield str(step)


def copies() -> Iterator[str]:
    """Masked copies by way of ``masks.masked_copy``."""
    from interlock import masks

    masks._suits_kernel = lambda values: values.stride(1) == 1
    torch.cuda.device = lambda which: __import__("contextlib").nullcontext()
    rng = np.random.default_rng(7)
    for rows, dtype in itertools.product((None, [2, 0], [4, 3, 2, 1, 0]), DTYPES):
        bits = rng.integers(-(2**31), 2**31, (5 if rows is None else len(rows), 3), dtype=np.int32)
        logits = logits_of(rng, 5, 80, dtype)
        before = logits.clone()
        made = masks.masked_copy(torch, logits, bits, rows)
        pairs = list(zip(range(5) if rows is None else rows, range(len(bits)), strict=True))
        check(made, plain(before, bits, pairs), (rows, dtype))
        check(logits, before, "the source stays")
        assert not masks._without_kernel, "the kernel ran"
        yield f"{rows} {dtype}"


CASES = {f.__name__: f for f in (widths, real_width, batches, strides, chosen, narrow, device_rows, copies)}

if __name__ == "__main__":
    print(sum(1 for _ in CASES[sys.argv[1]]()))
