"""interlock beside llguidance, XGrammar and outlines-core: everything in one run, and the page about it.

    python benches/rivals [--quick] [--output docs/benchmarks.md] [--results FILE] [--again]
    python benches/rivals --found FOLDER [--of patterns|schemas] [--count N] [--name TITLE] ...

A quarter of an hour on two cores, four minutes with `--quick`, which measures a fifth of the sources once and does not
replace the page. What was measured is kept in the results file, from which `--again` makes page and plots without
measuring. `--found` measures, instead of the corpus, what a folder of JSON Schemas with documents brings (`found.py`),
and writes a page of its own: answers, compiles, masks and memory, and for schemas the targets of the design
(`targets.py`); `--name` is what it calls the data set. These are patterns that the schemas use, the hard patterns of
the corpus beside them, or the schemas themselves. 200 patterns take ten minutes, 300 schemas of MaskBench a quarter of
an hour.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent)]

import engines
import machine
import page


def measure(quick: bool) -> dict[str, Any]:
    """Every section, one after the other, so that nothing runs beside what is measured."""
    import apply
    import calls
    import scaling
    import side
    import threads

    names = [name for name in engines.ENGINES if engines.installed(name)]
    missing = [name for name in engines.ENGINES if name not in names]
    results: dict[str, Any] = {**setting(names), "missing": missing}
    batches, seconds = ((1, 32), 0.02) if quick else (apply.BATCHES, 0.08)
    sections = {
        "calls": lambda: list(calls.lines()),
        "threads": lambda: list(threads.growth()),
        "side": lambda: side.measure(names, quick),
        "scaling": lambda: scaling.measure(names, quick),
        "kernels": lambda: [asdict(line) for line in apply.all_lines(batches, ("numpy", "torch"), seconds)],
    }
    for title, section in sections.items():
        start, before = time.monotonic(), processor()
        results[title] = section()
        took = f"{time.monotonic() - start:.0f} s, {processor() - before:.0f} s of processors"
        print(f"{title}: {took}", file=sys.stderr, flush=True)
    return results


def setting(names: list[str]) -> dict[str, Any]:
    """Where and what was measured."""
    return {"machine": machine.about(), "versions": engines.versions(names), "commit": machine.commit()}


def measure_found(folder: Path, kind: str, count: int, title: str, quick: bool) -> dict[str, Any]:
    """The schemas of a folder, or the patterns that they use and the hard ones of the corpus."""
    import corpus
    import found
    import side
    import targets

    # Patterns know no order, and most of the schemas would take whole indexes minutes each.
    without = "interlock, any order" if kind == "patterns" else "outlines-core"
    names = [name for name in engines.ENGINES if engines.installed(name) and name != without]
    files = len(list(folder.glob("*.json")))
    results: dict[str, Any] = {**setting(names), "of": kind, "title": title, "files": files}
    if kind == "patterns":
        hard = [source for source in corpus.sources() if source.group == "hard pattern"]
        results["side"] = side.measure(names, quick, found.found_patterns(folder, count) + hard)
        return results
    chosen = found.found_schemas(folder, count)
    results["side"] = side.measure(names, quick, chosen)
    chosen = chosen[::5] if quick else chosen
    results["batches"] = targets.batches(names, chosen, results["side"])
    return results


def processor() -> float:
    """Seconds of processors that this process and its children have taken."""
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a fifth of the sources, once")
    parser.add_argument(
        "--again", action="store_true", help="only the page and the plots, of the results that are there"
    )
    parser.add_argument("--found", type=Path, help="a folder of JSON Schemas that are measured instead")
    parser.add_argument("--of", choices=("patterns", "schemas"), default="patterns", help="what is taken of the folder")
    parser.add_argument("--name", help="what the page calls the data set; unless told otherwise, the folder's name")
    parser.add_argument("--count", type=int, help="how many: 200 patterns or 300 schemas, unless told otherwise")
    folder = ROOT / "target" / "benchmarks"
    parser.add_argument("--results", type=Path, help="where the measurements are kept")
    parser.add_argument("--output", type=Path, help="the page; plots go to the folder benchmarks beside it")
    given = parser.parse_args()
    name = f"found-{given.of}" if given.found else "quick" if given.quick else "results"
    kept = given.results or folder / f"{name}.json"
    beside = given.quick or given.found
    output = given.output or (folder / f"{name}.md" if beside else ROOT / "docs" / "benchmarks.md")
    if not given.again:
        kept.parent.mkdir(parents=True, exist_ok=True)
        if given.found:
            count = given.count or {"patterns": 200, "schemas": 300}[given.of]
            measured = measure_found(given.found, given.of, count, given.name or given.found.name, given.quick)
        else:
            measured = measure(given.quick)
        kept.write_text(json.dumps(measured))
    results = json.loads(kept.read_text())
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(page.found(results) if given.found else page.page(results))
    print(f"wrote {output}")
    if given.found:
        return
    try:
        import plots
    except ImportError:
        print("no plots: matplotlib is not installed", file=sys.stderr)
        return
    plots.draw(results, output.parent / "benchmarks")


if __name__ == "__main__":
    main()
