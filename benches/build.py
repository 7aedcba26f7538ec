"""Building whole indexes, beside outlines-core: time and memory, in one run.

Patterns are those of outlines' own benchmarks and some more; with a folder of MaskBench's files, schemas too: those
from which outlines-core makes a pattern and whose index it builds within TIMEOUT seconds, with the same whitespace in
both, and which get complete tables here. One thread each. Needs outlines-core and, for the vocabulary, what
``examples/real_vocabulary.py`` needs, or a vocabulary pack.

    python benches/build.py [--vocabulary PACK] [FOLDER COUNT]
    python benches/build.py --threads [--vocabulary PACK] [FOLDER COUNT]

Each engine has a process of its own, which holds the vocabulary and has built two indexes: of a pattern of one letter
and of an object with one member of each scalar type. What these lexemes allow is remembered with the vocabulary here,
as in any process that builds more than one index. Each source is measured in forked children, which build these two
again before anything is measured, so that pages that are written to are their own, and do nothing else:

* *Time*: processor time from source to complete index; the least of three children, of one for schemas there.
* *Memory*: what an index that is kept takes. There: by how much what the allocator has handed out grows with one
  (``mallinfo2``). Here, where the allocator says no such thing: a part of the growth of resident memory by as many as
  are built in half a second, at least 8, after two that were let go; caches are emptied in between, so that none shares
  what another made; and never less than what the index says of itself.

``--threads`` compares two threads with one instead, building alone, the least of THREADS_TURNS, turn by turn. A machine
with neighbours runs at more than one speed, and two threads need both of its cores at once: few turns say more of the
neighbours. Wall time means something on an idle machine only. Elsewhere the processor time of the threads says what
stands between it and a half: *busier* is by how much less the busier of two threads does than one alone, which wall
time cannot beat, and *overhead* how much more the two do together. Only indexes that get complete tables count.
"""

import argparse
import ctypes
import gc
import itertools
import json
import multiprocessing
import random
import statistics
import sys
import time
from pathlib import Path

import interlock
from machine import resident

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

HOST = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
LOCAL = r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+"
DAY, MONTH, YEAR = (
    r"([1-9]|0[1-9]|1[0-9]|2[0-9]|3[0-1])",
    r"([1-9]|0[1-9]|1[0-2])",
    r"([0-9][0-9]|19[0-9][0-9]|20[0-9][0-9])",
)
SEPARATOR = r"(\.|-|/)"
PATTERNS = {
    "email": rf"{LOCAL}(?:\.{LOCAL})*@(?:{HOST}\.)+{HOST}",
    "complex phone": r"\+?\d{1,4}?[-.\s]?\(?\d{1,3}?\)?[-.\s]?\d{1,4}[-.\s]?\d{1,4}[-.\s]?\d{1,9}",
    "simple phone": r"\+?[1-9][0-9]{7,14}",
    "date": f"{DAY}{SEPARATOR}{MONTH}{SEPARATOR}{YEAR}|{YEAR}{SEPARATOR}{MONTH}{SEPARATOR}{DAY}",
    "time": r"(0?[1-9]|1[0-2]):[0-5]\d\s?(am|pm)?",
    "ip": r"(?:(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\.){3}(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)",
    "url": r"(https?:\/\/)?([\da-z\.-]+)\.([a-z\.]{2,6})([\/\w \.-]*)*\/?",
    "ssn": r"\d{3}-\d{2}-\d{4}",
    "sentence": r"[A-Z].*\s*",
    "name, 1 to 60": r'\{"name": ?"[^"]{1,60}"\}',
}
TIMEOUT = 20.0
THREADS_TURNS = 30
WHITESPACE = "[ ]?"
SCALARS = {
    "string": {"type": "string"},
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "null": {"type": "null"},
}
FIRST = ("a", json.dumps({"type": "object", "properties": SCALARS, "required": list(SCALARS)}))


class Handed(ctypes.Structure):
    """``struct mallinfo2`` of the C library."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]


def handed_out() -> int:
    """Bytes that the C library's allocator has handed out, from its arenas and as mappings of their own."""
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = Handed
    said = mallinfo2()
    return said.uordblks + said.hblkhd


class Ours:
    name = "interlock"

    def __init__(self, vocabulary: interlock.Vocabulary):
        self.vocabulary = vocabulary
        for source in FIRST:
            self.build(source)

    def compile(self, source: str) -> interlock.Index:
        if source.startswith("{"):
            return interlock.Index.from_json_schema(source, self.vocabulary, whitespace=WHITESPACE)
        return interlock.Index.from_regex(source, self.vocabulary)

    def build(self, source: str) -> interlock.Index:
        index = self.compile(source)
        index.build(threads=1)
        return index

    def held(self, source: str, took: float) -> int | None:
        def one():
            interlock.clear_caches()
            return self.build(source)

        for _ in range(2):
            index = one()
            if index.num_masks is None:
                return None
            said = index.memory_bytes
            del index
        gc.collect()
        before, kept = resident(), []
        kept.extend(one() for _ in range(max(8, min(256, int(0.5 / took)))))
        interlock.clear_caches()
        gc.collect()
        return max(said, (resident() - before) // len(kept))


class Theirs:
    name = "outlines-core"

    def __init__(self, vocabulary: interlock.Vocabulary):
        import outlines_core
        import outlines_core.json_schema

        self.core = outlines_core
        spellings: dict[bytes, list[int]] = {}
        for token in range(len(vocabulary)):
            text = vocabulary.token_bytes(token)
            if text and token not in vocabulary.special_token_ids and token not in vocabulary.eos_token_ids:
                spellings.setdefault(text, []).append(token)
        self.vocabulary = outlines_core.Vocabulary(vocabulary.eos_token_ids[0], spellings)
        for source in FIRST:
            self.build(source)

    def build(self, source: str):
        if source.startswith("{"):
            source = self.core.json_schema.build_regex_from_schema(source, WHITESPACE)
        return self.core.Index(source, self.vocabulary)

    def held(self, source: str, took: float) -> int:
        gc.collect()
        before = handed_out()
        index = self.build(source)
        gc.collect()
        grown = handed_out() - before
        del index
        return max(grown, 1)


def child(pipe, engine, source, memory) -> None:
    try:
        for first in FIRST:
            engine.build(first)
        gc.collect()
        start = time.process_time()
        index = engine.build(source)
        took = time.process_time() - start
        del index
        pipe.send((took, engine.held(source, took) if memory else None))
    except Exception:
        pipe.send(None)


def measure(engine, source: str, times: int):
    """The least time with the memory of one child; ``None`` for a source that is refused or takes too long."""
    context = multiprocessing.get_context("fork")
    results = []
    for turn in range(times):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=child, args=(sender, engine, source, turn == 0))
        process.start()
        sender.close()
        result = receiver.recv() if receiver.poll(TIMEOUT * 2) else None
        process.kill()
        process.join()
        if result is None:
            return None
        results.append(result)
    return min(r[0] for r in results), results[0][1]


def serve(pipe, kind, pack) -> None:
    """An engine's own process: answers sources until there are no more."""
    engine = kind(load(pack))
    pipe.send(True)
    while (asked := pipe.recv()) is not None:
        pipe.send(measure(engine, *asked))


def load(pack: str | None) -> interlock.Vocabulary:
    if pack:
        return interlock.Vocabulary.load(pack)
    from real_vocabulary import load

    return load()


def schemas(folder: str):
    files = sorted(Path(folder).glob("*.json"))
    random.Random(1).shuffle(files)
    for file in files:
        yield file.stem[:40], json.dumps(json.loads(file.read_bytes())["schema"])


def compare(options) -> None:
    context = multiprocessing.get_context("spawn")
    ask = {}
    for kind in (Ours, Theirs):
        here, there = context.Pipe()
        context.Process(target=serve, args=(there, kind, options.vocabulary)).start()
        here.recv()
        ask[kind] = here
    print(f"{'source':40} {'interlock':>20} {'outlines-core':>20} {'time':>7} {'memory':>7}")
    ratios = []
    sources = itertools.chain(PATTERNS.items(), schemas(options.folder) if options.folder else [])
    for name, source in sources:
        if len(ratios) >= len(PATTERNS) + options.count:
            break
        ask[Ours].send((source, 3))
        mine = ask[Ours].recv()
        if not mine or mine[1] is None:
            continue
        ask[Theirs].send((source, 3 if name in PATTERNS else 1))
        found = ask[Theirs].recv()
        if not found:
            continue
        (a, m), (b, n) = mine, found
        ratios.append((name in PATTERNS, b / a, n / max(m, 1)))
        row = f"{name:40} {a * 1e3:8.1f} ms {m / 2**10:7.1f} KiB {b * 1e3:8.1f} ms {n / 2**10:9.1f} KiB"
        print(f"{row} {ratios[-1][1]:6.1f}x {ratios[-1][2]:6.1f}x", flush=True)
    for part, of_patterns in (("patterns", {True}), ("schemas", {False}), ("sources", {True, False})):
        rows = [r[1:] for r in ratios if r[0] in of_patterns]
        if rows:
            time_, memory = (statistics.median(r) for r in zip(*rows, strict=True))
            print(f"median of {len(rows)} {part}: time {time_:.1f}x, memory {memory:.1f}x")
    for pipe in ask.values():
        pipe.send(None)


def spent(index: interlock.Index, number: int) -> tuple[float, float, float]:
    """Seconds of one build: processor time of the busier thread and of all threads, and wall time."""
    start, own, both = time.perf_counter(), time.thread_time(), time.process_time()
    index.build(threads=number)
    own, both, wall = time.thread_time() - own, time.process_time() - both, time.perf_counter() - start
    return max(own, both - own), both, wall


def threads(options) -> None:
    engine = Ours(load(options.vocabulary))
    sources = itertools.chain(PATTERNS.items(), schemas(options.folder) if options.folder else [])
    rows = []
    for name, source in sources:
        if len(rows) >= len(PATTERNS) + options.count:
            break
        best = {1: (float("inf"),) * 3, 2: (float("inf"),) * 3}
        try:
            if engine.build(source).num_masks is None:
                continue
            for _ in range(THREADS_TURNS):
                for number in best:
                    interlock.clear_caches()
                    now = spent(engine.compile(source), number)
                    best[number] = tuple(map(min, best[number], now))
        except interlock.InterlockError:
            continue
        one, two = best[1], best[2]
        rows.append((one, two))
        ratios = f"{one[0] / two[0]:5.2f}x busier {two[1] / one[1]:5.2f} overhead {one[2] / two[2]:5.2f}x wall"
        print(f"{name:40} {one[0] * 1e3:8.2f} ms {two[0] * 1e3:8.2f} ms {ratios}", flush=True)
    for label, least in (("all", 0.0), ("those of 1 ms and more", 1e-3), ("those of 3 ms and more", 3e-3)):
        kept = [r for r in rows if r[0][0] >= least]
        for i, what in ((0, "busier thread"), (1, "both threads"), (2, "wall")) if kept else ():
            sums = sum(r[0][i] for r in kept) / sum(r[1][i] for r in kept)
            median = statistics.median(r[0][i] / r[1][i] for r in kept)
            print(f"{label}, {len(kept)}: {what} {sums:.2f}x in all, {median:.2f}x at the median")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--vocabulary", help="a vocabulary pack")
    parser.add_argument("--threads", action="store_true", help="two threads beside one")
    parser.add_argument("folder", nargs="?", help="MaskBench's files")
    parser.add_argument("count", nargs="?", type=int, default=0, help="how many of its schemas")
    options = parser.parse_args()
    # What is built again is compiled again.
    interlock.set_index_cache_bytes(0)
    (threads if options.threads else compare)(options)


if __name__ == "__main__":
    main()
