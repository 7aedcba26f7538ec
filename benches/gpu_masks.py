"""Masks on a GPU: the kernel beside a plain fill, a step of a batch on the clock, and the logits processor.

Run it where there is a GPU; it says so and ends where there is none. One run measures all of it, each part beside its
floor or beside XGrammar, where that is installed. 128,256 columns.

* *kernel*: microseconds of the GPU by torch's profiler, with a cache that was flushed, of masking in place and of a
  masked copy, beside ``fill``, which writes minus infinity everywhere. Masks: *few* allowed (100 tokens), *most*,
  *text* (one hole in 300 words, as inside a string), *half* at random.
* *step*: microseconds on the clock of filling and applying the masks of a batch, the device waited for at the end: a
  plain mask, the ring, rows that stay there; and what of it is filling alone.
* *processor*: microseconds a step that ``GuideLogitsProcessor`` adds to choosing tokens, at batch 64.
* *tables*: microseconds of a step of ``TableDecoder``, a CUDA graph.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

import interlock
from interlock import masks
from interlock.gpu import DeviceRows, DeviceTables, TableDecoder

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

COLUMNS = 128_256
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}},
        "age": {"type": "integer"},
    },
    "required": ["name", "tags", "age"],
    "additionalProperties": False,
}
FLAT = {
    "type": "object",
    "properties": {"city": {"enum": ["Oslo", "Rome", "Lima"]}, "hot": {"type": "boolean"}},
    "required": ["city"],
    "additionalProperties": False,
}
# What is copied through the cache between two calls.
FLUSH_BYTES = 256 << 20


def kinds(batch: int) -> dict[str, np.ndarray]:
    """The words of each kind of mask."""
    rng, words = np.random.default_rng(0), COLUMNS // 32
    few = np.zeros((batch, COLUMNS), bool)
    few[:, rng.choice(COLUMNS, 100, replace=False)] = True
    text = np.full((batch, words), -1, np.int32)
    text[:, rng.choice(words, 300, replace=False)] = ~np.int32(1 << 7)
    pack = lambda allowed: np.packbits(allowed, axis=1, bitorder="little").view(np.int32)
    half = rng.integers(-(2**31), 2**31, (batch, words), dtype=np.int32)
    return {"few": pack(few), "most": pack(~few), "text": text, "half": half}


def device_microseconds(work: Callable[[], Any], rounds: int) -> float:
    """The median time of the GPU for one call, by the profiler: kernels alone, without what flushes the cache."""
    flush = torch.empty(FLUSH_BYTES // 4, dtype=torch.int32, device="cuda")
    for _ in range(3):
        work()
    times = []
    for _ in range(rounds):
        flush.zero_()
        torch.cuda.synchronize()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            work()
            torch.cuda.synchronize()
        events = [event for event in profile.events() if event.device_type == torch.autograd.DeviceType.CUDA]
        times.append(sum(getattr(event, "device_time", 0.0) for event in events))
    return statistics.median(times)


def clock_microseconds(work: Callable[[], Any], rounds: int) -> float:
    """The median time on the clock, the device waited for before and after."""
    times = []
    for _ in range(rounds + 3):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) * 1e6)
    return statistics.median(times[3:])


def kernel_lines(batches: list[int], dtypes: list[str], rounds: int) -> Iterator[str]:
    """The kernel beside a fill, after a look at whether its result is right."""
    for batch in batches:
        made = kinds(batch)
        for name in dtypes:
            dtype = getattr(torch, name)
            source = torch.randn(batch, COLUMNS, device="cuda").to(dtype)
            logits = source.clone()
            fill = device_microseconds(lambda: logits.fill_(float("-inf")), rounds)
            for kind, words in made.items():
                bits = torch.from_numpy(words).cuda()
                logits.copy_(source)
                interlock.apply_bitmask(logits, bits)
                allowed = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").astype(bool)
                expected = source.masked_fill(torch.from_numpy(~allowed).cuda(), float("-inf"))
                copied = masks.masked_copy(torch, source, bits, None)
                if not (torch.equal(logits, expected) and torch.equal(copied, expected)):
                    raise SystemExit(f"kernel, batch {batch}, {name}, {kind}: the result is wrong")
                if masks._without_kernel:
                    raise SystemExit("the kernel did not run")
                us = device_microseconds(lambda: interlock.apply_bitmask(logits, bits), rounds)
                copy = device_microseconds(lambda: masks.masked_copy(torch, source, bits, None), rounds)
                rival = rival_kernel(logits, bits, rounds)
                yield (
                    f"kernel batch {batch:4} {name:8} {kind:4}  fill {fill:7.1f}  in place {us:7.1f} "
                    f"({us / fill:4.2f} of a fill)  copy {copy:7.1f}{rival}"
                )


def rival_kernel(logits: Any, bits: Any, rounds: int) -> str:
    try:
        import xgrammar
    except ImportError:
        return ""
    us = device_microseconds(lambda: xgrammar.apply_token_bitmask_inplace(logits, bits), rounds)
    return f"  xgrammar {us:7.1f}"


def walked(index: interlock.Index, batch: int) -> list[Any]:
    """Guides at different places of a document, with masks that are known."""
    text = b'{"name": "Ada Lovelace", "tags": ["red", "blue"], "age": 36}'
    token_of = {index.vocabulary.token_bytes(i): i for i in range(len(index.vocabulary))}
    guides = []
    for i in range(batch):
        guide = index.guide()
        guide.advance_many([token_of[bytes([byte])] for byte in text[: i % len(text)]])
        guides.append(guide)
    return guides


def step_lines(batches: list[int], vocabulary: interlock.Vocabulary, rounds: int) -> Iterator[str]:
    """A step of a batch on the clock."""
    index = interlock.Index.from_json_schema(SCHEMA, vocabulary, whitespace="spaced")
    for batch in batches:
        guides = walked(index, batch)
        logits = torch.randn(batch, vocabulary.size, device="cuda", dtype=torch.bfloat16)
        bits = interlock.allocate_bitmask(batch, vocabulary)
        ring = interlock.allocate_bitmask(batch, vocabulary, pin=True, device="cuda")
        rows = DeviceRows(batch, vocabulary)

        def plain() -> None:
            interlock.fill_bitmasks(guides, bits)
            interlock.apply_bitmask(logits, bits)

        def by_ring() -> None:
            interlock.fill_bitmasks(guides, ring.next())
            interlock.apply_bitmask(logits, ring)

        def by_rows() -> None:
            rows.fill(guides)
            rows.apply(logits)

        for _ in range(3):
            by_rows()
        fill = clock_microseconds(lambda: interlock.fill_bitmasks(guides, bits), rounds)
        parts = [
            f"{name} {clock_microseconds(work, rounds):8.1f}"
            for name, work in (("plain", plain), ("ring", by_ring), ("rows", by_rows))
        ]
        yield f"step   batch {batch:4} filling alone {fill:7.1f}  " + "  ".join(parts) + f"  rows kept {rows.num_kept}"


def processor_lines(batch: int, vocabulary: interlock.Vocabulary, rounds: int) -> Iterator[str]:
    """What a processor adds to a step, on ids and scores of the device."""
    import processors

    scores = [torch.randn(batch, vocabulary.size, device="cuda") for _ in range(4)]

    def steps(processor: Any) -> float:
        ids, times = torch.zeros((batch, 4), dtype=torch.long, device="cuda"), []
        for step in range(processors.STEPS):
            own = scores[step % len(scores)].clone()
            torch.cuda.synchronize()
            start = time.perf_counter()
            token = processor(ids, own).argmax(-1)
            torch.cuda.synchronize()
            times.append((time.perf_counter() - start) * 1e6)
            ids = torch.cat([ids, token[:, None]], dim=1)
        return statistics.median(times)

    made = processors.makers(vocabulary)
    best = dict.fromkeys(made, float("inf"))
    for _ in range(max(2, rounds // 10)):
        for name, make in made.items():
            best[name] = min(best[name], steps(make()))
    for name, us in best.items():
        yield f"processor batch {batch} {name:20} {us:9.1f} us a step, {us - best['none']:9.1f} above none"


def table_lines(batches: list[int], vocabulary: interlock.Vocabulary, rounds: int) -> Iterator[str]:
    """A step of complete tables as a graph, beside choosing tokens alone."""
    index = interlock.Index.from_json_schema(FLAT, vocabulary, whitespace="compact")
    start = time.perf_counter()
    tables = DeviceTables(index)
    ms = (time.perf_counter() - start) * 1e3
    sizes = f"{tables.num_states} states, {tables.num_classes} classes, {tables.memory_bytes / 2**20:.1f} MiB"
    yield f"tables {sizes}, made in {ms:.0f} ms"
    for batch in batches:
        decoder = TableDecoder(tables, batch)
        decoder.logits.normal_()
        choose = clock_microseconds(lambda: decoder.logits.argmax(-1), rounds)
        yield f"tables batch {batch:4} step {clock_microseconds(decoder.step, rounds):7.1f}  argmax alone {choose:7.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--batches", type=int, nargs="*", default=[32, 256])
    parser.add_argument("--dtypes", nargs="*", default=["bfloat16", "float16", "float32"])
    parser.add_argument("--processor-batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=20)
    chosen = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("there is no GPU: nothing was measured")
    from real_vocabulary import load

    print(torch.cuda.get_device_name(), f"torch {torch.__version__}", flush=True)
    vocabulary = load()
    for lines in (
        kernel_lines(chosen.batches, chosen.dtypes, chosen.rounds),
        step_lines(chosen.batches, vocabulary, chosen.rounds),
        processor_lines(chosen.processor_batch, vocabulary, chosen.rounds),
        table_lines(chosen.batches, vocabulary, chosen.rounds),
    ):
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
