"""Many requests through one process and several threads: memory that stays, times that stay, and masks that are right.

    python benches/soak.py [--requests 200000] [--threads 8] [--shared 30] [--block 10000] [--unseen 10]
        [--budgets 50] [--output PAGE]

Two parts. In *requests*, every request compiles a schema or takes an index that is at hand, makes a guide and follows
a member to its end. One in ten schemas (`--unseen`) was never seen before: its names, enumerations and patterns hold
a number of their own, so that caches have to evict. Half of the guides (`--budgets`) have `max_tokens`. After each
block the resident memory and percentiles of the requests' times are printed. The script ends with an error if a
request fails. The first third, in which the caches fill, is left out; of the rest, the second half is compared with
the first, in the median of the blocks, since a block's figures go up and down with what the caches have just dropped.
The script also ends with an error if memory beside that of the caches grew by more than the tolerance, if the caches
hold more than they may, or if the 99.9th percentile of the times is over twice as high.

In *shared*, the threads move 64 guides over one index for some seconds, each guide in one thread at a time, and every
mask is compared with the one that a single thread filled before. `--output` writes all of it as a page.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "rivals"))

import corpus
import interlock
import machine
from answers import NEVER, allows, clear
from machine import resident

# One part in so many of the requests is left out: the caches fill until then.
WARM_UP = 3
# By how much memory may grow between the halves: the allocator's arenas of each thread fill up slowly.
TOLERANCE_PERCENT = 5.0
TOLERANCE_MIB = 24.0
# How many times the caches' bound they may hold with what the indexes at hand use.
TOLERANCE_CACHE = 1.25
# How many times as high the 99.9th percentile of the second half may be.
TOLERANCE_TIMES = 2.0


def unseen(number: int) -> tuple[str, str]:
    """A schema that only this request has, and a member."""
    kinds = [f"kind_{number}_{i}" for i in range(4)]
    schema = {
        "type": "object",
        "properties": {
            f"id_{number}": {"type": "string", "pattern": f"^{number}-[a-f]{{2,8}}$"},
            "kind": {"enum": kinds},
            f"size_{number}": {"type": "integer", "minimum": number, "maximum": number + 500},
            "text": {"type": "string", "maxLength": 20 + number % 500},
        },
        "required": ["kind"],
        "additionalProperties": False,
    }
    member = {f"id_{number}": f"{number}-cafe", "kind": kinds[number % 4]}
    member |= {f"size_{number}": number + 77, "text": "some words"}
    return json.dumps(schema), json.dumps(member)


@dataclass
class Block:
    """Some requests: how many were done by its end, MiB of the process then, and microseconds of a request."""

    done: int
    mib: float
    p50: float
    p99: float
    p999: float
    cache_mib: float


class Requests:
    """What the threads share: sources with members in tokens, indexes at hand, and the times of the block."""

    def __init__(self, requests: int, block: int, unseen_percent: float, budgets_percent: float) -> None:
        self.tokens = corpus.vocabulary()
        special = [i for i, token in enumerate(self.tokens.tokens) if not token]
        self.vocabulary = interlock.Vocabulary(self.tokens.tokens, [self.tokens.stop], special)
        self.never = self.tokens.tokens.index(NEVER)
        self.known: list[tuple[str, list[list[int]]]] = []
        for source in corpus.sources():
            if source.kind == "schema":
                self.known.append((source.text, [self.tokens.cut(member) for member in source.members]))
        self.kept = [interlock.Index.from_json_schema(text, self.vocabulary) for text, _ in self.known]
        self.left, self.block = requests, block
        self.unseen, self.budgets = unseen_percent / 100, budgets_percent / 100
        self.lock = threading.Lock()
        self.times: list[int] = []
        self.blocks: list[Block] = []

    def next(self) -> int | None:
        """The number of the next request; prints a line after each block."""
        with self.lock:
            if self.left == 0:
                return None
            self.left -= 1
            return self.left

    def report(self, took: int) -> None:
        """The nanoseconds of one request."""
        with self.lock:
            self.times.append(took)
            if len(self.times) < self.block:
                return
            times, self.times = self.times, []
            done, stats = (len(self.blocks) + 1) * self.block, interlock.stats()
            percentiles = np.percentile(times, (50, 99, 99.9)) / 1e3
            block = Block(done, resident() / 2**20, *map(float, percentiles), stats["cache_bytes"] / 2**20)
            self.blocks.append(block)
            print(
                f"{done:8,} requests  {block.mib:7.1f} MiB  p50 {block.p50:9,.0f} us  p99 {block.p99:9,.0f} us"
                f"  p99.9 {block.p999:9,.0f} us  cache {block.cache_mib:6.1f} MiB, {stats['lexemes']:,} lexemes",
                flush=True,
            )

    def one(self, number: int, bits: Any) -> None:
        """One request from source to stop token."""
        choice = random.Random(number)
        kind = choice.random()
        if kind < self.unseen:
            text, member = unseen(number)
            index, ids = interlock.Index.from_json_schema(text, self.vocabulary), self.tokens.cut(member)
        else:
            which = choice.randrange(len(self.known))
            text, members = self.known[which]
            ids = choice.choice(members)
            index = self.kept[which] if kind < 0.5 else interlock.Index.from_json_schema(text, self.vocabulary)
        # The member and its stop token fit into every budget.
        budget = len(ids) + 1 + choice.randrange(100) if choice.random() < self.budgets else None
        guide = index.guide(max_tokens=budget)
        clear(bits)
        for token in ids:
            guide.fill_bitmask(bits)
            assert bits[0, token >> 5] >> (token & 31) & 1, f"token {token} of {text[:80]} is masked"
            guide.advance(token)
        guide.fill_bitmask(bits)
        assert guide.is_accepting and allows(bits[0], self.tokens.stop), f"{text[:80]} does not end"
        assert not allows(bits[0], self.never), f"{text[:80]} ends with the byte zero"
        guide.advance(self.tokens.stop)

    def work(self) -> None:
        """What one thread does."""
        bits = interlock.allocate_bitmask(1, self.vocabulary)
        while (number := self.next()) is not None:
            start = time.perf_counter_ns()
            self.one(number, bits)
            self.report(time.perf_counter_ns() - start)


def many_requests(shared: Requests, threads: int) -> None:
    """The first part."""
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(shared.work) for _ in range(threads)]:
            done.result()


def judged(blocks: list[Block]) -> Iterator[tuple[bool, str]]:
    """Whether memory and times stayed, and in which words."""
    warm = blocks[-(-len(blocks) // WARM_UP) :]
    if len(warm) < 4:
        yield True, "too few blocks to say whether memory and times stay"
        return
    early, late = warm[: len(warm) // 2], warm[len(warm) // 2 :]
    before, after = (statistics.median(block.mib - block.cache_mib for block in part) for part in (early, late))
    allowed = max(TOLERANCE_MIB, before * TOLERANCE_PERCENT / 100)
    text = f"memory beside the caches after warm-up: {before:.1f} MiB in the first half, {after:.1f} MiB in the second"
    yield after - before <= allowed, f"{text}; {allowed:.1f} MiB more are allowed"
    most, bound = max(block.cache_mib for block in blocks), interlock.get_mask_cache_bytes() / 2**20
    text = f"caches: {most:.1f} MiB at most; they keep {bound:.0f} MiB"
    yield most <= TOLERANCE_CACHE * bound, f"{text} and what indexes at hand use, up to {TOLERANCE_CACHE:g} times that"
    before, after = (statistics.median(block.p999 for block in part) for part in (early, late))
    text = f"p99.9 after warm-up: {before:,.0f} us in the first half, {after:,.0f} us in the second"
    yield after <= TOLERANCE_TIMES * before, f"{text}; {TOLERANCE_TIMES:g} times as much is allowed"


def one_index(shared: Requests, threads: int, seconds: float) -> Iterator[tuple[bool, str]]:
    """The second part: whether no mask of 64 guides over one index is wrong, and how many were filled a second."""
    names = [source.name for source in corpus.sources() if source.kind == "schema"]
    which = names.index("resource: order")
    text, members = shared.known[which]
    ids = members[0]
    single = interlock.Index.from_json_schema(text, shared.vocabulary)
    guide, expected = single.guide(), []
    for token in [*ids, shared.tokens.stop]:
        row = interlock.allocate_bitmask(1, shared.vocabulary)
        guide.fill_bitmask(row)
        # Bytes, because comparing arrays releases the GIL, for which all other threads wait: that would be measured.
        expected.append(row.tobytes())
        guide.advance(token)
    for count in sorted({1, threads}):
        interlock.clear_caches()
        index = interlock.Index.from_json_schema(text, shared.vocabulary)
        guides = [index.guide() for _ in range(64)]
        stop, filled, wrong = time.monotonic() + seconds / 2, [0] * count, [0] * count

        def move(thread: int) -> None:
            bits = interlock.allocate_bitmask(1, shared.vocabulary)
            own = guides[thread::count]
            choice = random.Random(thread)
            while time.monotonic() < stop:
                guide = choice.choice(own)
                guide.reset()
                for at, token in enumerate(ids):
                    guide.fill_bitmask(bits)
                    wrong[thread] += bits.tobytes() != expected[at]
                    guide.advance(token)
                filled[thread] += len(ids)

        with ThreadPoolExecutor(count) as pool:
            list(pool.map(move, range(count)))
        speed, title = sum(filled) / (seconds / 2), f"{count} thread{'s' * (count > 1)}"
        yield not sum(wrong), f"one index, {title}: {speed:,.0f} masks a second, {sum(wrong)} wrong"


def page(blocks: list[Block], threads: int, before: float, verdicts: list[tuple[bool, str]]) -> str:
    """Everything as a page."""
    named = machine.about(), f"interlock {interlock.__version__}", f"Commit {machine.commit()}"
    out = ["# Soak", "", f"{'. '.join(named)}.", "", (__doc__ or "").split("\n\n", 2)[2].strip(), ""]
    out += [f"{threads} threads, {before:.1f} MiB before the first request. Times are microseconds.", ""]
    out += [*(f"* {text}: {'as it must be' if right else '**NOT as it must be**'}." for right, text in verdicts), ""]
    out += ["| requests | MiB | p50 | p99 | p99.9 | cache, MiB |", "|---:|---:|---:|---:|---:|---:|"]
    for b in blocks:
        out.append(f"| {b.done:,} | {b.mib:.1f} | {b.p50:,.0f} | {b.p99:,.0f} | {b.p999:,.0f} | {b.cache_mib:.1f} |")
    return "\n".join(out) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=200_000)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--block", type=int, default=10_000, help="requests between two lines")
    parser.add_argument("--unseen", type=float, default=10.0, help="percent of requests whose schema is new")
    parser.add_argument("--budgets", type=float, default=50.0, help="percent of requests with a budget")
    parser.add_argument("--shared", type=float, default=30.0, help="seconds of the second part")
    parser.add_argument("--output", type=Path, help="a page that says what was found, such as docs/soak.md")
    given = parser.parse_args()
    shared = Requests(given.requests, given.block, given.unseen, given.budgets)
    before = resident() / 2**20
    print(f"{before:.1f} MiB before the first request")
    many_requests(shared, given.threads)
    verdicts = []
    for part in (judged(shared.blocks), one_index(shared, given.threads, given.shared)):
        for right, text in part:
            print(text if right else f"FAILED: {text}", flush=True)
            verdicts.append((right, text))
    if given.output:
        given.output.write_text(page(shared.blocks, given.threads, before, verdicts))
    if not all(right for right, _ in verdicts):
        raise SystemExit("something grew, or a mask was wrong")
    print("memory and times stayed, and no mask was wrong")


if __name__ == "__main__":
    main()
