"""How many masks several Python threads fill over one index, beside one thread that makes the same calls.

Each thread has guides of its own and a call for several of them. Masks that are known are filled again and again, in
calls for few and for many guides; masks that nobody asked for before are made once, at eight places of each of 64
guides. What threads share must not be waited for, so this grows with the cores wherever a call takes longer than
handing on the GIL. A call for few known masks takes less: it keeps the GIL, and many threads fill as many as one.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from string import ascii_lowercase

import interlock
from answers import NEVER, allows, clear, digest, row_of

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

THREADS = (2, 4, 8)
ROUNDS = 5
SECONDS = 0.3

# Masks that are known: guides in a call, and what they are guides of.
BATCHES = (1, 8, 64)
SCHEMA = """{"type": "object", "required": ["name"], "additionalProperties": false, "properties": {
    "name": {"type": "string"}, "age": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}}}"""
TEXT = '{"name": "Ada Lovelace", "age": 36, "tags": ["numbers", "engines"]}'

# Masks that are made: guides, places of each, and guides in a call.
GUIDES = 64
PLACES = 8
CALL = 8


class Letters:
    """Texts as tokens of single bytes."""

    def __init__(self, vocabulary: interlock.Vocabulary) -> None:
        self.vocabulary = vocabulary
        # The first tokens of Llama 3 are the single bytes.
        self.single = {vocabulary.token_bytes(i): i for i in range(256)}

    def cut(self, text: str) -> list[int]:
        return [self.single[bytes([byte])] for byte in text.encode()]


def in_threads(threads: int, work: Callable[[int], int]) -> float:
    """Masks a second of so many threads that begin `work` at once; it gets the thread's number and says how many."""

    def one(number: int) -> tuple[int, float]:
        start.wait()
        return work(number), time.perf_counter()

    start = threading.Barrier(threads + 1)
    with ThreadPoolExecutor(threads) as pool:
        running = [pool.submit(one, number) for number in range(threads)]
        start.wait()
        begun = time.perf_counter()
        done = [thread.result() for thread in running]
    return sum(masks for masks, _ in done) / (max(ended for _, ended in done) - begun)


class Known:
    """Masks that every thread has asked for before, over and over: its guides stand along one text."""

    def __init__(self, tokenizer: Letters, batch: int) -> None:
        index = interlock.Index.from_json_schema(SCHEMA, tokenizer.vocabulary, whitespace="flexible")
        self.text, self.batch = tokenizer.cut(TEXT), batch
        self.guides = [[self.at(index, i) for i in range(batch)] for _ in range(THREADS[-1])]
        words = interlock.allocate_bitmask(1, tokenizer.vocabulary).size
        self.expected = [digest(row_of(guide.allowed_token_ids(), words)) for guide in self.guides[0]]

    def at(self, index: interlock.Index, i: int) -> interlock.Guide:
        guide, tokens = index.guide(), i % len(self.text)
        assert guide.advance_many(self.text[:tokens]) == tokens
        return guide

    def speed(self, threads: int) -> float:
        return in_threads(threads, self.work)

    def work(self, number: int) -> int:
        mine, calls = self.guides[number], 0
        bits = interlock.allocate_bitmask(self.batch, mine[0].index.vocabulary)
        clear(bits)
        end = time.perf_counter() + SECONDS
        while time.perf_counter() < end:
            interlock.fill_bitmasks(mine, bits, threads=1)
            calls += 1
        assert [digest(row) for row in bits] == self.expected
        return calls * self.batch


class Anew:
    """Masks that nobody asked for before: in strings of many patterns, each with a guide."""

    words = [ascii_lowercase[i % 20 :][:6] + ascii_lowercase[i // 20] for i in range(GUIDES)]

    def __init__(self, tokenizer: Letters) -> None:
        self.tokenizer = tokenizer

    def speed(self, threads: int) -> float:
        interlock.clear_caches()
        lengths = ((word, PLACES, PLACES + i) for i, word in enumerate(self.words))
        schema = {"properties": {word: {"pattern": f"^[{word}]{{{a},{b}}}$"} for word, a, b in lengths}}
        index = interlock.Index.from_json_schema(schema, self.tokenizer.vocabulary, whitespace="compact")
        guides = [index.guide() for _ in self.words]
        for guide, word in zip(guides, self.words, strict=True):
            tokens = self.tokenizer.cut(f'{{"{word}":"')
            assert guide.advance_many(tokens) == len(tokens)
        calls = [list(range(i, i + CALL)) for i in range(0, GUIDES, CALL)]
        return in_threads(threads, lambda number: sum(self.follow(guides, call) for call in calls[number::threads]))

    def follow(self, guides: list[interlock.Guide], which: list[int]) -> int:
        mine, letters = [guides[i] for i in which], [self.tokenizer.cut(self.words[i][0])[0] for i in which]
        bits = interlock.allocate_bitmask(len(mine), self.tokenizer.vocabulary)
        clear(bits)
        for _ in range(PLACES):
            interlock.fill_bitmasks(mine, bits, threads=1)
            for row, guide, letter in zip(bits, mine, letters, strict=True):
                assert allows(row, letter)
                guide.advance(letter)
        assert not any(allows(row, self.tokenizer.single[NEVER]) for row in bits)
        return len(mine) * PLACES


def growth() -> Iterator[tuple[int, str, float]]:
    """Numbers of threads, what they fill, and how many times as many masks as one thread with the same calls does."""
    from real_vocabulary import load

    tokenizer = Letters(load())
    kinds = {f"known, {batch} guides in a call": Known(tokenizer, batch) for batch in BATCHES}
    for kind, masks in {**kinds, f"made anew, {CALL} guides in a call": Anew(tokenizer)}.items():
        # The best of several rounds, in which each number has its turn beside one thread.
        rounds = [[masks.speed(n) for n in (1, *THREADS)] for _ in range(ROUNDS)]
        one, *more = (max(speeds) for speeds in zip(*rounds, strict=True))
        yield from ((n, kind, times / one) for n, times in zip(THREADS, more, strict=True))


def main() -> None:
    print(f"{len(os.sched_getaffinity(0))} cores")
    for threads, kind, times in growth():
        print(f"{threads} threads fill {times:.2f} times as many masks as one: {kind}", flush=True)


if __name__ == "__main__":
    main()
