"""Masks applied to logits on the processor, next to the kernels of XGrammar and llguidance where these are installed.

Microseconds a call, the least of many; the kernels take turns in one process. 128,256 columns. Three kinds of mask:
*few* (100 tokens allowed), *most* (100 forbidden) and *mixed* (every other token, at random). A kernel that refuses a
dtype, or leaves another result than the definition, is named as such and not timed. *one pass* reads and writes every
logit once and computes nothing: what the memory alone costs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import interlock

COLUMNS = 128_256
BATCHES = (1, 32, 256)
SECONDS = 0.1


def masks(batch: int) -> dict[str, np.ndarray]:
    """The kinds of mask, as booleans."""
    rng = np.random.default_rng(0)
    few = np.zeros((batch, COLUMNS), bool)
    few[:, rng.choice(COLUMNS, 100, replace=False)] = True
    return {"few": few, "most": ~few, "mixed": rng.random((batch, COLUMNS)) < 0.5}


def packed(allowed: np.ndarray) -> np.ndarray:
    """32 tokens to a word, the lowest bit first."""
    return np.packbits(allowed, axis=1, bitorder="little").view(np.int32)


def fastest(kernels: dict[str, Callable[[], Any]], seconds: float) -> dict[str, float]:
    """Microseconds of each, taking turns until the time is over, three rounds at least."""
    best = dict.fromkeys(kernels, float("inf"))
    end, rounds = time.perf_counter() + seconds * len(kernels), 0
    while rounds < 3 or time.perf_counter() < end:
        for name, kernel in kernels.items():
            start = time.perf_counter()
            kernel()
            best[name] = min(best[name], (time.perf_counter() - start) * 1e6)
        rounds += 1
    return best


def rivals(array: str) -> dict[str, Callable[[Any, Any], Any]]:
    """Every kernel that takes such arrays."""
    found: dict[str, Callable[[Any, Any], Any]] = {"interlock": interlock.apply_bitmask}
    try:
        if array == "numpy":
            from llguidance.numpy import apply_token_bitmask_inplace
        else:
            from llguidance.torch import apply_token_bitmask_inplace
        found["llguidance"] = apply_token_bitmask_inplace
    except ImportError:
        pass
    if array == "torch":
        try:
            import xgrammar

            found["xgrammar"] = xgrammar.apply_token_bitmask_inplace
        except ImportError:
            pass
    return found


@dataclass
class Line:
    """One kind of mask over one batch: microseconds by kernel, and what is wrong with the kernels that are missing."""

    array: str
    dtype: str
    batch: int
    kind: str
    best: dict[str, float]
    notes: list[str]

    def __str__(self) -> str:
        figures = "  ".join(f"{name} {us:9.1f}" for name, us in self.best.items())
        return f"{self.array:5} {self.dtype:8} batch {self.batch:3} {self.kind:5}  {figures}  {'  '.join(self.notes)}"


def one_pass(logits: Any) -> Callable[[], Any]:
    """Read and write all the memory of some logits."""
    if not isinstance(logits, np.ndarray):
        import torch

        # NumPy has no bfloat16: the bits as integers of the same width.
        logits = logits.view(torch.int16 if logits.itemsize == 2 else torch.int32).numpy()
    words = logits.reshape(-1).view(np.int32)
    return lambda: np.bitwise_xor(words, 0, out=words)


def lines(
    batches: Iterable[int], array: str, dtype: str, make: Callable[[np.ndarray], Any], seconds: float
) -> Iterator[Line]:
    """A line for each batch and kind of mask. ``make`` turns arrays of NumPy into what the kernels take."""
    for batch in batches:
        for kind, allowed in masks(batch).items():
            expected = np.where(allowed, np.float32(1.5), np.float32(-np.inf))
            bits = make(packed(allowed))
            ready, notes = {"one pass": one_pass(make(np.full((batch, COLUMNS), 1.5, np.float32)))}, []
            for name, kernel in rivals(array).items():
                logits = make(np.full((batch, COLUMNS), 1.5, np.float32))
                try:
                    kernel(logits, bits)
                    result = logits.astype(np.float32) if array == "numpy" else logits.float().numpy()
                except Exception as error:
                    notes.append(f"{name}: {type(error).__name__}")
                    continue
                if np.array_equal(result, expected):
                    ready[name] = lambda kernel=kernel, logits=logits: kernel(logits, bits)
                else:
                    notes.append(f"{name}: wrong")
            yield Line(array, dtype, batch, kind, fastest(ready, seconds), notes)


def all_lines(batches: Iterable[int], arrays: Iterable[str], seconds: float) -> Iterator[Line]:
    """The lines of NumPy and of torch, on one thread, where they are installed."""
    for kind in (np.float16, np.float32, np.float64) if "numpy" in arrays else ():
        name = np.dtype(kind).name
        cast = lambda array, kind=kind: array if array.dtype == np.int32 else array.astype(kind)
        yield from lines(batches, "numpy", name, cast, seconds)
    if "torch" not in arrays:
        return
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)
    for dtype in (torch.float16, torch.bfloat16, torch.float32):

        def make(array: np.ndarray, dtype: Any = dtype) -> Any:
            tensor = torch.from_numpy(array)
            return tensor if array.dtype == np.int32 else tensor.to(dtype)

        yield from lines(batches, "torch", str(dtype).removeprefix("torch."), make, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--batches", type=int, nargs="*", default=BATCHES)
    parser.add_argument("--arrays", nargs="*", choices=("numpy", "torch"), default=("numpy", "torch"))
    chosen = parser.parse_args()
    for line in all_lines(chosen.batches, chosen.arrays, SECONDS):
        print(line, flush=True)


if __name__ == "__main__":
    main()
