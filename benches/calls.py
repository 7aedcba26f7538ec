"""What single calls cost from Python, beside an empty statement: nanoseconds, the best of several runs.

Each line says what was measured. The index is one literal, so masks come from a cache: this is the price of the border
between Python and Rust plus one copy of a row, not of finding masks. The last lines say how many times as many masks
several threads fill over one index as one thread does, each with a batch of its own: that grows with the cores.
"""

import os
import sys
import threading
import time
import timeit
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import interlock

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

STATEMENTS = (
    "None",
    "guide.is_accepting",
    "guide.fill_bitmask(bits, 3)",
    "guide.advance(first); guide.rollback(1)",
    "index.guide()",
    "interlock.fill_bitmasks(guides, bits, threads=1)",
    "interlock.fill_bitmasks(guides, bits)",
    "interlock.apply_bitmask(logits, one)",
)

# What several threads fill masks of at once.
SCHEMA = """{"type": "object", "required": ["name"], "additionalProperties": false, "properties": {
    "name": {"type": "string"}, "age": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}}}"""
TEXT = '{"name": "Ada Lovelace", "age": 36, "tags": ["numbers", "engines"]}'


def measure(statement: str, names: dict[str, Any]) -> float:
    """What one execution of `statement` costs, in nanoseconds."""
    timer = timeit.Timer(statement, globals=names)
    number, _ = timer.autorange()
    return min(timer.repeat(5, number)) / number * 1e9


def lines() -> Iterator[tuple[str, str, float]]:
    """Vocabulary, statement and nanoseconds of every line."""
    from real_vocabulary import load

    small = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    for title, vocabulary in (("257 tokens", small), ("128,256 tokens", load())):
        index = interlock.Index.from_regex("[a-z]{1,200}", vocabulary)
        first = int(index.guide().allowed_token_ids()[0])
        guides = [index.guide() for _ in range(256)]
        bits = interlock.allocate_bitmask(256, vocabulary)
        logits = np.zeros((1, vocabulary.size), np.float32)
        names = {
            "interlock": interlock,
            "index": index,
            "guide": index.guide(),
            "guides": guides,
            "bits": bits,
            "one": bits[:1],
            "logits": logits,
            "first": first,
        }
        for statement in STATEMENTS:
            yield title, statement, measure(statement, names)
        # The answers were right, too.
        assert guides[0].try_advance(first) and guides[0].num_tokens == 1
        assert names["guide"].num_tokens == 0 and bits[3, first >> 5] >> (first & 31) & 1


def together(threads: int, guides: list[interlock.Guide], text: list[int], seconds: float = 1.0) -> float:
    """Masks a second of so many threads over one index, each with its part of the guides and a call for all of them."""

    def work(mine: list[interlock.Guide]) -> None:
        bits = interlock.allocate_bitmask(len(mine), mine[0].index.vocabulary)
        start.wait()
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            interlock.fill_bitmasks(mine, bits, threads=1)
            done.append(len(mine))
        for row, guide in zip(bits, mine, strict=True):
            token = text[guide.num_tokens]
            assert row[token >> 5] >> (token & 31) & 1

    done: list[int] = []
    start = threading.Barrier(threads)
    workers = [threading.Thread(target=work, args=(guides[i::threads],)) for i in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(done) / seconds


def growth() -> Iterator[tuple[int, float]]:
    """Numbers of threads, and how many times as many masks they fill as one: what they share must not be waited for."""
    from real_vocabulary import load

    vocabulary = load()
    index = interlock.Index.from_json_schema(SCHEMA, vocabulary, whitespace="flexible")
    # Its first tokens are the single bytes.
    single = {vocabulary.token_bytes(i): i for i in range(256)}
    text = [single[bytes([byte])] for byte in TEXT.encode()]
    guides = [index.guide() for _ in range(64)]
    for i, guide in enumerate(guides):
        assert guide.advance_many(text[: i % len(text)]) == i % len(text)
    numbers = (2, 4, 8)
    # The best of several rounds, in which each number has its turn beside one thread.
    rounds = [[together(n, guides, text) for n in (1, *numbers)] for _ in range(3)]
    one, *more = (max(speeds) for speeds in zip(*rounds, strict=True))
    yield from ((n, speed / one) for n, speed in zip(numbers, more, strict=True))


def main() -> None:
    for title, statement, nanoseconds in lines():
        print(f"{title:15} {nanoseconds:10.0f} ns  {statement}", flush=True)
    for threads, times in growth():
        print(f"{threads} threads fill {times:.2f} times as many masks as one ({len(os.sched_getaffinity(0))} cores)")


if __name__ == "__main__":
    main()
