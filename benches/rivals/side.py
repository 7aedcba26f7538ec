"""Every engine on every source: fresh, warm and again; answers; memory.

* *fresh*: a process in which nothing but the vocabulary is ready meets the source. Three such processes for each source
  and engine, the engines taking turns; of each position the least of the three counts.
* *again*: the same process compiles the same source once more and follows its members once more, caches on.
* *warm*: one process meets all sources one after the other and keeps them. Three such processes as well.

Before that every engine meets every source once, two at a time where the machine has two processors. What takes an
engine over a quarter of a second there is not measured again for it: that time stands in its columns *fresh* and
*warm*. What takes longer than the limit, or more memory than there is reason for, counts as failed.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from corpus import Source, sources
from workers import Worker, job_of, least

SLOW = 250_000_000


def fast(answer: dict[str, Any]) -> bool:
    """Whether a source is worth measuring again."""
    return "error" not in answer and answer["compile"] < SLOW


def screen(workers: dict[str, Worker], jobs: list[dict[str, Any]], limit: float) -> dict[str, list[dict[str, Any]]]:
    """Every source once by every engine, the slowest engine beside the others."""
    beside = [name for name in workers if name == "outlines-core"]
    turns = [[name for name in workers if name not in beside], beside]
    answers: dict[str, list[dict[str, Any]]] = {name: [] for name in workers}

    def turn(names: list[str]) -> None:
        for job in jobs:
            for name in names:
                answers[name].append(workers[name].ask("source", limit, **job))

    if (os.cpu_count() or 1) > 1:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(turn, turns))
    else:
        turn(list(workers))
    return answers


def measure(engines: list[str], quick: bool, chosen: list[Source] | None = None) -> dict[str, Any]:
    """Everything this part of the page needs, as plain lists and dictionaries; of the corpus, unless told of what."""
    chosen = sources() if chosen is None else chosen
    rounds, limit, chosen = (1, 2.0, chosen[::5]) if quick else (3, 4.0, chosen)
    jobs = [job_of(source) for source in chosen]
    workers = {name: Worker(name) for name in engines}
    screened = screen(workers, jobs, limit)
    print("side by side: screened", file=sys.stderr, flush=True)
    answers = {name: [[] if fast(answer) else [answer] for answer in screened[name]] for name in engines}
    for r in range(rounds):
        for i, job in enumerate(jobs):
            for name, worker in workers.items():
                if fast(screened[name][i]):
                    answers[name][i].append(worker.ask("source", 2 * limit, **job))
        print(f"side by side: round {r + 1} of {rounds}", file=sys.stderr, flush=True)
    passes: dict[str, list[dict[str, Any]]] = {name: [] for name in engines}
    for r in range(rounds):
        for name, worker in workers.items():
            some = [i for i, answer in enumerate(screened[name]) if fast(answer)]
            done = worker.ask("warm", 60, sources=[jobs[i] for i in some])
            if "error" in done:
                print(f"{name}: no warm pass: {done['error']}", file=sys.stderr)
            else:
                passes[name].append({**done, "of": some})
        print(f"side by side: warm round {r + 1} of {rounds}", file=sys.stderr, flush=True)
    ready = {name: worker.ready for name, worker in workers.items()}
    for worker in workers.values():
        worker.close()
    return {
        "sources": [{"name": source.name, "kind": source.kind, "group": source.group} for source in chosen],
        "rounds": rounds,
        "limit": limit,
        "engines": {name: gather(answers[name], passes[name], ready[name], chosen) for name in engines},
    }


def gather(
    answers: list[list[dict[str, Any]]], passes: list[dict[str, Any]], ready: dict[str, Any], chosen: list[Source]
) -> dict[str, Any]:
    """One engine's figures: nanoseconds by column and source, and counts of wrong answers by source."""
    columns = ("fresh", "warm", "again")
    compile: dict[str, list[int | None]] = {column: [] for column in columns}
    masks: dict[str, list[list[int]]] = {column: [] for column in columns}
    failed: dict[str, str] = {}
    refused: dict[str, int] = {}
    accepted: dict[str, int] = {}
    for i, seen in enumerate(answers):
        good = [answer for answer in seen if "error" not in answer]
        if not good or len(good) < len(seen):
            failed[chosen[i].name] = next(answer["error"] for answer in seen if "error" in answer)
            for column in columns:
                compile[column].append(None)
                masks[column].append([])
            continue
        if good[0]["refused"]:
            refused[chosen[i].name] = good[0]["refused"]
        if good[0]["accepted"]:
            accepted[chosen[i].name] = good[0]["accepted"]
        compile["fresh"].append(min(answer["compile"] for answer in good))
        compile["again"].append(min(answer["compile again"] for answer in good))
        masks["fresh"].append(least([answer["masks"] for answer in good]))
        masks["again"].append(least([answer["masks again"] for answer in good]))
        warm = [done["rows"][done["of"].index(i)] for done in passes if i in done["of"]]
        warm = [row for row in warm if row]
        compile["warm"].append(min(row["compile"] for row in warm) if warm else compile["fresh"][-1])
        masks["warm"].append(least([row["masks"] for row in warm]) if warm else masks["fresh"][-1])
    first = passes[0] if passes else {"rows": [], "grew": 0, "resident": ready["resident"]}
    rows = [row for row in first["rows"] if row]
    return {
        "compile": compile,
        "masks": masks,
        "failed": failed,
        "refused": refused,
        "accepted": accepted,
        "memory": {
            "ready": ready["resident"] - ready["before"],
            "seconds": ready["seconds"],
            "resident": first["resident"],
            "grew": first["grew"],
            "indexes": len(rows),
            "each": [row["grew"] for row in rows],
            "held": [row["held"] for row in rows if row["held"] is not None],
        },
    }
