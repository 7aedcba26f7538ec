"""Building whole indexes, beside outlines-core: time and memory, in one run.

Patterns are those of outlines' own benchmarks and some more; with a folder of MaskBench's files, schemas too: those from
which outlines-core makes a pattern and whose index it builds within TIMEOUT seconds, with the same whitespace in both.
Every measurement runs in a forked child of a process that holds the vocabulary, one thread each, best of three: the time
from source to complete index, and by how much the child's resident memory grew. Needs outlines-core and, for the
vocabulary, what ``examples/real_vocabulary.py`` needs.

    python benches/build.py [FOLDER COUNT]
"""

import gc
import itertools
import json
import multiprocessing
import os
import random
import statistics
import sys
import time
from pathlib import Path

import outlines_core
import outlines_core.json_schema

import interlock

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from real_vocabulary import load

HOST = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
LOCAL = r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+"
DAY, MONTH, YEAR = r"([1-9]|0[1-9]|1[0-9]|2[0-9]|3[0-1])", r"([1-9]|0[1-9]|1[0-2])", r"([0-9][0-9]|19[0-9][0-9]|20[0-9][0-9])"
SEPARATOR = r"(\.|-|/)"
PATTERNS = {
    "email": rf"{LOCAL}(?:\.{LOCAL})*@(?:{HOST}\.)+{HOST}",
    "complex phone": r"\+?\d{1,4}?[-.\s]?\(?\d{1,3}?\)?[-.\s]?\d{1,4}[-.\s]?\d{1,4}[-.\s]?\d{1,9}",
    "simple phone": r"\+?[1-9][0-9]{7,14}",
    "date": f"{DAY}{SEPARATOR}{MONTH}{SEPARATOR}{YEAR}|{YEAR}{SEPARATOR}{MONTH}{SEPARATOR}{DAY}",
    "time": r"(0?[1-9]|1[0-2]):[0-5]\d\s?(am|pm)?",
    "ip": r"(?:(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\.){3}(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)",
    "url": r"(https?:\/\/)?([\da-z\.-]+)\.([a-z\.]{2,6})([\/\w \.-]*)*\/?",
    "ssn": r"\d{3}-\d{2}-\d{4}",
    "sentence": r"[A-Z].*\s*",
    "name, 1 to 60": r'\{"name": ?"[^"]{1,60}"\}',
}
TIMEOUT = 20.0
WHITESPACE = "[ ]?"


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def ours(vocabulary: interlock.Vocabulary, source: str) -> object:
    if source.startswith("{"):
        index = interlock.Index.from_json_schema(source, vocabulary, whitespace=WHITESPACE)
    else:
        index = interlock.Index.from_regex(source, vocabulary)
    index.build(threads=1)
    return index


def theirs(vocabulary: "outlines_core.Vocabulary", source: str) -> object:
    if source.startswith("{"):
        source = outlines_core.json_schema.build_regex_from_schema(source, WHITESPACE)
    return outlines_core.Index(source, vocabulary)


def child(pipe, build, vocabulary, source) -> None:
    gc.collect()
    before, start = resident(), time.perf_counter()
    try:
        index = build(vocabulary, source)
    except Exception:
        pipe.send(None)
        return
    took = time.perf_counter() - start
    pipe.send((took, resident() - before))
    del index


def measure(build, vocabulary, source: str, times: int = 3) -> tuple[float, int] | None:
    """The least time with its memory; ``None`` for a source that is refused or takes too long."""
    context = multiprocessing.get_context("fork")
    results = []
    for _ in range(times):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=child, args=(sender, build, vocabulary, source))
        process.start()
        sender.close()
        result = receiver.recv() if receiver.poll(TIMEOUT) else None
        process.kill()
        process.join()
        if result is None:
            return None
        results.append(result)
    return min(results)


def schemas(folder: str, count: int):
    files = sorted(Path(folder).glob("*.json"))
    random.Random(1).shuffle(files)
    for file in files:
        yield file.stem[:40], json.dumps(json.loads(file.read_bytes())["schema"])


def main() -> None:
    vocabulary = load()
    spellings: dict[bytes, list[int]] = {}
    for token in range(len(vocabulary)):
        text = vocabulary.token_bytes(token)
        if text and token not in vocabulary.special_token_ids and token not in vocabulary.eos_token_ids:
            spellings.setdefault(text, []).append(token)
    rival = outlines_core.Vocabulary(vocabulary.eos_token_ids[0], spellings)
    # What all indexes over a vocabulary share is made before anything is timed, as theirs is.
    interlock.Index.from_regex("a", vocabulary).build(threads=1)
    print(f"{'source':40} {'interlock':>20} {'outlines-core':>20} {'time':>7} {'memory':>7}")
    ratios, wanted = [], int(sys.argv[2]) if len(sys.argv) > 2 else 0
    sources = itertools.chain(PATTERNS.items(), schemas(sys.argv[1], wanted) if wanted else [])
    for name, source in sources:
        if len(ratios) >= len(PATTERNS) + wanted:
            break
        found = measure(theirs, rival, source, 3 if name in PATTERNS else 1)
        mine = found and measure(ours, vocabulary, source)
        if not mine:
            continue
        (a, m), (b, n) = mine, found
        ratios.append((b / a, n / max(m, 1)))
        row = f"{name:40} {a * 1e3:8.1f} ms {m / 2**20:5.1f} MiB {b * 1e3:8.1f} ms {n / 2**20:5.1f} MiB"
        print(f"{row} {ratios[-1][0]:6.1f}x {ratios[-1][1]:6.1f}x", flush=True)
    for part, rows in (("patterns", ratios[: len(PATTERNS)]), ("schemas", ratios[len(PATTERNS) :])):
        if rows:
            print(f"median of {len(rows)} {part}: " + " ".join(f"{statistics.median(r):.1f}x" for r in zip(*rows)))


if __name__ == "__main__":
    main()
