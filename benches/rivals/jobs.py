"""What a child of a worker does: every function takes the engine and the job and gives what JSON can hold.

Times are nanoseconds by `perf_counter_ns`, taken around the engine's calls alone; what checks an answer runs between
them. A mask that lacks a member's token, an end that is not allowed and an outsider that is accepted are counted.
"""

from __future__ import annotations

import os
import time
from typing import Any

from engines import Engine

now = time.perf_counter_ns


def resident() -> int:
    """Bytes of this process in memory, its own and those that it shares."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def walk(engine: Engine, compiled: Any, ids: list[int]) -> tuple[list[int], bool]:
    """The time of each position, and whether the text was accepted to its end."""
    times = []
    session = engine.start(compiled)
    fill, take, allows = engine.fill, engine.take, engine.allows
    for token in ids:
        begin = now()
        fill(session)
        answer = take(session, token)
        times.append(now() - begin)
        # The mask stays as it was filled while the token is taken.
        if answer is False or not allows(token):
            return times, False
    fill(session)
    return times, engine.ended(session)


def compile_and_fill(engine: Engine, job: dict[str, Any]) -> tuple[int, Any]:
    """From the source's text to the first mask."""
    begin = now()
    compiled = engine.compile(job["kind"], job["text"])
    engine.fill(engine.start(compiled))
    return now() - begin, compiled


def accepts(engine: Engine, compiled: Any, ids: list[int]) -> bool:
    """Whether a text is accepted; an exception on the way counts as a refusal."""
    try:
        session = engine.start(compiled)
        for token in ids:
            engine.fill(session)
            if not engine.allows(token) or engine.take(session, token) is False:
                return False
        engine.fill(session)
        return engine.ended(session)
    except Exception:
        return False


def source(engine: Engine, job: dict[str, Any]) -> dict[str, Any]:
    """One source in a fresh process, and once more in the same process."""
    took, compiled = compile_and_fill(engine, job)
    out: dict[str, Any] = {"compile": took, "masks": [], "refused": 0}
    for ids in job["members"]:
        times, ok = walk(engine, compiled, ids)
        out["masks"] += times
        out["refused"] += not ok
    # What caches nothing compiles as slowly again, which need not be waited for.
    out["compile again"] = compile_and_fill(engine, job)[0] if engine.caches or took < 50_000_000 else took
    out["masks again"] = [t for ids in job["members"] for t in walk(engine, compiled, ids)[0]]
    out["accepted"] = sum(accepts(engine, compiled, ids) for ids in job["outsiders"])
    out["held"] = engine.held(compiled)
    return out


def warm(engine: Engine, job: dict[str, Any]) -> dict[str, Any]:
    """Many sources one after the other in one process, all kept: times, and by how much the process grew."""
    rows: list[Any] = []
    kept = []
    start = resident()
    for item in job["sources"]:
        try:
            before = resident()
            took, compiled = compile_and_fill(engine, item)
            kept.append(compiled)
            masks = [t for ids in item["members"] for t in walk(engine, compiled, ids)[0]]
            rows.append({"compile": took, "masks": masks, "grew": resident() - before, "held": engine.held(compiled)})
        except Exception:
            rows.append(None)
    return {"rows": rows, "grew": resident() - start, "resident": resident()}


def batch(engine: Engine, job: dict[str, Any]) -> dict[str, Any]:
    """One call that fills the masks of many sessions along one member, by number of threads: the least of many, each
    with other positions."""
    import numpy as np

    compiled = engine.compile(job["kind"], job["text"])
    ids, size = job["members"][0], job["size"]
    sessions = [engine.start(compiled) for _ in range(size)]
    fillers = FILLERS[engine.module](engine, size, job["threads"])
    best = {threads: float("inf") for threads in job["threads"]}
    places = [(i * len(ids)) // size for i in range(size)]
    for session, place in zip(sessions, places, strict=True):
        for token in ids[:place]:
            engine.fill(session)
            engine.take(session, token)
    for _ in range(job["rounds"]):
        for threads, (fill, rows) in fillers.items():
            begin = now()
            fill(sessions)
            best[threads] = min(best[threads], now() - begin)
            words = np.asarray(rows())
            for row, place in enumerate(places):
                token = ids[place]
                assert words[row, token >> 5] >> (token & 31) & 1, "a mask of the batch lacks its token"
        # Everybody moves on by one, the last goes back to the start: nothing is asked for twice in a row.
        for i, session in enumerate(sessions):
            engine.take(session, ids[places[i]])
            places[i] += 1
            if places[i] == len(ids):
                sessions[i], places[i] = engine.start(compiled), 0
    return {"best": {str(threads): ns for threads, ns in best.items()}}


def _interlock(engine: Any, size: int, threads: list[int]) -> dict[int, Any]:
    bits = engine.library.allocate_bitmask(size, engine.vocabulary)
    many = engine.library.fill_bitmasks
    return {n: (lambda guides, n=n: many(guides, bits, threads=n), lambda: bits) for n in threads}


def _xgrammar(engine: Any, size: int, threads: list[int]) -> dict[int, Any]:
    bits = engine.library.allocate_token_bitmask(size, engine.bits.shape[1] * 32)
    out = {}
    for n in threads:
        fill = engine.library.BatchGrammarMatcher(max_threads=n).batch_fill_next_token_bitmask
        out[n] = (lambda matchers, fill=fill: fill(matchers, bits), bits.numpy)
    return out


def _llguidance(engine: Any, size: int, threads: list[int]) -> dict[int, Any]:
    from llguidance import LLExecutor
    from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask_par

    bits = allocate_token_bitmask(size, engine.tokenizer.vocab_size)
    out = {}
    for n in threads:
        pool = LLExecutor(n)

        def fill(matchers: list[Any], pool: Any = pool) -> None:
            fill_next_token_bitmask_par(pool, [(matcher, i) for i, matcher in enumerate(matchers)], bits)

        out[n] = (fill, lambda: bits)
    return out


FILLERS = {"interlock": _interlock, "xgrammar": _xgrammar, "llguidance": _llguidance}


def long_text(engine: Engine, job: dict[str, Any]) -> dict[str, Any]:
    """One session along a very long member: nanoseconds in each block of positions."""
    compiled = engine.compile(job["kind"], job["text"])
    times, ok = walk(engine, compiled, job["members"][0])
    size = job["block"]
    return {"refused": int(not ok), "blocks": [sum(times[i : i + size]) for i in range(0, len(times) - size + 1, size)]}
