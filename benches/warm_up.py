"""What warming up takes off the masks of requests: cold and warm, in microseconds.

    python benches/warm_up.py [SCHEMAS] [--ms 5] [--count N]

SCHEMAS is a folder of MaskBench files; without it the sources of `benches/corpus` are taken. Two forked children meet
the same sources in the same order, one after the other: each compiles a source, the second one warms it up, and both
walk its documents, as json.dumps writes them, by the longest tokens. A time is one mask and one token. The masks of
both must be the same. The longest tokens are also those that warming up takes, which flatters it: a tokenizer cuts some
texts elsewhere and meets masks that were not made. Documents are walked right after warming up, so nothing is hidden by
a prompt that is read.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pickle
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import interlock

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

CORPUS = Path(__file__).parent / "corpus" / "schemas.jsonl"


def sources(folder: Path | None, count: int | None) -> Iterator[tuple[Any, list[Any]]]:
    """Schemas with valid documents."""
    if folder is None:
        cases = [json.loads(line) for line in CORPUS.read_text().splitlines()]
        found = [(case["schema"], case["valid"]) for case in cases]
    else:
        files = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
        found = [(case["schema"], [test["data"] for test in case["tests"] if test["valid"]]) for case in files]
    return iter(found[:count] if count else found)


class Spelling:
    """The longest tokens of a text."""

    def __init__(self, vocabulary: interlock.Vocabulary) -> None:
        special = {*vocabulary.special_token_ids, *vocabulary.eos_token_ids}
        usual = (i for i in range(len(vocabulary)) if i not in special)
        self.ids = {text: i for i in usual if (text := vocabulary.token_bytes(i))}
        self.longest = max(map(len, self.ids))

    def __call__(self, text: bytes) -> list[int]:
        tokens, at = [], 0
        while at < len(text):
            ends = range(min(len(text), at + self.longest), at, -1)
            end = next(end for end in ends if text[at:end] in self.ids)
            tokens.append(self.ids[text[at:end]])
            at = end
        return tokens


def run(vocabulary: interlock.Vocabulary, options: argparse.Namespace, ms: float) -> dict[str, Any]:
    """Times of masks and of warming up, and a digest of all masks."""
    spell, digest = Spelling(vocabulary), hashlib.blake2b()
    bits = interlock.allocate_bitmask(1, vocabulary)
    masks, warm, refused = [], [], 0
    for schema, documents in sources(options.schemas, options.count):
        try:
            index = interlock.Index.from_json_schema(
                json.dumps(schema), vocabulary, whitespace="flexible", property_order="any"
            )
        except interlock.InterlockError:
            refused += 1
            continue
        if ms:
            start = time.perf_counter_ns()
            index.warm_up(max_ms=ms)
            warm.append(time.perf_counter_ns() - start)
        for document in documents:
            guide = index.guide()
            for token in spell(json.dumps(document, ensure_ascii=False).encode()):
                start = time.perf_counter_ns()
                guide.fill_bitmask(bits)
                taken = guide.try_advance(token)
                masks.append(time.perf_counter_ns() - start)
                digest.update(bits)
                if not taken:
                    break
    return {"masks": masks, "warm": warm, "digest": digest.hexdigest(), "refused": refused}


def in_child(work: Any) -> Any:
    """What `work` answers in a forked child."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        with os.fdopen(write, "wb") as pipe:
            pickle.dump(work(), pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        answer = pickle.load(pipe)
    os.waitpid(child, 0)
    return answer


def line(title: str, times: list[int], at: tuple[float, ...]) -> str:
    """Percentiles of a list of nanoseconds."""
    values = np.percentile(np.array(times) / 1e3, at)
    return title + "  ".join(f"p{p:g} {v:,.1f}" for p, v in zip(at, values, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("schemas", type=Path, nargs="?")
    parser.add_argument("--ms", type=float, default=5.0)
    parser.add_argument("--count", type=int)
    options = parser.parse_args()
    from real_vocabulary import load

    vocabulary = load()
    cold = in_child(lambda: run(vocabulary, options, 0))
    warm = in_child(lambda: run(vocabulary, options, options.ms))
    if cold["digest"] != warm["digest"]:
        sys.exit("masks differ")
    print(f"{len(cold['masks']):,} masks, the same cold and warm; {cold['refused']} sources refused")
    print(line("mask + advance, cold, us:  ", cold["masks"], (50, 90, 99, 99.9)))
    print(line("mask + advance, warm, us:  ", warm["masks"], (50, 90, 99, 99.9)))
    print(line("warming up, us:            ", warm["warm"], (50, 90, 99)))


if __name__ == "__main__":
    main()
