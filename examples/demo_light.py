"""Decode under masks with a real vocabulary of 128,256 tokens and no model: seeded random numbers stand for logits.

Whatever the numbers, the text must match; this program checks that, and prints how long masks take.
"""

import json
import re
import sys
import time

import numpy as np
from real_vocabulary import load

import interlock

PATTERNS = {
    "a date and a time": r"(?a)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d",
    "a dotted quad": r"(?a)((25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(25[0-5]|2[0-4]\d|1?\d?\d)",
    "a sentence without the letter e": r"(?!.*e)[A-Z][a-z]{1,11}( [a-z]{1,11}){2,6}\.",
}

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 3, "maxLength": 20},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}, "minItems": 1, "maxItems": 3},
        "balance": {"type": "number", "multipleOf": 0.01, "minimum": -1000, "maximum": 1000},
    },
    "required": ["name", "age", "tags", "balance"],
    "additionalProperties": False,
}


def decode(index: interlock.Index, rng: np.random.Generator) -> tuple[str, list[float]]:
    """One output, and the microseconds that each mask took."""
    vocabulary = index.vocabulary
    guide = index.guide()
    bits = interlock.allocate_bitmask(1, vocabulary)
    times = []
    while not guide.is_terminated:
        logits = rng.standard_normal((1, vocabulary.size), dtype=np.float32)
        start = time.perf_counter()
        guide.fill_bitmask(bits)
        times.append((time.perf_counter() - start) * 1e6)
        interlock.apply_bitmask(logits, bits)
        guide.advance(int(logits[0].argmax()))
    return vocabulary.decode(guide.tokens).decode(), times


def show(title: str, index: interlock.Index, compile_ms: float, right) -> None:
    """Decode three times, print, and check."""
    print(f"{title}  (compiled in {compile_ms:.2f} ms)")
    for seed in range(3):
        text, times = decode(index, np.random.default_rng(seed))
        if not right(text):
            sys.exit(f"the output does not match: {text!r}")
        print(f"  {text}")
        print(f"    {len(times)} masks, median {np.median(times):.1f} us, slowest {max(times):.0f} us")


def compiled(make, *arguments, **options):
    """An index, and the milliseconds that it took."""
    start = time.perf_counter()
    index = make(*arguments, **options)
    return index, (time.perf_counter() - start) * 1e3


def main() -> None:
    start = time.perf_counter()
    vocabulary = load()
    print(f"{vocabulary!r}, loaded in {time.perf_counter() - start:.2f} s\n")
    for title, pattern in PATTERNS.items():
        index, ms = compiled(interlock.Index.from_regex, pattern, vocabulary)
        show(f"{title}: {pattern}", index, ms, lambda text, pattern=pattern: re.fullmatch(pattern, text))

    def valid(text: str) -> bool:
        value = json.loads(text)
        return (
            list(value) == list(SCHEMA["properties"])
            and 3 <= len(value["name"]) <= 20
            and 0 <= value["age"] <= 150
            and 1 <= len(value["tags"]) <= 3
            and set(value["tags"]) <= {"red", "green", "blue"}
            and abs(value["balance"]) <= 1000
        )

    index, ms = compiled(interlock.Index.from_json_schema, SCHEMA, vocabulary, whitespace="spaced")
    show("a JSON Schema", index, ms, valid)
    print("\nEvery output matched.")


if __name__ == "__main__":
    main()
