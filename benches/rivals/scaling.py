"""How cost grows: with properties, tools, the vocabulary, the batch, threads, and the length of the text.

Each point is the least of three fresh processes (one for what takes over a second). An engine's line ends where a point
takes longer than the limit or is refused. Every member is followed to its end, and the end is asserted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import corpus
from corpus import Source
from workers import Worker, job_of, least

SIZES = (1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000)
TOOLS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
VOCABULARIES = (32_000, 128_256, 256_000)
BATCHES = (1, 4, 16, 64, 256, 1_024)
BLOCK = 1_000
ALL = ("interlock", "interlock, any order", "llguidance", "xgrammar")


def point(worker: Worker, source: Source, limit: float, rounds: int, size: int = 128_256) -> dict[str, Any]:
    """Compile with first mask and the masks of one source, as nanoseconds."""
    job, seen = job_of(source, size), []
    while len(seen) < rounds:
        answer = worker.ask("source", limit, **job)
        if "error" in answer or answer["refused"]:
            return {"error": answer.get("error", "a member was refused")}
        seen.append(answer)
        if answer["compile"] > 1_000_000_000:
            break
    masks = least([answer["masks"] for answer in seen])
    return {
        "compile": min(answer["compile"] for answer in seen),
        "mask": sum(masks) / len(masks),
        "slowest": max(masks),
        "again": sum(least([answer["masks again"] for answer in seen])) / len(masks),
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


def vocabularies(rounds: int, limit: float, quick: bool) -> list[dict[str, Any]]:
    """interlock over three vocabularies: making one, and the schemas of the corpus over it."""
    chosen = [source for source in corpus.sources() if source.kind == "schema"][:: 10 if quick else 3]
    rows = []
    for size in VOCABULARIES:
        with Worker("interlock", size) as worker:
            points = [point(worker, source, limit, rounds, size) for source in chosen]
            assert not any("error" in p for p in points), "a schema of the corpus failed"
            mean = {key: sum(p[key] for p in points) / len(points) for key in ("compile", "mask", "again")}
            rows.append({"x": size, "vocabulary": worker.ready["seconds"] * 1e9, **mean})
    return rows


def batches(workers: dict[str, Worker], limit: float, quick: bool) -> dict[str, Any]:
    """Nanoseconds of one call by engine, threads and size of the batch."""
    source = next(source for source in corpus.sources() if source.name == "resource: order")
    out: dict[str, Any] = {}
    for name, worker in workers.items():
        lines: dict[str, list[dict[str, Any]]] = {"1": [], "2": []}
        for size in BATCHES[::2] if quick else BATCHES:
            job = job_of(source)
            answer = worker.ask("batch", limit, **job, size=size, threads=[1, 2], rounds=20 if quick else 60)
            if "error" in answer:
                print(f"{name}, batch {size}: {answer['error']}", file=sys.stderr)
                break
            for threads, line in lines.items():
                line.append({"x": size, "fill": answer["best"][threads]})
        out[name] = lines
    return out


def texts(workers: dict[str, Worker], limit: float, quick: bool) -> dict[str, Any]:
    """Mean nanoseconds a token in each block of positions of two long texts."""
    length = 20_000 if quick else 100_000
    out: dict[str, Any] = {}
    for title, (source, ids) in corpus.long_texts(corpus.vocabulary(), length).items():
        job = {"kind": source.kind, "text": source.text, "members": [ids], "outsiders": [], "block": BLOCK}
        lines = {}
        for name, worker in workers.items():
            answer = worker.ask("long_text", limit, **job)
            if "error" in answer or answer["refused"]:
                print(f"{name}, {title}: {answer.get('error', 'refused')}", file=sys.stderr)
            else:
                lines[name] = [{"x": (i + 1) * BLOCK, "mask": ns / BLOCK} for i, ns in enumerate(answer["blocks"])]
        out[title] = lines
    return out


def measure(engines: list[str], quick: bool) -> dict[str, Any]:
    """All lines."""
    rounds, limit = (1, 2.5) if quick else (3, 6.0)
    workers = {name: Worker(name) for name in ALL if name in engines}
    out: dict[str, Any] = {"rounds": rounds, "limit": limit}
    try:
        out["properties"] = series(workers, corpus.wide, SIZES[::2] if quick else SIZES, limit, rounds)
        print("scaling: properties", file=sys.stderr, flush=True)
        out["tools"] = series(workers, corpus.tools, TOOLS[::2] if quick else TOOLS, limit, rounds)
        print("scaling: tools", file=sys.stderr, flush=True)
        some = {name: worker for name, worker in workers.items() if name != "interlock, any order"}
        out["batches"] = batches(some, 4 * limit, quick)
        out["texts"] = texts(some, 5 * limit, quick)
        print("scaling: batches, texts", file=sys.stderr, flush=True)
    finally:
        for worker in workers.values():
            worker.close()
    out["vocabularies"] = vocabularies(rounds, limit, quick)
    print("scaling: vocabularies", file=sys.stderr, flush=True)
    return out
