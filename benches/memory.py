"""Memory of many schemas in one process, interlock beside llguidance and XGrammar.

    python benches/memory.py FOLDER [--count 600] [--engines "interlock;llguidance"] [--without NAMES]

FOLDER holds JSON files with a `schema` and `tests` with their `data`, as MaskBench has them. Each engine has a process
of its own, which compiles the schemas one after the other, follows the first two valid documents of each under its
masks, and keeps all that it compiled. Printed are the bytes that the process grew by with a schema, documents included;
the bytes that the engine says a compiled schema holds; and the whole process at the end, the vocabulary's share apart.
An allocator hands out again what was freed, so the growth of a single schema may be nothing; the mean has no such gaps.
NAMES is a text of file names to leave out, one in a line: schemas on which an engine takes minutes or all memory.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "rivals"))

import engines
import jobs
from corpus import vocabulary
from machine import resident
from page import percentile, table

ENGINES = ("interlock", "interlock, any order", "llguidance", "xgrammar")


def chosen(folder: Path, count: int, without: set[str]) -> list[Path]:
    """So many files, always the same ones but for those to leave out."""
    files = sorted(folder.glob("*.json"))
    taken = sorted(random.Random(1).sample(files, min(count, len(files))))
    return [file for file in taken if file.name not in without]


def keep_all(name: str, files: list[Path], out: Any) -> None:
    """Compile and follow everything with one engine, and say what it took."""
    tokens = vocabulary()
    cut = tokens.cut
    cut("warm")
    cases = []
    for path in files:
        case = json.loads(path.read_bytes())
        texts = [json.dumps(t["data"], ensure_ascii=False) for t in case["tests"] if t["valid"]][:2]
        cases.append((json.dumps(case["schema"], ensure_ascii=False), [cut(text) for text in texts]))
    before = resident()
    engine = engines.ENGINES[name](tokens)
    ready = resident()
    kept, grew, held, at = [], [], [], ready
    for schema, documents in cases:
        try:
            compiled = engine.compile("schema", schema)
            for ids in documents:
                jobs.walk(engine, compiled, ids, None)
        except Exception:
            at = resident()
            continue
        kept.append(compiled)
        now = resident()
        grew.append(now - at)
        at = now
        if (size := engine.held(compiled)) is not None:
            held.append(size)
    out.put({"compiled": len(kept), "vocabulary": ready - before, "grew": grew, "held": held, "end": resident()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=600, help="schemas to take from the folder")
    parser.add_argument("--engines", default=";".join(ENGINES), help="names, with semicolons between")
    parser.add_argument("--without", type=Path, metavar="NAMES", help="a file with names of schemas to leave out")
    given = parser.parse_args()
    files = chosen(given.folder, given.count, set(given.without.read_text().splitlines()) if given.without else set())
    spawn = multiprocessing.get_context("spawn")
    rows = []
    names = given.engines.split(";")
    unknown = [name for name in names if name not in engines.ENGINES]
    if unknown:
        parser.error(f"no engine {unknown[0]!r}: there are {', '.join(map(repr, engines.ENGINES))}")
    for name in names:
        if not engines.installed(name):
            print(f"{name} is not installed", file=sys.stderr)
            continue
        out = spawn.SimpleQueue()
        process = spawn.Process(target=keep_all, args=(name, files, out))
        process.start()
        found = out.get()
        process.join()
        kib = [f"{percentile(found['grew'], p) / 1024:,.0f}" for p in (50, 99)]
        mean = f"{sum(found['grew']) / max(1, len(found['grew'])) / 1024:,.0f}"
        says = " / ".join(f"{percentile(found['held'], p) / 1024:,.0f}" for p in (50, 99)) if found["held"] else "-"
        whole = [f"{found[key] / 2**20:,.0f}" for key in ("vocabulary", "end")]
        rows.append([name, str(found["compiled"]), " / ".join(kib), mean, says, *whole])
    head = ["engine", "schemas", "grew by, p50 / p99 KiB", "mean KiB", "says it holds, p50 / p99 KiB"]
    print("\n".join(table([*head, "vocabulary MiB", "process MiB"], rows)))


if __name__ == "__main__":
    main()
