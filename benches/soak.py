"""Many requests through one process and several threads: memory that stays, times that stay, and masks that are right.

    python benches/soak.py [--requests 200000] [--threads 8] [--shared 30] [--block 10000] [--unseen 10]

Two parts. In *requests*, every request compiles a schema or takes an index that is at hand, makes a guide and follows a
member to its end. One in ten schemas (`--unseen`) was never seen before: its names, enumerations and patterns hold a
number of their own, so that caches have to evict. After each block the resident memory and percentiles of the requests'
times are printed. Memory after the first half must not grow by more than the tolerance, or the script ends with an
error. Nor may a request fail.

In *shared*, the threads move 64 guides over one index for some seconds, each guide in one thread at a time, and every
mask is compared with the one that a single thread filled before.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "rivals"))

import corpus
import interlock
from machine import resident

# By how much memory may grow in the second half: the allocator's arenas of each thread fill up slowly.
TOLERANCE_PERCENT = 5.0
TOLERANCE_MIB = 24.0


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


class Requests:
    """What the threads share: sources with members in tokens, indexes at hand, and the times of the block."""

    def __init__(self, requests: int, block: int, unseen_percent: float) -> None:
        self.tokens = corpus.vocabulary()
        special = [i for i, token in enumerate(self.tokens.tokens) if not token]
        self.vocabulary = interlock.Vocabulary(self.tokens.tokens, [self.tokens.stop], special)
        self.known: list[tuple[str, list[list[int]]]] = []
        for source in corpus.sources():
            if source.kind == "schema":
                self.known.append((source.text, [self.tokens.cut(member) for member in source.members]))
        self.kept = [interlock.Index.from_json_schema(text, self.vocabulary) for text, _ in self.known]
        self.left, self.block, self.unseen = requests, block, unseen_percent / 100
        self.lock = threading.Lock()
        self.times: list[int] = []
        self.blocks: list[tuple[int, float]] = []

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
            done = (len(self.blocks) + 1) * self.block
            self.blocks.append((done, resident() / 2**20))
            p50, p99, p999 = np.percentile(times, (50, 99, 99.9)) / 1e3
            stats = interlock.stats()
            print(
                f"{done:8,} requests  {self.blocks[-1][1]:7.1f} MiB  p50 {p50:9,.0f} us  p99 {p99:9,.0f} us"
                f"  p99.9 {p999:9,.0f} us  cache {stats['cache_bytes'] / 2**20:6.1f} MiB, {stats['lexemes']:,} lexemes",
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
        guide = index.guide()
        for token in ids:
            guide.fill_bitmask(bits)
            assert bits[0, token >> 5] >> (token & 31) & 1, f"token {token} of {text[:80]} is masked"
            guide.advance(token)
        guide.fill_bitmask(bits)
        assert guide.is_accepting, f"{text[:80]} does not end"
        guide.advance(self.tokens.stop)

    def work(self) -> None:
        """What one thread does."""
        bits = interlock.allocate_bitmask(1, self.vocabulary)
        while (number := self.next()) is not None:
            start = time.perf_counter_ns()
            self.one(number, bits)
            self.report(time.perf_counter_ns() - start)


def many_requests(shared: Requests, threads: int) -> bool:
    """The first part; whether memory stayed."""
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(shared.work) for _ in range(threads)]:
            done.result()
    half = [mib for done, mib in shared.blocks[len(shared.blocks) // 2 :]]
    if len(half) < 2:
        print("too few blocks to say whether memory grows")
        return True
    before, after = max(half[: max(1, len(half) // 3)]), half[-1]
    allowed = max(TOLERANCE_MIB, before * TOLERANCE_PERCENT / 100)
    print(f"second half: {before:.1f} MiB at first, {after:.1f} MiB at the end; {allowed:.1f} MiB more are allowed")
    return after - before <= allowed


def one_index(shared: Requests, threads: int, seconds: float) -> bool:
    """The second part: wrong masks of 64 guides over one index, and how many were filled a second."""
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
        print(f"one index, {count} threads: {sum(filled) / (seconds / 2):,.0f} masks a second, {sum(wrong)} wrong")
        if sum(wrong):
            return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=200_000)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--block", type=int, default=10_000, help="requests between two lines")
    parser.add_argument("--unseen", type=float, default=10.0, help="percent of requests whose schema is new")
    parser.add_argument("--shared", type=float, default=30.0, help="seconds of the second part")
    given = parser.parse_args()
    shared = Requests(given.requests, given.block, given.unseen)
    print(f"{resident() / 2**20:.1f} MiB before the first request")
    stayed = many_requests(shared, given.threads)
    right = one_index(shared, given.threads, given.shared)
    if not stayed or not right:
        raise SystemExit("memory grew" if right else "masks were wrong")
    print("memory stayed, and no mask was wrong")


if __name__ == "__main__":
    main()
