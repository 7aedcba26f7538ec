"""Time a source on this machine: compile, first mask, masks and advances along random outputs.

  interlock bench order.json -t tokenizer.json
  interlock bench pattern:'[a-z]{1,60}' --walks 50 --json

Times are wall-clock, in microseconds, beside whatever else this machine does; *overhead* is an empty timed call, which
is part of every figure. The first compile fills the caches of the process. *Anew* makes the index once more out of the
parts that these keep; *again* asks with the same source, whose index is kept as a whole.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from typing import TypeVar

import interlock
from interlock.cli.arguments.number_arguments import at_least, whole
from interlock.cli.sources import source_arguments as sources
from interlock.cli.sources import vocabularies
from interlock.cli.terminal import exits
from interlock.cli.terminal.output import Output, Progress, decimal, table
from interlock.cli.terminal.style import Line
from interlock.samples.random_walks import random_walk
from interlock.util.plurals import counted

T = TypeVar("T")
SHARES = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1.0))


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    sources.add_arguments(parser)
    vocabularies.add_arguments(parser)
    parser.add_argument("--walks", type=at_least(1), default=20, metavar="N", help="random outputs (default: 20)")
    parser.add_argument(
        "--repeat", type=at_least(1), default=20, metavar="N", help="compiles after the first (default: 20)"
    )
    parser.add_argument("--seed", type=whole, default=0, metavar="S", help="of the random outputs (default: 0)")


def run(args: argparse.Namespace, output: Output) -> int:
    """Measure and report."""
    if args.walks < 1 or args.repeat < 1:
        raise exits.UsageError("--walks and --repeat must be at least 1")
    source = sources.read(args.source, args)
    vocabulary = vocabularies.read(args)
    bits = interlock.allocate_bitmask(1, vocabulary)
    masks, advances = [], []
    steps = 2 * args.repeat + args.walks
    with Progress("measuring", steps, output) as bar:
        cold, index = _timed(lambda: source.compile(vocabulary))
        first, _ = _timed(lambda: index.guide().fill_bitmask(bits))

        def compiles(begun: int) -> list[float]:
            times = []
            for done in range(args.repeat):
                times.append(_timed(lambda: source.compile(vocabulary).guide().fill_bitmask(bits))[0])
                bar.show(begun + done + 1)
            return times

        again = compiles(0)
        kept = interlock.get_index_cache_bytes()
        interlock.set_index_cache_bytes(0)
        try:
            anew = compiles(args.repeat)
        finally:
            interlock.set_index_cache_bytes(kept)
        for number in range(args.walks):
            guide = index.guide()
            random_walk(guide, random.Random(f"{args.seed}/{number}"), 40, 500)
            tokens = guide.tokens
            guide.reset()
            for token in tokens:
                masks.append(_timed(lambda: guide.fill_bitmask(bits))[0])
                advances.append(_timed(lambda: guide.advance(token))[0])
            bar.show(2 * args.repeat + number + 1)
    overhead = [_timed(lambda: None)[0] for _ in range(1000)]
    both = [a + b for a, b in zip(masks, advances)]
    figures = {
        "compile and first mask, anew": anew,
        "compile and first mask, again": again,
        "mask": masks,
        "advance": advances,
        "mask and advance": both,
        "overhead": overhead,
    }
    summary = {name: {p: _share(values, share) for p, share in SHARES} for name, values in figures.items()}
    machine = {
        "unit": "microseconds",
        "first_compile": round(cold, 3),
        "first_mask": round(first, 3),
        "positions": len(masks),
        "figures": summary,
    }
    compiled = f"first compile {decimal(cold)} us, its first mask {decimal(first)} us"
    people = [Line(f"{compiled}; {counted(len(masks), 'position')} of {counted(args.walks, 'output')}"), Line("")]
    rows = [(name, *(decimal(row[p]) for p, _ in SHARES)) for name, row in summary.items()]
    people += table(rows, ("microseconds", *(p for p, _ in SHARES)))
    output.result(machine, people)
    return exits.OK


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    began = time.perf_counter_ns()
    value = work()
    return (time.perf_counter_ns() - began) / 1e3, value


def _share(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3)
