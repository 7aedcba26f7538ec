"""What warming up takes off the masks of requests: cold and warm, in microseconds.

    python benches/warm_up.py [SCHEMAS] [--ms 5] [--count N]

SCHEMAS is a folder of MaskBench files, of which `--count` are taken; without it it is the schemas of `benches/corpus`.
Two forked children meet the same sources in the same order, one after the other: each compiles a source, the second one
warms it up, and both walk its members by the tokenizer's own tokens. A time is one mask and one token. The masks of
both must be the same. Members are walked right after warming up, so nothing is hidden by a prompt that is read.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import pickle
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import interlock

sys.path.insert(0, str(Path(__file__).parent / "rivals"))

import corpus
from answers import allows, clear
from found import found_schemas


def run(vocabulary: interlock.Vocabulary, sources: list[corpus.Source], ms: float) -> dict[str, Any]:
    """Times of masks and of warming up, and a digest of all masks."""
    cut, digest = corpus.vocabulary().cut, hashlib.blake2b()
    bits = interlock.allocate_bitmask(1, vocabulary)
    masks, warm, refused = [], [], 0
    for source in sources:
        try:
            index = interlock.Index.from_json_schema(
                source.text, vocabulary, whitespace="flexible", property_order="any"
            )
        except interlock.InterlockError:
            refused += 1
            continue
        if ms:
            start = time.perf_counter_ns()
            index.warm_up(max_ms=ms)
            warm.append(time.perf_counter_ns() - start)
        for member in source.members:
            guide = index.guide()
            clear(bits)
            for token in cut(member):
                start = time.perf_counter_ns()
                guide.fill_bitmask(bits)
                taken = guide.try_advance(token)
                masks.append(time.perf_counter_ns() - start)
                digest.update(bits)
                assert allows(bits[0], token) == taken, "a mask and its guide disagree"
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
    parser.add_argument("--count", type=int, default=600)
    options = parser.parse_args()
    if options.schemas:
        sources = found_schemas(options.schemas, options.count)
    else:
        sources = [source for source in corpus.sources() if source.kind == "schema"]
    tokens = corpus.vocabulary()
    vocabulary = interlock.Vocabulary(tokens.tokens, eos_token_ids=[tokens.stop])
    cold = in_child(lambda: run(vocabulary, sources, 0))
    warm = in_child(lambda: run(vocabulary, sources, options.ms))
    if cold["digest"] != warm["digest"]:
        sys.exit("masks differ")
    print(f"{len(cold['masks']):,} masks, the same cold and warm; {cold['refused']} sources refused")
    print(line("mask + advance, cold, us:  ", cold["masks"], (50, 90, 99, 99.9)))
    print(line("mask + advance, warm, us:  ", warm["masks"], (50, 90, 99, 99.9)))
    print(line("warming up, us:            ", warm["warm"], (50, 90, 99)))


if __name__ == "__main__":
    main()
