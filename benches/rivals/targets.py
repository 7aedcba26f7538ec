"""The targets that the design sets for real schemas, and what was measured beside them.

Figures are those of the table "Targets" of the design. It names no column for masks; what is judged is *warm*, as for
compiling, and a fresh process stands beside it without a judgement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from corpus import Source
from jobs import SLOW
from page import enough, followed, percentile, table
from scaling import call
from workers import Worker, job_of

GUIDES = 256
# Seconds for a batch, compiling 256 sources included.
LIMIT = 120.0


def batches(names: list[str], chosen: list[Source], side: dict[str, Any]) -> dict[str, Any]:
    """One call for 256 guides by engine: of one index, that of the longest member that all engines follow, and of as
    many indexes as there are whose first member the engine follows, up to one for each guide."""
    jobs = [job_of(source) for source in chosen]
    common = [i for i, members in enumerate(followed(side)) if 0 in members]
    longest = jobs[max(common, key=lambda i: len(jobs[i]["members"][0]))]
    out = {}
    for name in names:
        engine = side["engines"][name]
        took = engine["compile"]["fresh"]
        some = [i for i, passed in enumerate(engine["passed"]) if passed[:1] == [True] and took[i] < SLOW][:GUIDES]
        with Worker(name) as worker:
            many = [jobs[i] for i in some]
            one, each = (call(worker, sources, LIMIT, side["rounds"], GUIDES, 1) for sources in ([longest], many))
        out[name] = {"one": one, "each": each, "indexes": len(some), "tokens": len(longest["members"][0])}
    return out


def milliseconds(column: str, *percents: float) -> Callable[..., list[float] | None]:
    """Percentiles of compile and first mask."""

    def of(results: dict[str, Any], name: str) -> list[float] | None:
        took = [t for t in results["side"]["engines"][name]["compile"][column] if t is not None]
        return [percentile(took, p) / 1e6 for p in percents] if enough(took, percents[-1]) else None

    return of


def microseconds(column: str, *percents: float) -> Callable[..., list[float] | None]:
    """Percentiles of mask and token."""

    def of(results: dict[str, Any], name: str) -> list[float] | None:
        members = results["side"]["engines"][name]["masks"][column]
        took = [t for source in members for member in source for t in member]
        return [percentile(took, p) / 1e3 for p in percents] if enough(took, percents[-1]) else None

    return of


def one_call(key: str) -> Callable[..., list[float] | None]:
    """One call for known masks, in milliseconds."""

    def of(results: dict[str, Any], name: str) -> list[float] | None:
        point = results["batches"][name][key]
        return [point["known"] / 1e6] if "known" in point else None

    return of


def count(key: str, percent: bool = False) -> Callable[..., list[float] | None]:
    """Schemas with something wrong, or percent of them; what answers nothing has neither."""

    def of(results: dict[str, Any], name: str) -> list[float] | None:
        side = results["side"]
        found = len(side["engines"][name][key])
        return None if name == "nothing" else [100 * found / len(side["sources"]) if percent else found]

    return of


#: What is measured, in which unit, how, and what it may be; nothing where the design says nothing.
TARGETS: list[tuple[str, str, Callable[..., list[float] | None], tuple[float, ...]]] = [
    ("compile and first mask, p50, warm", "ms", milliseconds("warm", 50), (0.11,)),
    ("compile and first mask, p50, fresh process", "ms", milliseconds("fresh", 50), (0.3,)),
    ("compile and first mask, p99, warm", "ms", milliseconds("warm", 99), (2,)),
    ("mask and token, p50 / p90, warm", "us", microseconds("warm", 50, 90), (1.5, 3)),
    ("mask and token, p99 / p99.9, warm", "us", microseconds("warm", 99, 99.9), (12, 80)),
    ("mask and token, p50 / p90, fresh process", "us", microseconds("fresh", 50, 90), ()),
    ("mask and token, p99 / p99.9, fresh process", "us", microseconds("fresh", 99, 99.9), ()),
    (f"{GUIDES} guides of one index, known masks, one thread", "ms", one_call("one"), (0.4,)),
    (f"{GUIDES} guides of as many indexes, known masks, one thread", "ms", one_call("each"), (0.8,)),
    ("schemas that do not compile", "%", count("failed", percent=True), (1,)),
    ("schemas with an invalid document accepted", "", count("accepted"), (0,)),
]


def judged(values: list[float] | None, limits: tuple[float, ...]) -> str:
    """Values, and whether they are within the limits."""
    if values is None:
        return "-"
    text = " / ".join(f"{value:.3g}" if value < 1_000 else f"{value:,.0f}" for value in values)
    if not limits:
        return text
    return f"{text}, {'met' if all(v <= most for v, most in zip(values, limits, strict=True)) else '**not met**'}"


def lines(results: dict[str, Any]) -> list[str]:
    """The table: interlock in both orders judged, the others beside it."""
    engines = results["side"]["engines"]
    ours = [name for name in engines if name.startswith("interlock")]
    others = [name for name in engines if name not in ours]
    rows = []
    for title, unit, of, limits in TARGETS:
        target = " / ".join(f"{most:g}" for most in limits) or "-"
        values = [judged(of(results, name), limits) for name in ours]
        values += [judged(of(results, name), ()) for name in others]
        rows.append([f"{title}, {unit}" if unit else title, target, *values])
    return table(["", "at most", *ours, *others], rows)


ABOUT = """The one index is that of the longest member that all engines follow, of {tokens:,} tokens; the others are
those of the first schemas whose first member the engine follows and that it compiles in less than a quarter of a second
({indexes}). Each guide is at a place of its own; every mask was filled once before, and between two calls all guides
move on by one token, as on [the page of the corpus](benchmarks.md). What the official suite says is in
[ARCHITECTURE.md](../ARCHITECTURE.md), by `tests/schema/official_suite.rs`.

A fresh process is a forked child here, which first copies each page of memory that it writes to; the same members in
processes that were started by themselves take a quarter to a third of the time. Of so few sources the 99th percentile
is the second or third largest."""

ORDER = """

`interlock` refuses a member of {refused} schemas. In {order} of them `interlock, any order` accepts all members: there
the declared order of keys is the reason."""


def about(results: dict[str, Any]) -> str:
    """How the batches were made, and why members are refused."""
    side, batch = results["side"], results["batches"]
    indexes = ", ".join(f"{found['indexes']} of {name}" for name, found in batch.items() if name != "nothing")
    declared, free = (side["engines"][name]["refused"] for name in ("interlock", "interlock, any order"))
    order = [name for name in declared if name not in free]
    text = ABOUT.format(tokens=batch["interlock"]["tokens"], indexes=indexes)
    return text + (ORDER.format(refused=len(declared), order=len(order)) if declared else "")
