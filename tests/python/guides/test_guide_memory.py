"""What one guide holds, of schemas whose alternatives multiply, and whether these alternatives are taken exactly."""

import json
import random

import pytest

import interlock

MiB = 1 << 20


def objects(**keywords):
    return {"type": "object", **keywords}


def pairs(n):
    return [{"anyOf": [{"required": [f"a{i}"]}, {"required": [f"b{i}"]}]} for i in range(n)]


def dependent(n, of):
    return objects(dependentSchemas={f"a{i}": of(i) for i in range(n)})


HOSTILE = {
    "dependent names": dependent(12, lambda i: {"required": [f"b{i}"]}),
    "dependent values": dependent(12, lambda i: {"properties": {f"b{i}": {"type": "integer"}}}),
    "dependent values of one name": dependent(9, lambda i: {"properties": {"b0": {"maximum": i}}}),
    "pairs": objects(allOf=pairs(12)),
    "pairs of many": objects(allOf=[{"anyOf": [{"required": [f"{c}{i}"]} for i in range(40)]} for c in "ab"]),
    "pairs with an upper bound": objects(allOf=pairs(9), maxProperties=14),
    "pairs with a lower bound": objects(allOf=pairs(9), minProperties=12),
    "pairs of a closed object": objects(
        allOf=pairs(9), properties={f"{c}{i}": {} for c in "abk" for i in range(12)}, additionalProperties=False
    ),
    "conditions": objects(
        allOf=[
            {
                "if": {"required": [f"a{i}"]},
                "then": {"properties": {f"b{i}": {"type": "integer"}}},
                "else": {"properties": {f"k{i}": {"type": "string"}}},
            }
            for i in range(9)
        ]
    ),
    "values of pairs": objects(
        allOf=[
            {"anyOf": [{"properties": {f"a{i}": {"type": "integer"}}}, {"properties": {f"b{i}": {"type": "string"}}}]}
            for i in range(9)
        ]
    ),
    "with patterns": objects(patternProperties={"^k": {"type": "integer"}}, allOf=pairs(9)),
    "inside arrays": {"type": "array", "items": dependent(9, lambda i: {"properties": {f"b{i}": {"type": "integer"}}})},
}


def index(schema, vocabulary):
    return interlock.Index.from_json_schema(schema, vocabulary, property_order="any")


def takes(index, text):
    guide = index.guide()
    return guide.advance_many(list(text)) == len(text) and guide.is_accepting


@pytest.mark.parametrize("name", HOSTILE)
def test_a_long_output_takes_little(name, byte_vocabulary):
    compiled = index(HOSTILE[name], byte_vocabulary)
    guide = compiled.guide()
    bits = interlock.allocate_bitmask(1, byte_vocabulary)
    bracket = b"[" if name == "inside arrays" else b""
    closed = name == "pairs of a closed object"
    many = 12 if closed else 4 if "upper" in name else 1_000
    texts = [f'"{"k" if closed else "z"}{i}": {i}' for i in range(many)]
    taken = guide.advance_many(list(bracket + b"{" + ", ".join(texts).encode()))
    assert taken == len(bracket) + 1 + len(", ".join(texts))
    guide.fill_bitmask(bits)
    assert guide.memory_bytes < 20 * MiB
    fork = guide.fork()
    fork.rollback(taken // 2)
    assert fork.num_tokens == taken - taken // 2
    assert fork.advance_many(guide.tokens[fork.num_tokens :]) == taken // 2
    assert fork.allowed_token_ids().tolist() == guide.allowed_token_ids().tolist()


@pytest.mark.parametrize("name", HOSTILE)
def test_alternatives_are_exact(name, byte_vocabulary):
    jsonschema_rs = pytest.importorskip("jsonschema_rs", reason="the validator to compare with")
    validator = jsonschema_rs.Draft202012Validator(HOSTILE[name])
    compiled = index(HOSTILE[name], byte_vocabulary)
    rng = random.Random(name)
    counts = [0, 0]
    for _ in range(400):
        few = rng.randrange(1, 13)
        names = [f"{c}{i}" for i in range(few) for c in "abk" if rng.random() < rng.choice([0.2, 0.5, 0.9])]
        if rng.random() < 0.5:
            # One of each pair.
            one = [f"{rng.choice('ab')}{i}" for i in range(rng.choice([9, 9, 12, 12, few]))]
            names = one + names[: rng.randrange(4)]
        rng.shuffle(names)
        value = {key: rng.choice([1, 5, "x"]) if rng.random() < 0.3 else 3 for key in names}
        value = [value, {}] if name == "inside arrays" else value
        valid = validator.is_valid(value)
        counts[valid] += 1
        assert takes(compiled, json.dumps(value).encode()) == valid, value
    assert min(counts) > 4, counts


def test_a_bound_on_history(byte_vocabulary):
    bounded = interlock.Index.from_json_schema({}, byte_vocabulary, limits={"max_guide_bytes": 1 << 16})
    free = interlock.Index.from_json_schema({}, byte_vocabulary)
    text = b"[" + b'{"a": [1, true, "text"]}, ' * 2_000
    guides = [compiled.guide() for compiled in (bounded, free)]
    assert all(guide.advance_many(list(text)) == len(text) for guide in guides)
    assert guides[0].memory_bytes < guides[1].memory_bytes / 4
    for back in (1, 100, 10_000, 30_000):
        for guide in guides:
            guide.rollback(back)
        same = [guide.allowed_token_ids().tolist() for guide in guides]
        assert same[0] == same[1]
