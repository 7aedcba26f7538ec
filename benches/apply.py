"""Masks applied to logits on the processor, next to the kernels of XGrammar and llguidance where these are installed.

Microseconds a call, the least of many; the kernels take turns in one process. 128,256 columns. Three kinds of mask:
*few* (100 tokens allowed), *most* (100 forbidden) and *mixed* (every other token, at random). A kernel that refuses a
dtype, or leaves another result than the definition, is named as such and not timed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
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


def table(batches: Iterable[int], array: str, dtype: str, make: Callable[[np.ndarray], Any]) -> None:
    """One line for each batch and kind of mask. ``make`` turns arrays of NumPy into what the kernels take."""
    for batch in batches:
        for kind, allowed in masks(batch).items():
            expected = np.where(allowed, np.float32(1.5), np.float32(-np.inf))
            bits = make(packed(allowed))
            ready, notes = {}, []
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
            best = fastest(ready, SECONDS)
            figures = "  ".join(f"{name} {us:9.1f}" for name, us in best.items())
            print(f"{array:5} {dtype:8} batch {batch:3} {kind:5}  {figures}  {'  '.join(notes)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--batches", type=int, nargs="*", default=BATCHES)
    parser.add_argument("--arrays", nargs="*", choices=("numpy", "torch"), default=("numpy", "torch"))
    chosen = parser.parse_args()
    for dtype in (np.float16, np.float32, np.float64) if "numpy" in chosen.arrays else ():
        name = np.dtype(dtype).name
        table(chosen.batches, "numpy", name, lambda a, dtype=dtype: a if a.dtype == np.int32 else a.astype(dtype))
    if "torch" not in chosen.arrays:
        return
    try:
        import torch
    except ImportError:
        print("torch is not installed: no lines for it")
        return
    torch.set_num_threads(1)
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        name = str(dtype).removeprefix("torch.")

        def make(array: np.ndarray, dtype: Any = dtype) -> Any:
            tensor = torch.from_numpy(array)
            return tensor if array.dtype == np.int32 else tensor.to(dtype)

        table(chosen.batches, "torch", name, make)


if __name__ == "__main__":
    main()
