"""What single calls cost from Python, beside an empty statement: nanoseconds, the best of several runs.

Each line says what was measured. The index is one literal, so masks come from a cache: this is the price of the border
between Python and Rust plus one copy of a row, not of finding masks.
"""

import sys
import timeit
from pathlib import Path

import numpy as np

import interlock

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))


def measure(statement: str, names: dict, setup: str = "pass") -> None:
    """Print the cost of one execution of `statement`."""
    timer = timeit.Timer(statement, setup, globals=names)
    number, _ = timer.autorange()
    best = min(timer.repeat(5, number)) / number
    print(f"{best * 1e9:10.0f} ns  {statement}")


def main() -> None:
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
        print(title)
        measure("None", names)
        measure("guide.is_accepting", names)
        measure("guide.fill_bitmask(bits, 3)", names)
        measure("guide.advance(first); guide.rollback(1)", names)
        measure("index.guide()", names)
        measure("interlock.fill_bitmasks(guides, bits, threads=1)", names)
        measure("interlock.fill_bitmasks(guides, bits)", names)
        measure("interlock.apply_bitmask(logits, one)", names)
    # The answers were right, too.
    assert guides[0].try_advance(first) and guides[0].num_tokens == 1


if __name__ == "__main__":
    main()
