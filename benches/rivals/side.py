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
from jobs import SLOW
from workers import Worker, job_of, least_each


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
    kept = {name: [i for i, answer in enumerate(screened[name]) if fast(answer)] for name in engines}
    for r in range(rounds):
        for name, worker in workers.items():
            some = kept[name]
            done = worker.ask("warm", 240, sources=[jobs[i] for i in some])
            if "error" in done:
                print(f"{name}: no warm pass: {done['error']}", file=sys.stderr)
            else:
                passes[name].append({**done, "of": some})
        print(f"side by side: warm round {r + 1} of {rounds}", file=sys.stderr, flush=True)
    for worker in workers.values():
        worker.close()
    held = {name: memory(name, [jobs[i] for i in kept[name]]) for name in engines}
    return {
        "sources": [
            {"name": source.name, "kind": source.kind, "group": source.group, "outsiders": len(source.outsiders)}
            for source in chosen
        ],
        "rounds": rounds,
        "limit": limit,
        "engines": {name: gather(answers[name], passes[name], held[name], chosen) for name in engines},
    }


def memory(name: str, some: list[dict[str, Any]]) -> dict[str, Any]:
    """Bytes of a process of its own, which forks nothing and keeps all sources: what a child shares with its parent
    is not counted as the child's where it does not touch it."""
    with Worker(name) as worker:
        done, ready = worker.ask("warm", 0, alone=True, sources=some), worker.ready
    rows = [row for row in done["rows"] if row]
    return {
        "ready": ready["resident"] - ready["before"],
        "seconds": ready["seconds"],
        "torch": ready["torch"],
        "resident": done["resident"],
        "grew": done["grew"],
        "indexes": len(rows),
        "each": [row["grew"] for row in rows],
        "held": [row["held"] for row in rows if row["held"] is not None],
    }


def gather(
    answers: list[list[dict[str, Any]]], passes: list[dict[str, Any]], held: dict[str, Any], chosen: list[Source]
) -> dict[str, Any]:
    """One engine's figures: nanoseconds by column and source, and counts of wrong answers by source. Masks are
    lists of members, with whether each was followed to its end beside them."""
    columns = ("fresh", "warm", "again")
    compile: dict[str, list[int | None]] = {column: [] for column in columns}
    masks: dict[str, list[list[list[int]]]] = {column: [] for column in columns}
    passed: list[list[bool]] = []
    failed: dict[str, str] = {}
    refused: dict[str, int] = {}
    accepted: dict[str, int] = {}
    wide: dict[str, int] = {}
    for i, seen in enumerate(answers):
        good = [answer for answer in seen if "error" not in answer]
        if not good or len(good) < len(seen):
            failed[chosen[i].name] = next(answer["error"] for answer in seen if "error" in answer)
            for column in columns:
                compile[column].append(None)
                masks[column].append([])
            passed.append([])
            continue
        passed.append(good[0]["passed"])
        if not all(good[0]["passed"]):
            refused[chosen[i].name] = good[0]["passed"].count(False)
        if good[0]["accepted"]:
            accepted[chosen[i].name] = good[0]["accepted"]
        if good[0]["wide"]:
            wide[chosen[i].name] = good[0]["wide"]
        compile["fresh"].append(min(answer["compile"] for answer in good))
        compile["again"].append(min(answer["compile again"] for answer in good))
        masks["fresh"].append(least_each([answer["masks"] for answer in good]))
        masks["again"].append(least_each([answer["masks again"] for answer in good]))
        warm = [done["rows"][done["of"].index(i)] for done in passes if i in done["of"]]
        warm = [row for row in warm if row]
        compile["warm"].append(min(row["compile"] for row in warm) if warm else compile["fresh"][-1])
        masks["warm"].append(least_each([row["masks"] for row in warm]) if warm else masks["fresh"][-1])
    return {
        "compile": compile,
        "masks": masks,
        "passed": passed,
        "failed": failed,
        "refused": refused,
        "accepted": accepted,
        "wide": wide,
        "memory": held,
    }
