"""Constants that hold the one before twice: the whole has 2^28 parts, and the schema a line for each level."""

import pytest

import interlock
from interlock.explain import byte_vocabulary


def doubling(levels, elements, **keywords):
    definitions = {"0": {"const": 0}}
    for level in range(1, levels + 1):
        half = {"$ref": f"#/$defs/{level - 1}"}
        definitions[str(level)] = {"type": "array", "prefixItems": [half, half], "minItems": 2, "items": False}
    prefix = [{"$ref": f"#/$defs/{level}"} for level in elements]
    ends = {"type": "array", "minItems": len(prefix), "items": False}
    return {"$defs": definitions, "prefixItems": prefix, **ends, **keywords}


def test_they_are_compared_without_being_written_out():
    vocabulary = byte_vocabulary()
    with pytest.raises(interlock.UnsatisfiableError, match='type "array", minItems 2 and items false'):
        interlock.Index.from_json_schema(doubling(28, (28, 28), uniqueItems=True), vocabulary)
    index = interlock.Index.from_json_schema(doubling(28, (27, 28), uniqueItems=True), vocabulary, whitespace="compact")
    assert index.guide().forced_bytes().startswith(b"[" * 28)


def test_where_nothing_asks_they_are_not_compared():
    index = interlock.Index.from_json_schema(doubling(60, (60, 60)), byte_vocabulary(), whitespace="compact")
    assert index.guide().forced_bytes().startswith(b"[" * 61)
    with pytest.raises(interlock.BudgetError):
        index.guide(max_tokens=1_000)
