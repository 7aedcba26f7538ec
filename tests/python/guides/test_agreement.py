"""Masks and steps agree: a token is allowed by the mask exactly where `try_advance` takes it.

The two are computed in different ways, so each is the other's slow twin. On small vocabularies every token is tried at
every step of random outputs; on a real one a sample is.
"""

import json
import re

import numpy as np
import pytest

import interlock

PATTERNS = ["[a-z]{2,5}", "(yes|no|ye)+s?", "(?i)é{1,3}no", r"\d{4}-\d\d", r"(?=.*s).{1,4}", "<s>|</s>", ""]
SCHEMAS = [
    {"type": "string", "maxLength": 3},
    {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "é"},
    {"type": "integer", "minimum": -12, "maximum": 340},
    {"type": "object", "properties": {"yes": {"enum": ["no", None, 12]}, "é": True}, "required": ["yes"]},
    {"type": "array", "items": {"type": "boolean"}, "maxItems": 3},
    {"$defs": {"n": {"properties": {"no": {"$ref": "#/$defs/n"}}, "type": "object"}}, "$ref": "#/$defs/n"},
]


def unpack(row, size):
    return np.unpackbits(row.view(np.uint8), bitorder="little")[:size].astype(bool)


def walk(index, seed, sample=None, steps=60):
    """One random output; at every step the mask is compared with single steps. Returns the text if it ended."""
    vocabulary = index.vocabulary
    guide, rng = index.guide(), np.random.default_rng(seed)
    bits = interlock.allocate_bitmask(1, vocabulary)
    for _ in range(steps):
        guide.fill_bitmask(bits)
        allowed = unpack(bits[0], vocabulary.size)
        assert allowed.any(), guide.tokens
        ids = np.arange(vocabulary.size)
        if sample is not None:
            ids = np.concatenate(
                [
                    rng.choice(np.flatnonzero(part), min(sample, part.sum()), replace=False)
                    for part in (allowed, ~allowed)
                ]
            )
        for id in ids.tolist():
            before = guide.num_tokens
            taken = guide.try_advance(id)
            assert taken == allowed[id], (vocabulary.decode(guide.tokens), vocabulary.token_bytes(id))
            if taken:
                guide.rollback(1)
            assert guide.num_tokens == before
        # Stop where that is possible, half of the time.
        stops = [id for id in vocabulary.eos_token_ids if allowed[id]]
        choice = stops[0] if stops and rng.random() < 0.5 else int(rng.choice(np.flatnonzero(allowed)))
        guide.advance(choice)
        if guide.is_terminated:
            return vocabulary.decode(guide.tokens).decode()
    return None


@pytest.mark.parametrize("name", ["byte_vocabulary", "word_vocabulary"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(request, name, pattern):
    index = interlock.Index.from_regex(pattern, request.getfixturevalue(name))
    for seed in range(4):
        text = walk(index, seed)
        assert text is None or re.fullmatch(pattern, text), text


@pytest.mark.parametrize("name", ["byte_vocabulary", "word_vocabulary"])
@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: json.dumps(schema)[:40])
def test_schemas(request, name, order, schema):
    index = interlock.Index.from_json_schema(schema, request.getfixturevalue(name), property_order=order)
    for seed in range(4):
        text = walk(index, seed)
        if text is not None:
            json.loads(text)


@pytest.mark.parametrize(
    "schema", [*SCHEMAS, {"type": "string", "maxLength": 12}], ids=lambda schema: json.dumps(schema)[:40]
)
def test_real_vocabulary(llama3, schema):
    index = interlock.Index.from_json_schema(schema, llama3)
    for seed in range(8):
        walk(index, seed, sample=30)
