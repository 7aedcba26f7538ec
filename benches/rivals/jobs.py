"""What a child of a worker does: every function takes the engine and the job and gives what JSON can hold.

Times are nanoseconds by `perf_counter_ns`, taken around the engine's calls alone; what checks an answer runs between
them. A mask that lacks a member's token or has one that no mask may have, an end that is not allowed and an outsider
that is accepted are counted. What of a mask is looked at is made wrong before it is filled.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from answers import clear, digest
from engines import Engine
from machine import resident

now = time.perf_counter_ns
# Nanoseconds from which a compile is not repeated.
SLOW = 250_000_000


@dataclass
class Walk:
    """A text followed: nanoseconds at each position, whether it was accepted to its end, and how many masks had the
    token that none may have."""

    times: list[int]
    passed: bool
    wide: int


def walk(engine: Engine, compiled: Any, ids: list[int], never: int | None) -> Walk:
    """A new session along a text."""
    times, wide = [], 0
    session = engine.start(compiled)
    fill, take, spoil, allows = engine.fill, engine.take, engine.spoil, engine.allows
    for token in ids:
        spoil(token, never)
        begin = now()
        fill(session)
        answer = take(session, token)
        times.append(now() - begin)
        # The mask stays as it was filled while the token is taken.
        wide += engine.wide(never)
        if answer is False or not allows(token):
            return Walk(times, False, wide)
    return Walk(times, ends(engine, session), wide)


def ends(engine: Engine, session: Any) -> bool:
    """Whether the output may end where the session is."""
    engine.spoil(engine.stop, None)
    engine.fill(session)
    return engine.allows(engine.stop)


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
            engine.spoil(token, None)
            engine.fill(session)
            if not engine.allows(token) or engine.take(session, token) is False:
                return False
        return ends(engine, session)
    except Exception:
        return False


def source(engine: Engine, job: dict[str, Any]) -> dict[str, Any]:
    """One source in a fresh process, and once more in the same process."""
    took, compiled = compile_and_fill(engine, job)
    walks = [walk(engine, compiled, ids, job["never"]) for ids in job["members"]]
    out: dict[str, Any] = {"compile": took, "masks": [along.times for along in walks]}
    out["passed"] = [along.passed for along in walks]
    out["wide"] = sum(along.wide for along in walks)
    # What caches nothing compiles as slowly again, which need not be waited for.
    out["compile again"] = compile_and_fill(engine, job)[0] if engine.caches or took < SLOW else took
    out["masks again"] = [walk(engine, compiled, ids, job["never"]).times for ids in job["members"]]
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
            masks = [walk(engine, compiled, ids, item["never"]).times for ids in item["members"]]
            rows.append({"compile": took, "masks": masks, "grew": resident() - before, "held": engine.held(compiled)})
        except Exception:
            rows.append(None)
    return {"rows": rows, "grew": resident() - start, "resident": resident()}


def batch(engine: Engine, job: dict[str, Any]) -> dict[str, Any]:
    """One call that fills the masks of many sessions, each at a place of its own along its source's first member.

    *cold*: the first call of the process, for places to which the sessions came without a mask. *known*: the calls
    after every mask of all members was filled once; in between everybody moves on by one, and who is at the end starts
    again, so that no session is asked twice for the mask of one place.
    """
    sources, size = job["sources"], job["size"]
    compiled = [engine.compile(source["kind"], source["text"]) for source in sources]
    members = [source["members"][0] for source in sources]
    which = [i % len(sources) for i in range(size)]
    places = [i * len(members[at]) // size for i, at in enumerate(which)]
    sessions = [engine.start(compiled[at]) for at in which]
    for session, at, place in zip(sessions, which, places, strict=True):
        for token in members[at][:place]:
            engine.take(session, token)
    fill, bits = FILLERS[engine.module](engine, size, job["threads"])

    def timed() -> tuple[int, list[int]]:
        clear(bits)
        begin = now()
        fill(sessions)
        took = now() - begin
        return took, [digest(row) for row in bits]

    cold, found = timed()
    expected = [digests(engine, start, source) for start, source in zip(compiled, sources, strict=True)]
    known = []
    for turn in range(job["rounds"] + 1):
        right = [expected[at][place] for at, place in zip(which, places, strict=True)]
        assert found == right or not engine.answers, "a mask of the batch is not that of its session alone"
        if turn == job["rounds"]:
            break
        for i, (session, at) in enumerate(zip(sessions, which, strict=True)):
            engine.take(session, members[at][places[i]])
            places[i] += 1
            if places[i] == len(members[at]):
                sessions[i], places[i] = engine.start(compiled[at]), 0
        took, found = timed()
        known.append(took)
    return {"cold": cold, "known": known}


def digests(engine: Engine, compiled: Any, source: dict[str, Any]) -> list[int]:
    """Digests of the masks along a member, filled one by one."""
    session, found = engine.start(compiled), []
    for token in source["members"][0]:
        engine.spoil(token, None)
        engine.fill(session)
        assert engine.allows(token), "a mask lacks the member's token"
        found.append(digest(engine.bits[0]))
        engine.take(session, token)
    return found


def _nothing(engine: Any, size: int, threads: int) -> tuple[Any, Any]:
    return lambda sessions: None, engine.bits.repeat(size, axis=0)


def _interlock(engine: Any, size: int, threads: int) -> tuple[Any, Any]:
    bits, many = engine.library.allocate_bitmask(size, engine.vocabulary), engine.library.fill_bitmasks
    return lambda guides: many(guides, bits, threads=threads), bits


def _xgrammar(engine: Any, size: int, threads: int) -> tuple[Any, Any]:
    bits = engine.library.allocate_token_bitmask(size, engine.bits.shape[1] * 32)
    fill = engine.library.BatchGrammarMatcher(max_threads=threads).batch_fill_next_token_bitmask
    return lambda matchers: fill(matchers, bits), bits.numpy()


def _llguidance(engine: Any, size: int, threads: int) -> tuple[Any, Any]:
    from llguidance import LLExecutor
    from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask_par

    bits, pool = allocate_token_bitmask(size, engine.tokenizer.vocab_size), LLExecutor(threads)

    def fill(matchers: list[Any]) -> None:
        fill_next_token_bitmask_par(pool, [(matcher, i) for i, matcher in enumerate(matchers)], bits)

    return fill, bits


#: By module: what fills the masks of a list of sessions on so many threads, and the array that it fills.
FILLERS = {"": _nothing, "interlock": _interlock, "xgrammar": _xgrammar, "llguidance": _llguidance}


def long_text(engine: Engine, job: dict[str, Any]) -> dict[str, Any]:
    """One session along a very long member: nanoseconds in each block of positions."""
    compiled = engine.compile(job["kind"], job["text"])
    along = walk(engine, compiled, job["members"][0], None)
    size, times = job["block"], along.times
    parts = [times[i : i + size] for i in range(0, len(times) - size + 1, size)]
    return {"refused": int(not along.passed), "blocks": [sum(part) for part in parts]}
