"""The page: tables, links to the plots, and how everything was measured, bias included."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

COLUMNS = {"fresh": "fresh process", "warm": "warm by other sources", "again": "same source again"}

METHOD = """Made by `make bench`, which measures everything in one run on one machine; see [the
package](../benches/rivals/).

* **Engines** run with their default settings, caches on, one thread unless a table says otherwise, each in processes of
  its own. Forked children meet the sources, so that a *fresh process* has nothing ready but the vocabulary. *Warm by
  other sources* is one process that meets all sources one after the other and keeps them. *Same source again* compiles
  once more in the same process and follows the same members.
* **The engine `nothing`** answers nothing: its line is what the loop and the machine cost. The others pay that as well.
* **Least of {rounds}.** The engines take turns. Each position is measured in {rounds} fresh processes, and the least
  counts, which leaves what the code costs and takes away what the machine did meanwhile. A source that takes an engine
  over a quarter of a second is measured once, while another engine may run on another processor. One that takes more
  than {limit:g} s counts as failed.
* **Answers are checked**: every mask has to allow the next token of the member, the member has to be accepted at its
  end, and outsiders (one for each schema) must not be. Batches, texts and kernels assert theirs as well. Times of wrong
  answers are counted like those of right ones.
* **Tokens** are those of Llama 3, 128,256 of them. 32,000 are its first merges, 256,000 have pairs of tokens added.

**Bias, admitted.** The sources were written by the authors of one of these engines; they are small next to the worst of
the field, and sources that an engine refuses are missing from its times, which flatters engines that refuse the hard
ones (the tables of common sources do without that). `interlock` builds masks on first use and shares them between
sources, so the column *warm* suits it. `xgrammar` does most of its work when it compiles, so short documents make it
look worse than long ones. `outlines-core` builds whole indexes and is not meant for schemas of this size. Its compiles,
and all that take over a quarter of a second, are those least exactly measured. Members follow the declared order of
keys, compact runs of whitespace and the tokenizer's own cuts; models may do otherwise."""


MEMORY = """One process that meets all sources one after the other and keeps them. Sources that take an engine over a
quarter of a second are not among them."""

THREADS = """How many times as many masks several Python threads fill over one index as one thread that makes the same
calls, each for guides of its own (`benches/threads.py`). *Known* masks were asked for before: few of them take less
time than handing on the GIL, which is kept for these. Masks *made anew* are those that nobody asked for before."""

FOUND = """Made by `python benches/rivals --found FOLDER`, as [the page of the corpus](benchmarks.md) is, whose method
and bias it shares: times are microseconds, the least of three processes for each position, and `nothing` is what the
loop and the machine cost."""

GROUPS = {"schema": "Schemas", "pattern": "Patterns", "hard pattern": "Hard patterns"}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table of Markdown, numbers to the right."""
    out = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return out + ["| " + " | ".join(row) + " |" for row in rows] + [""]


def percentile(times: Sequence[float], percent: float) -> float:
    """The smallest time that so many percent do not exceed."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def short(nanoseconds: float) -> str:
    """Microseconds, with as many digits as mean something."""
    us = nanoseconds / 1e3
    return f"{us:,.2f}" if us < 10 else f"{us:,.1f}" if us < 100 else f"{us:,.0f}"


def spread(times: Sequence[float], percents: Sequence[float]) -> str:
    """Percentiles with strokes between."""
    return " / ".join(short(percentile(times, p)) for p in percents) if times else "-"


def answers(side: dict[str, Any]) -> list[str]:
    """What each engine compiled, and what it got wrong."""
    groups = [source["group"] for source in side["sources"]]
    there = [group for group in GROUPS if group in groups]
    rows = []
    for name, engine in side["engines"].items():
        if name == "nothing":
            continue
        good = [group for group, took in zip(groups, engine["compile"]["fresh"], strict=True) if took is not None]
        counts = [f"{good.count(group)} of {groups.count(group)}" for group in there]
        late = sum(reason.startswith("over") for reason in engine["failed"].values())
        rows.append([name, *counts, str(late), str(len(engine["refused"])), str(len(engine["accepted"]))])
    head = ["engine", *(GROUPS[group].lower() for group in there), "of the failed: too slow"]
    return table([*head, "sources with a member refused", "schemas with an outsider accepted"], rows)


def compiles(side: dict[str, Any], group: str, among: set[int] | None = None) -> list[str]:
    """Compile and first mask, in microseconds, over one group of sources."""
    chosen = [i for i, source in enumerate(side["sources"]) if source["group"] == group]
    chosen = [i for i in chosen if among is None or i in among]
    # Of fewer sources, one in a hundred is none.
    titles, percents = (
        ("p50 / p90 / max", (50, 90, 100)) if len(chosen) < 100 else ("p50 / p90 / p99 / max", (50, 90, 99, 100))
    )
    rows = []
    for name, engine in side["engines"].items():
        took = {column: [t for i in chosen if (t := engine["compile"][column][i]) is not None] for column in COLUMNS}
        cells = [spread(took[column], percents) for column in COLUMNS]
        rows.append([name, str(len(took["fresh"])), *cells])
    return table(["engine", "sources", *(f"{title}: {titles}" for title in COLUMNS.values())], rows)


def masks(side: dict[str, Any], groups: Sequence[str], among: set[int] | None = None) -> list[str]:
    """Mask and token, in microseconds, over some groups of sources."""
    chosen = [i for i, source in enumerate(side["sources"]) if source["group"] in groups]
    chosen = [i for i in chosen if among is None or i in among]
    rows = []
    for name, engine in side["engines"].items():
        took = {column: [t for i in chosen for t in engine["masks"][column][i]] for column in COLUMNS}
        cells = [spread(took[column], (50, 90, 99, 99.9, 100)) for column in COLUMNS]
        rows.append([name, f"{len(took['fresh']):,}", *cells])
    return table(["engine", "positions", *(f"{t}: p50 / p90 / p99 / p99.9 / max" for t in COLUMNS.values())], rows)


def common(side: dict[str, Any]) -> set[int]:
    """The sources that every engine compiled but outlines-core, which would leave few."""
    engines = [engine for name, engine in side["engines"].items() if name not in ("nothing", "outlines-core")]
    return {i for i in range(len(side["sources"])) if all(e["compile"]["fresh"][i] is not None for e in engines)}


def memory(side: dict[str, Any]) -> list[str]:
    """Bytes of processes and of indexes."""
    rows = []
    for name, engine in side["engines"].items():
        held = engine["memory"]
        mib = [f"{held[key] / 2**20:,.1f}" for key in ("ready", "grew", "resident")]
        kib = [
            "-" if not held[key] else " / ".join(f"{percentile(held[key], p) / 1024:,.0f}" for p in (50, 99))
            for key in ("each", "held")
        ]
        rows.append([name, f"{held['seconds'] * 1e3:,.0f}", mib[0], str(held["indexes"]), mib[1], *kib, mib[2]])
    head = ["engine", "import and vocabulary, ms", "the same, MiB", "sources kept", "grew by, MiB"]
    head += [
        "resident bytes of a source: p50 / p99 KiB",
        "bytes that it says it holds: p50 / p99 KiB",
        "whole process, MiB",
    ]
    return table(head, rows)


def grid(lines: dict[str, list[dict[str, Any]]], key: str, xs: Sequence[int]) -> list[str]:
    """One quantity of a scaling by engine, in microseconds."""
    rows = []
    for name, line in lines.items():
        at = {p["x"]: p for p in line}
        rows.append([name, *(short(at[x][key]) if x in at and key in at[x] else "-" for x in xs)])
    return table(["engine", *(f"{x:,}" for x in xs)], rows)


def scaling(found: dict[str, Any]) -> list[str]:
    """Tables and plots of everything that grows."""
    out = [
        "## Scaling",
        "",
        "Microseconds, in fresh processes. A dash: refused, or over the limit at this size or before.",
        "",
    ]
    for what, title in (
        ("properties", "Properties of one object, all optional"),
        ("tools", "Tools, each a branch of anyOf"),
    ):
        xs = [p["x"] for p in found[what]["interlock"]]
        out += [f"### {title}", "", f"![{title}](benchmarks/{what}.svg)", "", "Compile and first mask:", ""]
        out += [
            *grid(found[what], "compile", xs),
            "Mask and token, mean along a member:",
            "",
            *grid(found[what], "mask", xs),
        ]
        out += ["Mask and token, slowest:", "", *grid(found[what], "slowest", xs)]
    out += ["### Vocabulary", "", "![Vocabulary](benchmarks/vocabulary.svg)", "", "Schemas of the corpus, means:", ""]
    named = {
        "vocabulary": "making the vocabulary",
        "compile": "compile and first mask",
        "mask": "mask and token",
        "again": "mask and token again",
    }
    cells = [[title, *(short(p[key]) for p in found["vocabularies"])] for key, title in named.items()]
    out += table(["", *(f"{p['x']:,} tokens" for p in found["vocabularies"])], cells)
    out += [
        "### Batch and threads",
        "",
        "One call that fills the masks of guides at different positions of one index.",
        "",
    ]
    out += ["![Batch](benchmarks/batch.svg)", ""]
    batches = {
        f"{name}, {n} thread{'s' * (n == '2')}": line for name, by in found["batches"].items() for n, line in by.items()
    }
    out += grid(batches, "fill", [p["x"] for p in found["batches"]["interlock"]["1"]])
    out += [
        "### Length of the text",
        "",
        "One guide along one text; mean of each 1,000 tokens.",
        "",
        "![Texts](benchmarks/texts.svg)",
        "",
    ]
    for title, engines in found["texts"].items():
        xs = [p["x"] for p in engines["interlock"]]
        some = sorted({xs[0], xs[len(xs) // 10], xs[len(xs) // 2], xs[-1]})
        out += [f"{title[0].upper()}{title[1:]}, mask and token:", "", *grid(engines, "mask", some)]
    return out


def kernels(rows: list[dict[str, Any]]) -> list[str]:
    """Masks applied to logits."""
    names = ["one pass", "interlock", "llguidance", "xgrammar"]
    cells = []
    for row in rows:
        where = f"{row['array']} {row['dtype']}, batch {row['batch']}, {row['kind']}"
        cells.append([where, *(f"{row['best'][name]:,.1f}" if name in row["best"] else "-" for name in names)])
    return table(["logits and mask", *names], cells)


def threads(rows: list[tuple[int, str, float]]) -> list[str]:
    """Several threads beside one."""
    numbers = sorted({number for number, _, _ in rows})
    by: dict[str, list[str]] = {}
    for _, kind, times in sorted(rows, key=lambda row: row[0]):
        by.setdefault(kind, []).append(f"{times:.2f}")
    return table(["masks", *(f"{n} threads" for n in numbers)], [[kind, *cells] for kind, cells in by.items()])


def found(results: dict[str, Any]) -> str:
    """The page about what a folder brought."""
    side = results["side"]
    groups = [group for group in GROUPS if any(source["group"] == group for source in side["sources"])]
    same = common(side)
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    out = [f"# {GROUPS[groups[0]]} of a folder", "", f"{results['machine']}. {versions}.", "", FOUND, ""]
    out += ["## Answers", "", *answers(side)]
    for title, section in (("Compile and first mask", compiles), ("Mask and token", lambda s, g, a: masks(s, [g], a))):
        out += [f"## {title}", ""]
        for group in groups:
            out += [f"{GROUPS[group]}:", "", *section(side, group, None)]
            out += [f"{GROUPS[group]} that all engines but outlines-core compile:", "", *section(side, group, same)]
    return "\n".join([*out, "## Memory", "", MEMORY, "", *memory(side)]).rstrip() + "\n"


def page(results: dict[str, Any]) -> str:
    """The whole text."""
    side = results["side"]
    same = common(side)
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    out = ["# Benchmarks", "", f"{results['machine']}. {versions}.", ""]
    out += [f"Not installed, so left out: {', '.join(results['missing'])}.", ""] if results["missing"] else []
    out += ["Times are microseconds. Cold and warm stand apart, in columns of their own.", ""]
    out += ["## Method", "", METHOD.format(rounds=side["rounds"], limit=side["limit"]), ""]
    out += ["## Answers", "", *answers(side)]
    out += [
        "## Compile and first mask",
        "",
        "![Compile](benchmarks/compile.svg)",
        "",
        "Schemas:",
        "",
        *compiles(side, "schema"),
    ]
    out += ["Schemas that all engines but outlines-core compile:", "", *compiles(side, "schema", same)]
    out += ["Patterns:", "", *compiles(side, "pattern"), "Hard patterns:", "", *compiles(side, "hard pattern")]
    out += ["## Mask and token", "", "Filling a mask and taking a token, for every position of every member.", ""]
    out += ["![Masks](benchmarks/masks.svg)", "", "Schemas:", "", *masks(side, ["schema"])]
    out += ["Schemas that all engines but outlines-core compile:", "", *masks(side, ["schema"], same)]
    out += ["Patterns, hard ones included:", "", *masks(side, ["pattern", "hard pattern"])]
    out += [*scaling(results["scaling"]), "## `apply_bitmask`", ""]
    out += [
        "Masks applied to logits on one thread, 128,256 columns. *few*: 100 tokens allowed; *most*: 100 forbidden;",
        "*mixed*: every other one at random. *one pass* reads and writes every logit once and computes nothing.",
        "",
    ]
    out += [
        *kernels(results["kernels"]),
        "## Single calls",
        "",
        "Nanoseconds of one call from Python; `None` is an empty statement.",
        "",
    ]
    calls = [[f"`{statement}`", title, f"{ns:,.0f}"] for title, statement, ns in results["calls"]]
    out += [*table(["statement", "vocabulary", "ns"], calls), "## Several threads", "", THREADS, ""]
    out += [*threads(results["threads"]), "## Memory", ""]
    out += [MEMORY, "", *memory(side)]
    return "\n".join(out).rstrip() + "\n"
