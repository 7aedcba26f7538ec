"""The plots of the page, as SVG: tails of distributions, and lines of scaling.

A *tail* shows time against the share of sources or positions that take longer, both on logarithmic axes: the right end
is the slowest one, and what lies between is how often which slowness happens. The files are the same for the same
figures.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update(
    {
        "svg.hashsalt": "interlock",
        "svg.fonttype": "none",
        "font.family": "DejaVu Sans",
        "font.size": 10,
        "axes.grid": True,
        "grid.alpha": 0.3,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "figure.constrained_layout.use": True,
    }
)

import matplotlib.pyplot as plt
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter

STYLES: dict[str, dict[str, Any]] = {
    "nothing": {"color": "#888888", "linestyle": ":"},
    "interlock": {"color": "#0060b0", "linewidth": 2.4},
    "interlock, any order": {"color": "#4aa3e0", "linestyle": "--"},
    "llguidance": {"color": "#d06000"},
    "xgrammar": {"color": "#208040"},
    "outlines-core": {"color": "#9040a0"},
}


def spelled(nanoseconds: float, _position: object = None) -> str:
    """A time as the axis names it."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:g} {unit}"
    return f"{nanoseconds:g} ns"


def number(value: float, _position: object = None) -> str:
    """A count as the axis names it."""
    return f"{value:,.0f}"


def style(name: str) -> dict[str, Any]:
    """How the line of an engine looks, in all plots."""
    return STYLES.get(name.split(" (")[0], {})


def finish(figure: Any, axes: Any, title: str) -> None:
    """Times on all vertical axes, from one power of ten to another; one legend below, so that it hides no line."""
    named = {}
    for axis in axes:
        low, high = axis.get_ylim()
        axis.set_ylim(10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high)))
        axis.yaxis.set_major_formatter(FuncFormatter(spelled))
        axis.yaxis.set_minor_formatter(NullFormatter())
        named.update({text: line for line, text in zip(*axis.get_legend_handles_labels(), strict=True)})
    figure.legend(list(named.values()), list(named), loc="outside lower center", ncols=len(named), frameon=False)
    figure.suptitle(title)


def save(figure: Any, path: Path) -> None:
    """Write one figure."""
    figure.savefig(path, metadata={"Date": None}, facecolor="white")
    plt.close(figure)


def thinned(ordered: list[int], most: int = 300) -> tuple[list[float], list[int]]:
    """The share beyond each time, and the time: all of the slow ones, fewer of the many fast ones."""
    n = len(ordered)
    kept = {0, n - 1} | {n - round(n ** (k / most)) for k in range(most + 1)}
    places = sorted(i for i in kept if 0 <= i < n)
    return [(n - i) / n for i in places], [ordered[i] for i in places]


def tails(path: Path, title: str, panels: dict[str, dict[str, list[int]]]) -> None:
    """One panel for each column, one line for each engine."""
    figure, axes = plt.subplots(1, len(panels), figsize=(4.1 * len(panels), 4.2), sharey=True)
    for axis, (column, engines) in zip(axes, panels.items(), strict=True):
        for name, times in engines.items():
            axis.plot(*thinned(sorted(times)), label=name, **style(name))
        axis.set(xscale="log", yscale="log", title=column, xlabel="share that takes at least so long")
        axis.invert_xaxis()
        axis.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g} %"))
    finish(figure, axes, title)
    save(figure, path)


def lines(
    path: Path, title: str, label: str, panels: dict[str, dict[str, list[tuple[float, float]]]], linear: bool = False
) -> None:
    """One panel for each quantity, one line for each engine; a dotted grey line shows what growth in proportion is."""
    figure, axes = plt.subplots(1, len(panels), figsize=(4.6 * len(panels), 4.0), squeeze=False)
    for axis, (quantity, engines) in zip(axes[0], panels.items(), strict=True):
        for name, points in engines.items():
            if points:
                marker = "" if len(points) > 30 else "o"
                axis.plot(*zip(*points, strict=True), label=name, marker=marker, markersize=3.5, **style(name))
        first = engines.get("interlock")
        axis.set(xscale="linear" if linear else "log", yscale="log", title=quantity, xlabel=label)
        if first and len(first) > 1 and not linear:
            bottom, top = axis.get_ylim()
            (x, y), end = first[0], first[-1][0]
            axis.plot([x, end], [y, y * end / x], color="#bbbbbb", linestyle=":", label="in proportion")
            axis.set_ylim(bottom, top)
        places = sorted({x for points in engines.values() for x, _ in points})
        axis.xaxis.set_major_locator(MaxNLocator(5) if linear else FixedLocator(places[:: (len(places) + 5) // 6]))
        axis.xaxis.set_major_formatter(FuncFormatter(number))
        axis.xaxis.set_minor_formatter(NullFormatter())
    finish(figure, axes[0], title)
    save(figure, path)


def draw(results: dict[str, Any], folder: Path) -> None:
    """All plots of some results into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    side, scaling = results["side"], results["scaling"]
    titles = {"fresh": "fresh process", "warm": "warm by other sources", "again": "same source again, caches on"}
    schemas = [i for i, source in enumerate(side["sources"]) if source["kind"] == "schema"]
    compile: dict[str, dict[str, list[int]]] = {}
    masks: dict[str, dict[str, list[int]]] = {}
    for column, title in titles.items():
        every = {name: [e["compile"][column][i] for i in schemas] for name, e in side["engines"].items()}
        compile[title] = {name: [t for t in times if t] for name, times in every.items() if any(times)}
        members = {name: [m for i in schemas for m in e["masks"][column][i]] for name, e in side["engines"].items()}
        walked = {name: [t for times in lists for t in times] for name, lists in members.items()}
        masks[title] = {name: times for name, times in walked.items() if times}
    tails(folder / "compile.svg", "Schemas: compile and first mask", compile)
    tails(folder / "masks.svg", "Schemas: one mask and one token", masks)
    for what, label in (("properties", "properties of the object"), ("tools", "tools, each a branch of anyOf")):
        panels = {
            quantity: {name: [(p["x"], p[key]) for p in line if key in p] for name, line in scaling[what].items()}
            for quantity, key in (
                ("compile and first mask", "compile"),
                ("mask and token, mean", "mask"),
                ("mask and token, slowest", "slowest"),
            )
        }
        lines(folder / f"{what}.svg", f"Scaling with {what}", label, panels)
    batch: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for name, by_title in scaling["batches"].items():
        for title, line in by_title.items():
            batch.setdefault(title, {})[name] = [(p["x"], p["known"]) for p in line if "known" in p]
    lines(folder / "batch.svg", "One call for the known masks of a batch", "guides", batch)
    texts = {
        title: {name: [(p["x"], p["mask"]) for p in line] for name, line in engines.items()}
        for title, engines in scaling["texts"].items()
    }
    lines(
        folder / "texts.svg", "One guide along a long text: mean of each 1,000 tokens", "position", texts, linear=True
    )
    named = (
        ("making the vocabulary", "vocabulary"),
        ("compile and first mask, mean", "compile"),
        ("mask and token, mean", "mask"),
    )
    over = scaling["vocabularies"]["lines"]
    sizes = {title: {name: [(p["x"], p[key]) for p in line] for name, line in over.items()} for title, key in named}
    lines(folder / "vocabulary.svg", "Scaling with the vocabulary", "tokens", sizes)
