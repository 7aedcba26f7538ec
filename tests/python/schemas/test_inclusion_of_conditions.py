"""What follows from conditions and from names of keys, with the exact comparison as the judge.

Random schemas of objects that differ in a keyword, or in the order of a list.
"""

import copy
import random
import sys
from pathlib import Path

import pytest

import interlock

sys.path.insert(0, str(Path(__file__).parent))
from test_schema_inclusion import BYTES, changed, included, write  # noqa: E402

KEYS = "abcd"
VALUES = [{}, {"const": 1}, {"enum": [1, 2]}, {"type": "null"}, True, False, {"enum": [2]}, {"required": ["a"]}]
PATTERNS = ["^a", "^[ab]", "b", "^[ab]$"]
NAMES = [
    {"enum": ["a", "b"]},
    {"enum": ["b", "a", "c"]},
    {"pattern": "^[a-c]$"},
    {"const": "a"},
    {"maxLength": 1},
    True,
]
NESTED = ("dependentSchemas", "if", "not", "anyOf", "allOf", "oneOf")
FLAT = ("required", "properties", "dependentRequired", "patternProperties", "propertyNames", "additionalProperties")


class Objects:
    """Schemas of objects with few keys; it stands in the place of ``random_schemas.Schemas``."""

    def __init__(self, rng):
        self.rng = rng

    def names(self, least=0):
        return self.rng.sample(KEYS, self.rng.randrange(least, 3))

    def schema(self, _depth):
        return self.rng.choice(VALUES)

    def condition(self, depth):
        one = {"required": self.names(1)}
        equal = {"properties": {self.rng.choice(KEYS): self.rng.choice(VALUES[1:3])}, "required": self.names()}
        return self.rng.choice([one, equal, {"not": one}, {"anyOf": [one, equal]}, self.part(depth)])

    def part(self, depth):
        out = {}
        for _ in range(self.rng.randrange(1, 4)):
            key = self.rng.choice([*FLAT, *(NESTED if depth > 0 else ())])
            out[key] = self.value(key, depth - 1)
            if key == "if":
                out |= {way: self.part(depth - 1) for way in ("then", "else") if self.rng.random() < 0.7}
        return out

    def value(self, key, depth):
        if key == "required":
            return self.names()
        if key == "patternProperties":
            return {pattern: self.schema(0) for pattern in self.rng.sample(PATTERNS, 2)}
        if key == "propertyNames":
            return self.rng.choice(NAMES)
        if key == "additionalProperties":
            return self.schema(0)
        if key in ("if", "not"):
            return self.condition(depth)
        if key in ("anyOf", "allOf", "oneOf"):
            return [self.part(depth) for _ in range(2)]
        of_name = {"properties": lambda: self.schema(0), "dependentRequired": self.names}
        return {name: of_name.get(key, lambda: self.part(depth))() for name in self.names(1)}

    def root(self):
        declared = {name: self.schema(0) for name in self.rng.sample(KEYS, self.rng.randrange(1, 5))}
        closed = {"additionalProperties": False} if self.rng.random() < 0.5 else {}
        return self.part(2) | {"type": "object", "properties": declared} | closed


def shuffled(rng, schema):
    """The schema with one list in another order."""
    schema = copy.deepcopy(schema)
    parts = [schema]
    for part in parts:
        parts += [v for v in (part.values() if isinstance(part, dict) else part) if isinstance(v, dict | list)]
    if lists := [part for part in parts if isinstance(part, list) and len(part) > 1]:
        rng.shuffle(rng.choice(lists))
    return schema


@pytest.mark.parametrize("property_order", ["schema", "any"])
def test_what_follows_is_what_the_automata_say(property_order):
    said = judged = 0
    for seed in range(200):
        rng = random.Random(seed)
        objects = Objects(rng)
        one = objects.root()
        pair = [one, shuffled(rng, one) if rng.random() < 0.25 else changed(rng, one, objects)]
        rng.shuffle(pair)
        options = {"whitespace": "compact", "spelling": "plain", "property_order": property_order}
        try:
            both = [
                interlock.Index.from_json_schema(write(s), BYTES, limits={"max_flat_states": 20_000}, **options)
                for s in pair
            ]
        except interlock.InterlockError:
            continue
        for first, second in ((0, 1), (1, 0)):
            if not included(pair[first], pair[second], **options):
                continue
            said += 1
            try:
                assert both[first].witness_not_in(both[second]) is None, (seed, pair)
                judged += 1
            except (interlock.LimitError, interlock.UnsupportedError):
                continue
    assert said > 100 and judged > 15, (said, judged)
