"""Built indexes beside lazy ones where what was read is remembered: keys without a name, elements of unique arrays.

    python tests/tools/remembered.py VOCABULARY [--cases 1000] [--seed 1]

VOCABULARY is a vocabulary pack with a token for every byte. Each case is a schema of few short keys or elements from
the same ranges of letters, which a table that takes one letter for another confuses, compiled twice; one of the two is
built, on one thread or two. Both read texts of such keys and elements, byte by byte. Prints every text on which they
differ, and counts at the end; exits with 1 if there is one. Deterministic for a seed.
"""

import argparse
import json
import random
import sys

import interlock

# What a key or an element may be, with some of it.
WORDS = {
    "^[#$]$": ["#", "$"],
    "^[a-c]$": ["a", "b", "c"],
    "^[x-z]{1,2}$": ["x", "y", "xy", "zz", "z"],
    "^(k|[m-o])$": ["k", "m", "o", "n"],
    r"^\d$": ["1", "2", "9"],
    "^[é-ë]$": ["é", "ê", "ë"],
    "^a[0-9]?$": ["a", "a1", "a2"],
}
VALUES = [
    ({"const": 1}, ["1"]),
    ({"type": "boolean"}, ["true", "false"]),
    ({"type": "integer", "minimum": 0, "maximum": 9}, ["0", "3", "4", "9"]),
]
TEXTS = 30


def case(rng: random.Random):
    """A schema, and what writes a text."""
    (first, words), (second, more) = rng.choice(list(WORDS.items())), rng.choice(list(WORDS.items()))
    value, values = rng.choice(VALUES)
    kind = rng.randrange(4)
    if kind == 0:
        schema = {"type": "object", "propertyNames": {"pattern": first}, "additionalProperties": value}
    elif kind == 1:
        words = words + more
        schema = {"type": "object", "patternProperties": {first: value, second: value}, "additionalProperties": False}
    else:
        items = {"type": "string", "pattern": first}
        items = items if kind == 2 else {"anyOf": [value, items]}
        schema = {"type": "array", "items": items, "uniqueItems": True, "maxItems": rng.randint(2, 3)}
    if kind < 2 and rng.random() < 0.6:
        schema["maxProperties"] = rng.randint(1, 3)
    if kind < 2 and rng.random() < 0.3:
        schema["required"] = [words[0]]

    def text() -> str:
        quoted = [json.dumps(rng.choice(words), ensure_ascii=False) for _ in range(rng.randint(1, 3))]
        if kind < 2:
            return "{" + ",".join(f"{word}:{rng.choice(values)}" for word in quoted) + "}"
        return "[" + ",".join(rng.choice([word, *values]) if kind == 3 else word for word in quoted) + "]"

    return schema, text


def accepts(index: interlock.Index, text: str, token_of: dict[int, int]) -> bool:
    guide = index.guide()
    return all(guide.try_advance(token_of[byte]) for byte in text.encode()) and guide.is_accepting


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vocabulary", help="a vocabulary pack")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    # What is compiled a second time is an index of its own.
    interlock.set_index_cache_bytes(0)
    vocabulary = interlock.Vocabulary.load(options.vocabulary)
    token_of: dict[int, int] = {}
    for token in range(len(vocabulary)):
        if len(spelled := vocabulary.token_bytes(token) or b"") == 1:
            token_of.setdefault(spelled[0], token)
    rng = random.Random(options.seed)
    counts = {"cases": 0, "complete tables": 0, "refused": 0, "texts": 0, "differ": 0}
    for _ in range(options.cases):
        schema, text = case(rng)
        counts["cases"] += 1
        order = rng.choice(["schema", "any"])
        try:
            lazy, built = (
                interlock.Index.from_json_schema(schema, vocabulary, whitespace="compact", property_order=order)
                for _ in range(2)
            )
        except interlock.UnsatisfiableError:
            counts["refused"] += 1
            continue
        built.build(threads=rng.randint(1, 2))
        counts["complete tables"] += built.num_masks is not None
        for _ in range(TEXTS):
            written = text()
            said = [accepts(index, written, token_of) for index in (lazy, built)]
            counts["texts"] += 1
            if said[0] != said[1]:
                counts["differ"] += 1
                print(f"lazy {said[0]}, built {said[1]}: {written} under {json.dumps(schema)}, order {order!r}")
    print(counts)
    return 1 if counts["differ"] else 0


if __name__ == "__main__":
    sys.exit(main())
