"""Building whole indexes, beside outlines-core: time and memory for a handful of patterns, in one run.

Every measurement runs in a forked child of a process that holds the vocabulary, one thread each, best of three: the
time from pattern to complete index, and by how much the child's resident memory grew. Needs outlines-core and, for the
vocabulary, what ``examples/real_vocabulary.py`` needs.

    python benches/build.py
"""

import gc
import multiprocessing
import os
import sys
import time
from pathlib import Path

import outlines_core

import interlock

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from real_vocabulary import load

PATTERNS = {
    "email": r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
    r"@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]+",
    "date": r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])",
    "ip": r"(?:(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\.){3}(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)",
    "sentence": r"[A-Z].*\s*",
    "name, 1 to 60": r'\{"name": ?"[^"]{1,60}"\}',
}


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def ours(vocabulary: interlock.Vocabulary, pattern: str) -> object:
    index = interlock.Index.from_regex(pattern, vocabulary)
    index.build(threads=1)
    return index


def theirs(vocabulary: "outlines_core.Vocabulary", pattern: str) -> object:
    return outlines_core.Index(pattern, vocabulary)


def child(pipe, build, vocabulary, pattern) -> None:
    gc.collect()
    before, start = resident(), time.perf_counter()
    index = build(vocabulary, pattern)
    took = time.perf_counter() - start
    pipe.send((took, resident() - before))
    del index


def measure(build, vocabulary, pattern: str) -> tuple[float, int]:
    context = multiprocessing.get_context("fork")
    results = []
    for _ in range(3):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=child, args=(sender, build, vocabulary, pattern))
        process.start()
        results.append(receiver.recv())
        process.join()
    return min(results)


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
    print(f"{'pattern':16} {'interlock':>20} {'outlines-core':>20} {'time':>7} {'memory':>7}")
    for name, pattern in PATTERNS.items():
        (a, m), (b, n) = measure(ours, vocabulary, pattern), measure(theirs, rival, pattern)
        row = f"{name:16} {a * 1e3:8.1f} ms {m / 2**20:5.1f} MiB {b * 1e3:8.1f} ms {n / 2**20:5.1f} MiB"
        print(f"{row} {b / a:6.1f}x {n / max(m, 1):6.1f}x")


if __name__ == "__main__":
    main()
