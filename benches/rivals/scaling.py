"""How cost grows: with properties, tools, the vocabulary, the batch, threads, and the length of the text.

Each point is the least of three fresh processes (of one where compiling takes over a second), at each position; of
batches the first call, and the median over the places. An engine's line ends where a point takes longer than the limit,
the source is refused or a member is. Every member is followed to its end, and the end is asserted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import median
from typing import Any

import corpus
from corpus import Source
from workers import Worker, job_of, least, least_each

SIZES = (1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000)
TOOLS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
VOCABULARIES = (32_000, 128_256, 256_000)
# The others take too long over so many vocabularies: seconds for many a schema.
OVER_VOCABULARIES = ("nothing", "interlock", "llguidance")
BATCHES = (1, 4, 16, 64, 256, 1_024)
INDEXES = (1, 4, 16, 64, 256)
# How often a batch is filled again after everybody moved on.
MOVES = 24
BLOCK = 1_000
WRONG = "a member was refused"
# What batches and texts are not asked of: `outlines-core` has no call for the former and takes minutes for the latter.
ONE_BY_ONE = ("interlock, any order", "outlines-core")


def point(worker: Worker, source: Source, limit: float, rounds: int, size: int = 128_256) -> dict[str, Any]:
    """Compile with first mask and the masks of one source, as nanoseconds."""
    job, seen = job_of(source, size), []
    while len(seen) < rounds:
        answer = worker.ask("source", limit, **job)
        if "error" in answer or not all(answer["passed"]):
            return {"error": answer.get("error", WRONG)}
        seen.append(answer)
        if answer["compile"] > 1_000_000_000:
            break
    masks, again = (
        [t for times in least_each([answer[key] for answer in seen]) for t in times] for key in ("masks", "masks again")
    )
    return {
        "compile": min(answer["compile"] for answer in seen),
        "mask": sum(masks) / len(masks),
        "slowest": max(masks),
        "again": sum(again) / len(again),
    }


def series(
    workers: dict[str, Worker], make: Callable[[int], Source], at: tuple[int, ...], limit: float, rounds: int
) -> dict[str, Any]:
    """A line for each engine."""
    lines: dict[str, list[dict[str, Any]]] = {name: [] for name in workers}
    for x in at:
        source = make(x)
        for name, worker in workers.items():
            if not lines[name] or "error" not in lines[name][-1]:
                lines[name].append({"x": x, **point(worker, source, limit, rounds)})
    return {name: line for name, line in lines.items() if line}


def vocabularies(names: list[str], rounds: int, limit: float, quick: bool) -> dict[str, Any]:
    """Making vocabularies of three sizes, and every third schema of the corpus over them, as far as all compile it."""
    chosen = [source for source in corpus.sources() if source.kind == "schema"][:: 10 if quick else 3]
    sizes = [size for size in VOCABULARIES if size <= 128_256 or corpus.larger()]
    if len(sizes) < len(VOCABULARIES):
        packages = " and ".join(package for package, _ in corpus.LARGER)
        print(f"no vocabulary of {VOCABULARIES[-1]:,} tokens: {packages} are not both installed", file=sys.stderr)
    names = [name for name in OVER_VOCABULARIES if name in names]
    seconds: dict[str, list[float]] = {name: [] for name in names}
    points: dict[str, list[list[dict[str, Any]]]] = {name: [] for name in names}
    for size in sizes:
        for name in names:
            with Worker(name, size) as worker:
                points[name].append([point(worker, source, limit, rounds, size) for source in chosen])
                seconds[name].append(worker.ready["seconds"])
    same = [i for i in range(len(chosen)) if not any("error" in at[i] for by in points.values() for at in by)]
    lines: dict[str, list[dict[str, Any]]] = {}
    for name in names:
        lines[name] = []
        for size, took, at in zip(sizes, seconds[name], points[name], strict=True):
            mean = {key: sum(at[i][key] for i in same) / len(same) for key in ("compile", "mask", "again")}
            lines[name].append({"x": size, "vocabulary": took * 1e9, **mean})
    assert not any("error" in p for at in points["interlock"] for p in at), "a schema of the corpus failed"
    return {"lines": lines, "schemas": len(same), "of": len(chosen)}


def batches(workers: dict[str, Worker], limit: float, rounds: int, quick: bool) -> dict[str, Any]:
    """One call by engine, by the title of its line and by the size of the batch: the first of a process, and one whose
    masks are all known, the median over the places of the least of the processes."""
    order = job_of(next(source for source in corpus.sources() if source.name == "resource: order"))
    records = [job_of(source) for source in corpus.records(max(INDEXES))]
    turns = [(f"one index, {threads} thread{'s' * (threads > 1)}", threads, None, BATCHES) for threads in (1, 2)]
    turns.append(("an index for each guide, 1 thread", 1, records, INDEXES))
    out: dict[str, Any] = {name: {title: [] for title, *_ in turns} for name in workers}
    for title, threads, sources, sizes in turns:
        for size in sizes[:: 2 if quick else 1]:
            for name, worker in workers.items():
                line = out[name][title]
                if not line or "error" not in line[-1]:
                    some = sources[:size] if sources else [order]
                    line.append({"x": size, **call(worker, some, limit, rounds, size, threads)})
    return out


def call(
    worker: Worker, sources: list[dict[str, Any]], limit: float, rounds: int, size: int, threads: int
) -> dict[str, Any]:
    """One size of a batch, as nanoseconds."""
    job = {"sources": sources, "size": size, "threads": threads, "rounds": MOVES}
    seen = [worker.ask("batch", limit, **job) for _ in range(rounds)]
    if failed := next((answer["error"] for answer in seen if "error" in answer), None):
        print(f"{worker.engine}, batch {size}: {failed}", file=sys.stderr)
        return {"error": failed}
    known = median(least([answer["known"] for answer in seen]))
    return {"cold": min(answer["cold"] for answer in seen), "known": known}


def texts(workers: dict[str, Worker], limit: float, rounds: int, quick: bool) -> dict[str, Any]:
    """Mean nanoseconds a token in each block of positions of two long texts."""
    length = 20_000 if quick else 100_000
    out: dict[str, Any] = {}
    for title, (source, ids) in corpus.long_texts(corpus.vocabulary(), length).items():
        job = {"kind": source.kind, "text": source.text, "members": [ids], "block": BLOCK}
        lines = {}
        for name, worker in workers.items():
            seen = [worker.ask("long_text", limit, **job) for _ in range(rounds)]
            if wrong := next((str(a.get("error", WRONG)) for a in seen if "error" in a or a["refused"]), None):
                print(f"{name}, {title}: {wrong}", file=sys.stderr)
                continue
            blocks = least([answer["blocks"] for answer in seen])
            lines[name] = [{"x": (i + 1) * BLOCK, "mask": ns / BLOCK} for i, ns in enumerate(blocks)]
        out[title] = lines
    return out


def measure(engines: list[str], quick: bool) -> dict[str, Any]:
    """All lines."""
    rounds, limit = (1, 2.5) if quick else (3, 6.0)
    workers = {name: Worker(name) for name in engines}
    out: dict[str, Any] = {"rounds": rounds, "limit": limit, "moves": MOVES}
    try:
        out["properties"] = series(workers, corpus.wide, SIZES[::2] if quick else SIZES, limit, rounds)
        print("scaling: properties", file=sys.stderr, flush=True)
        out["tools"] = series(workers, corpus.tools, TOOLS[::2] if quick else TOOLS, limit, rounds)
        print("scaling: tools", file=sys.stderr, flush=True)
        some = {name: worker for name, worker in workers.items() if name not in ONE_BY_ONE}
        out["batches"] = batches(some, 10 * limit, rounds, quick)
        out["texts"] = texts(some, 5 * limit, rounds, quick)
        print("scaling: batches, texts", file=sys.stderr, flush=True)
    finally:
        for worker in workers.values():
            worker.close()
    out["vocabularies"] = vocabularies(engines, rounds, limit, quick)
    print("scaling: vocabularies", file=sys.stderr, flush=True)
    return out
