"""What single calls cost from Python, beside an empty statement: nanoseconds, the best of several runs.

Each line says what was measured. The index is a class repeated, and its masks are known: this is the price of the
border between Python and Rust plus one copy of a row, not of finding masks.
"""

import sys
import timeit
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import interlock
from answers import clear, digest, row_of

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

STATEMENTS = (
    "None",
    "guide.is_accepting",
    "guide.fill_bitmask(bits, 3)",
    "guide.advance(first); guide.rollback(1)",
    "index.guide()",
    "interlock.fill_bitmasks(guides, bits, threads=1)",
    "interlock.fill_bitmasks(guides, bits)",
    "interlock.apply_bitmask(logits, one)",
)


def measure(statement: str, names: dict[str, Any]) -> float:
    """What one execution of `statement` costs, in nanoseconds."""
    timer = timeit.Timer(statement, globals=names)
    number, _ = timer.autorange()
    return min(timer.repeat(5, number)) / number * 1e9


def lines() -> Iterator[tuple[str, str, float]]:
    """Vocabulary, statement and nanoseconds of every line."""
    from real_vocabulary import load

    small = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    for title, vocabulary in (("257 tokens", small), ("128,256 tokens", load())):
        index = interlock.Index.from_regex("[a-z]{1,200}", vocabulary)
        first = int(index.guide().allowed_token_ids()[0])
        guides = [index.guide() for _ in range(256)]
        bits = interlock.allocate_bitmask(256, vocabulary)
        logits = np.zeros((1, vocabulary.size), np.float32)
        names = {
            "interlock": interlock,
            "index": index,
            "guide": index.guide(),
            "guides": guides,
            "bits": bits,
            "one": bits[:1],
            "logits": logits,
            "first": first,
        }
        allowed = index.guide().allowed_token_ids()
        expected = digest(row_of(allowed, bits.shape[1]))
        for statement in STATEMENTS:
            if "fill" in statement:
                clear(bits)
            took = measure(statement, names)
            # The answers are right, too: every row that the statement fills, and no other.
            if "fill" in statement:
                filled = range(256) if "guides" in statement else [3]
                assert [i for i, row in enumerate(bits) if digest(row) == expected] == list(filled), statement
            yield title, statement, took
        assert np.flatnonzero(np.isfinite(logits)).tolist() == allowed.tolist()
        assert guides[0].try_advance(first) and guides[0].num_tokens == 1 and names["guide"].num_tokens == 0


def main() -> None:
    for title, statement, nanoseconds in lines():
        print(f"{title:15} {nanoseconds:10.0f} ns  {statement}", flush=True)


if __name__ == "__main__":
    main()
