"""The page: tables, links to the plots, and how everything was measured, bias included."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from scaling import WRONG

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
  over a quarter of a second is measured once, while another engine may run on another processor, and its time stands in
  the column *warm* too; in *again* as well for an engine that keeps nothing. A source fails where compiling it twice
  and following its members twice takes an engine more than {limit:g} s. All of this is time on the clock, of a machine
  that is to do nothing else.
* **Answers are checked**: every mask has to allow the next token of the member, the member has to be accepted at its
  end, and outsiders (one for each source) must not be. No mask may have the byte zero, where it cannot come: never in
  JSON. What is looked at is made wrong before each mask, and batches are cleared before each call and compared with
  masks that were filled one by one. Texts and kernels assert their answers as well. Times of wrong answers are counted
  like those of right ones.
* **Tokens** are those of Llama 3, 128,256 of them. 32,000 are its first merges, 256,000 have those of two other
  vocabularies behind (see there).

**Bias, admitted.** The sources were written by the authors of one of these engines; they are small next to the worst of
the field, and sources that an engine refuses are missing from its times, which flatters engines that refuse the hard
ones (the tables of common sources do without that). `interlock` builds masks on first use and shares them between
sources, so the column *warm* suits it. `xgrammar` does most of its work when it compiles, so short documents make it
look worse than long ones. `outlines-core` builds whole indexes and is not meant for schemas of this size. Its compiles,
and all that take over a quarter of a second, are those least exactly measured. Members follow the declared order of
keys, compact runs of whitespace and the tokenizer's own cuts; models may do otherwise."""


MEMORY = """One process for each engine, which forks nothing, meets all sources one after the other and keeps them.
Sources that take an engine over a quarter of a second are not among them. The whole process includes Python and the
tokens as the benchmarks hold them, which is what `nothing` has."""

THREADS = """How many times as many masks several Python threads fill over one index as one thread that makes the same
calls, each for guides of its own (`benches/threads.py`). *Known* masks were asked for before: few of them take less
time than handing on the GIL, which is kept for these. Masks *made anew* are those that nobody asked for before."""

SCALING = """Microseconds, in fresh processes: the least of {rounds} at each position, of one where compiling takes over
a second. *Late*: more than {limit:g} s on the clock for compiling twice and following the member twice; *refused*: does
not compile, or the process died; *wrong*: a member is refused; a dash: not asked, because the size before had no time.
`outlines-core` has no call for a batch, and would take minutes for a long text."""

VOCABULARY = """Every third schema of the corpus over the first 32,000 tokens of Llama 3 and over all 128,256: {schemas}
of {of} schemas, which all of these engines compile. `xgrammar` and `outlines-core` take seconds for many of them, and
are left out.{larger}"""

LARGER = """ 256,000 are these with tokens behind that Mistral's Tekken and DeepSeek's vocabulary have and Llama 3
lacks, 101,159 of them, and for the last tenth words of all with a blank in front, and with a capital."""

BATCH = """One call that fills the masks of many guides, each at a place of its own along a member: guides of one index,
or of indexes of their own, of which no two share a name. Each number of threads and each size has processes of its own.
*First call*: nobody asked for a mask before; the least of {rounds} processes. *All masks known*: every mask of the
members was filled once, by one other guide; all guides move on by one before each call, so that none is asked for the
mask that it remembers. That is the median over {moves} moves of the least of {rounds} processes. Rows are cleared
before each call. *Late* is here what takes ten times the limit, with all that comes before."""

FOUND = """Made by `python benches/rivals --found FOLDER --of {of} --name NAME`, as [the page of the
corpus](benchmarks.md) is, whose method and bias it shares: times are microseconds, the least of {rounds} processes for
each position, and `nothing` is what the loop and the machine cost. An engine fails where compiling a source twice and
following its members twice takes it more than {limit:g} s on the clock."""

CHOSEN = {
    "schemas": """{count} of the {files:,} files of {title}: the first by the SHA-256 of their names, which depends on
nothing else. Their valid documents are the members, their invalid ones the outsiders. `interlock` has keys in the order
in which the schema declares them, its default; `interlock, any order` is the other.""",
    "patterns": """{count} of the patterns that the schemas in the {files:,} files of {title} use, the first by the
SHA-256 of their text among those that mean the same to all engines, and {hard} hard ones of the corpus. {outsiders} of
these patterns have an outsider.""",
}

GROUPS = {"schema": "Schemas", "pattern": "Patterns", "hard pattern": "Hard patterns"}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table of Markdown, numbers to the right."""
    out = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return out + ["| " + " | ".join(row) + " |" for row in rows] + [""]


def percentile(times: Sequence[float], percent: float) -> float:
    """The smallest time that so many percent do not exceed."""
    return sorted(times)[max(0, math.ceil(round(len(times) * percent / 100, 6)) - 1)]


def short(nanoseconds: float) -> str:
    """Microseconds, with as many digits as mean something."""
    us = nanoseconds / 1e3
    return f"{us:,.2f}" if us < 10 else f"{us:,.1f}" if us < 100 else f"{us:,.0f}"


def enough(times: Sequence[float], percent: float) -> bool:
    """Whether there are so many times that at least one lies beyond a percentile: 100 for the 99th."""
    return bool(times) and (percent == 100 or round(len(times) * (100 - percent), 6) >= 100)


def spread(times: Sequence[float], percents: Sequence[float], form: Callable[[float], str] = short) -> str:
    """Percentiles with strokes between; a dash for those that so few times do not have."""
    return " / ".join(form(percentile(times, p)) if enough(times, p) else "-" for p in percents) if times else "-"


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
        wrong = [str(len(engine[key])) for key in ("refused", "accepted", "wide")]
        rows.append([name, *counts, str(late), *wrong])
    head = ["engine", *(GROUPS[group].lower() for group in there), "of the failed: too slow"]
    head += ["sources with a member refused", "with an outsider accepted", "with a mask that allows the byte zero"]
    return table(head, rows)


def compiles(side: dict[str, Any], group: str, among: set[int] | None = None) -> list[str]:
    """Compile and first mask, in microseconds, over one group of sources."""
    chosen = [i for i, source in enumerate(side["sources"]) if source["group"] == group]
    chosen = [i for i in chosen if among is None or i in among]
    titles, percents = "p50 / p90 / p99 / max", (50, 90, 99, 100)
    rows = []
    for name, engine in side["engines"].items():
        took = {column: [t for i in chosen if (t := engine["compile"][column][i]) is not None] for column in COLUMNS}
        cells = [spread(took[column], percents) for column in COLUMNS]
        rows.append([name, str(len(took["fresh"])), *cells])
    return table(["engine", "sources", *(f"{title}: {titles}" for title in COLUMNS.values())], rows)


def masks(side: dict[str, Any], groups: Sequence[str], same: bool = False) -> list[str]:
    """Mask and token, in microseconds, over some groups of sources; or only of positions that all engines have."""
    chosen = [i for i, source in enumerate(side["sources"]) if source["group"] in groups]
    shared = followed(side) if same else None
    rows = []
    for name, engine in side["engines"].items():
        took: dict[str, list[int]] = {column: [] for column in COLUMNS}
        for i in chosen:
            for m, passed in enumerate(engine["passed"][i]):
                if shared is None or (passed and m in shared[i]):
                    for column in COLUMNS:
                        took[column] += engine["masks"][column][i][m]
        cells = [spread(took[column], (50, 90, 99, 99.9, 100)) for column in COLUMNS]
        rows.append([name, f"{len(took['fresh']):,}", *cells])
    return table(["engine", "positions", *(f"{t}: p50 / p90 / p99 / p99.9 / max" for t in COLUMNS.values())], rows)


def others(side: dict[str, Any]) -> list[dict[str, Any]]:
    """The engines that decide what is common: not outlines-core, which would leave few sources."""
    return [engine for name, engine in side["engines"].items() if name not in ("nothing", "outlines-core")]


def common(side: dict[str, Any]) -> set[int]:
    """The sources that these engines compiled."""
    return {i for i in range(len(side["sources"])) if all(e["compile"]["fresh"][i] is not None for e in others(side))}


def followed(side: dict[str, Any]) -> list[set[int]]:
    """Of every source, the members that these engines followed to their ends."""
    each = [[engine["passed"][i] for engine in others(side)] for i in range(len(side["sources"]))]
    return [{m for m in range(max(map(len, passed))) if all(p[m : m + 1] == [True] for p in passed)} for passed in each]


def memory(side: dict[str, Any]) -> list[str]:
    """Bytes of processes and of indexes."""
    rows = []
    for name, engine in side["engines"].items():
        held = engine["memory"]
        mib = [f"{held[key] / 2**20:,.1f}" for key in ("ready", "grew", "resident")]
        kib = [spread(held[key], (50, 99), lambda size: f"{size / 1024:,.0f}") for key in ("each", "held")]
        rows.append([name, f"{held['seconds'] * 1e3:,.0f}", mib[0], str(held["indexes"]), mib[1], *kib, mib[2]])
    head = ["engine", "import and vocabulary, ms", "the same, MiB", "sources kept", "grew by, MiB"]
    head += [
        "resident bytes of a source: p50 / p99 KiB",
        "bytes that it says it holds: p50 / p99 KiB",
        "whole process, MiB",
    ]
    return table(head, rows)


def about_memory(side: dict[str, Any]) -> str:
    """What the table of memory says, and what it counts that the engine did not make."""
    with_torch = [f"`{name}`" for name, engine in side["engines"].items() if engine["memory"]["torch"]]
    return MEMORY + (f" Importing {' and '.join(with_torch)} imports torch." if with_torch else "")


def grid(lines: dict[str, list[dict[str, Any]]], key: str, xs: Sequence[int]) -> list[str]:
    """One quantity of a scaling by engine, in microseconds."""
    rows = []
    for name, line in lines.items():
        at = {p["x"]: p for p in line}
        rows.append([name, *(short(at[x][key]) if key in at.get(x, {}) else why(at.get(x)) for x in xs)])
    return table(["engine", *(f"{x:,}" for x in xs)], rows)


def why(point: dict[str, Any] | None) -> str:
    """Why there is no time."""
    if point is None:
        return "-"
    error = point["error"]
    return "late" if error.startswith("over") else "wrong" if error.startswith((WRONG, "AssertionError")) else "refused"


def scaling(found: dict[str, Any]) -> list[str]:
    """Tables and plots of everything that grows."""
    out = [
        "## Scaling",
        "",
        SCALING.format(**found),
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
    over = found["vocabularies"]
    sizes = [p["x"] for p in over["lines"]["interlock"]]
    about = VOCABULARY.format(**over, larger=LARGER if 256_000 in sizes else "")
    out += ["### Vocabulary", "", about, "", "![Vocabulary](benchmarks/vocabulary.svg)", ""]
    named = {
        "vocabulary": "Making the vocabulary, import included",
        "compile": "Compile and first mask, mean",
        "mask": "Mask and token, mean",
        "again": "Mask and token again, mean",
    }
    for key, title in named.items():
        out += [f"{title}:", "", *grid(over["lines"], key, sizes)]
    out += ["### Batch and threads", "", BATCH.format(**found), "", "![Batch](benchmarks/batch.svg)", ""]
    for title in next(iter(found["batches"].values())):
        lines = {name: by[title] for name, by in found["batches"].items()}
        xs = [p["x"] for p in lines["interlock"]]
        out += [f"{title[0].upper()}{title[1:]}, all masks known:", "", *grid(lines, "known", xs)]
        out += [f"{title[0].upper()}{title[1:]}, first call of a process:", "", *grid(lines, "cold", xs)]
    out += [
        "### Length of the text",
        "",
        "One guide along one long text, and what 1,000 tokens up to a position took in the mean.",
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


def head(results: dict[str, Any]) -> list[str]:
    """Where and what was measured."""
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    return [f"{results['machine']}. {versions}. Commit {results['commit']}.", ""]


def shared(side: dict[str, Any]) -> str:
    """What makes a source common."""
    return "all engines but outlines-core" if "outlines-core" in side["engines"] else "all engines"


def found(results: dict[str, Any]) -> str:
    """The page about what a folder brought."""
    import targets

    side = results["side"]
    groups = [group for group in GROUPS if any(source["group"] == group for source in side["sources"])]
    same = common(side)
    hard = sum(source["group"] == "hard pattern" for source in side["sources"])
    counts = {"hard": hard, "count": len(side["sources"]) - hard}
    counts["outsiders"] = sum(source["outsiders"] > 0 for source in side["sources"])
    out = [f"# {GROUPS[groups[0]]} of {results['title']}", "", CHOSEN[results["of"]].format(**counts, **results), ""]
    out += [*head(results), FOUND.format(**results, **side), ""]
    if "batches" in results:
        out += ["## Targets", "", *targets.lines(results), targets.about(results), ""]
    out += ["## Answers", "", *answers(side), "## Compile and first mask", ""]
    for group in groups:
        out += [f"{GROUPS[group]}:", "", *compiles(side, group)]
        out += [f"{GROUPS[group]} that {shared(side)} compile:", "", *compiles(side, group, same)]
    out += ["## Mask and token", ""]
    for group in groups:
        out += [f"{GROUPS[group]}:", "", *masks(side, [group])]
        out += [f"{GROUPS[group]}, the members that {shared(side)} follow to the end:", "", *masks(side, [group], True)]
    return "\n".join([*out, "## Memory", "", about_memory(side), "", *memory(side)]).rstrip() + "\n"


def page(results: dict[str, Any]) -> str:
    """The whole text."""
    side = results["side"]
    same = common(side)
    out = ["# Benchmarks", "", *head(results)]
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
    out += [f"Schemas that {shared(side)} compile:", "", *compiles(side, "schema", same)]
    out += ["Patterns:", "", *compiles(side, "pattern"), "Hard patterns:", "", *compiles(side, "hard pattern")]
    out += ["## Mask and token", "", "Filling a mask and taking a token, for every position of every member.", ""]
    out += ["![Masks](benchmarks/masks.svg)", "", "Schemas:", "", *masks(side, ["schema"])]
    out += [f"Schemas, the members that {shared(side)} follow to the end:", "", *masks(side, ["schema"], True)]
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
    out += [about_memory(side), "", *memory(side)]
    return "\n".join(out).rstrip() + "\n"
