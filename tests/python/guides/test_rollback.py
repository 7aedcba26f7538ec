"""Going back and forking: after any interleaving a guide is what a fresh one that took the same tokens is."""

import gc
import random

import numpy as np
import pytest

import interlock

SOURCES = [
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 12},
            "tags": {"type": "array", "items": {"enum": ["red", "green"]}, "uniqueItems": True},
            "at": {"anyOf": [{"type": "null"}, {"type": "object", "additionalProperties": {"type": "number"}}]},
        },
        "required": ["name"],
    },
    {"$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}, "maxItems": 3}}, "$ref": "#/$defs/t"},
    {"type": "object", "patternProperties": {"^x-": {"type": "integer"}}, "additionalProperties": {"type": "string"}},
    r"([a-z]+|[0-9]{2,9})(, ([a-z]+|[0-9]{2,9})){0,9}",
]
WORDS = [b'{"', b'":', b'", "', b'"}', b"true", b"red", b"green", b'"name"', b'": "', b"[[", b"]]", b", ", b"ab", b"12"]


@pytest.fixture(scope="module")
def vocabulary():
    return interlock.Vocabulary([bytes([b]) for b in range(256)] + [b"", *WORDS], eos_token_ids=[256])


def index_of(source, vocabulary, order="schema"):
    if isinstance(source, str):
        return interlock.Index.from_regex(source, vocabulary)
    return interlock.Index.from_json_schema(source, vocabulary, property_order=order)


def mask(guide, row=None):
    bits = interlock.allocate_bitmask(1, guide.index.vocabulary)
    guide.fill_bitmask(bits)
    return bits[0].tolist()


class Pair:
    """A guide that has been through a lot, and the tokens that it should have taken."""

    def __init__(self, index, options, guide=None, tokens=()):
        self.index, self.options = index, options
        self.guide = index.guide(**options) if guide is None else guide
        self.tokens = list(tokens)

    def fresh(self):
        guide = self.index.guide(**self.options)
        assert guide.advance_many(self.tokens) == len(self.tokens)
        return guide

    def same(self):
        fresh = self.fresh()
        assert self.guide.tokens == self.tokens
        assert self.guide.state == fresh.state
        assert mask(self.guide) == mask(fresh)
        assert (self.guide.is_accepting, self.guide.is_terminated) == (fresh.is_accepting, fresh.is_terminated)
        assert self.guide.forced_bytes() == fresh.forced_bytes()

    def some(self, rng, count):
        """Tokens that may come next, the last of them perhaps not."""
        scout, out = self.fresh(), []
        while len(out) < count:
            allowed = scout.allowed_token_ids()
            if len(allowed) == 0:
                break
            out.append(int(rng.choice(allowed)))
            scout.advance(out[-1])
        return out


@pytest.mark.parametrize(("seed", "budget"), [*((s, None) for s in range(8)), *((s, 60) for s in range(4))])
def test_interleavings(vocabulary, seed, budget):
    rng = random.Random(seed)
    source = SOURCES[seed % len(SOURCES)]
    index = index_of(source, vocabulary, rng.choice(["schema", "any"]))
    pairs = [Pair(index, {} if budget is None else {"max_tokens": budget})]
    for step in range(90 if budget is None else 40):
        pair = rng.choice(pairs)
        match rng.randrange(7):
            case 0 | 1:
                tokens = pair.some(rng, rng.randint(1, 9))
                refused = [*tokens, rng.randrange(len(vocabulary))]
                taken = pair.guide.advance_many(refused)
                assert taken >= len(tokens)
                pair.tokens += refused[:taken]
            case 2:
                back = rng.randint(0, len(pair.tokens))
                pair.guide.rollback(back)
                del pair.tokens[len(pair.tokens) - back :]
            case 3 if len(pairs) < 5:
                pairs.append(Pair(index, pair.options, pair.guide.fork(), pair.tokens))
            case 4:
                tokens = pair.some(rng, rng.randint(1, 9))
                assert pair.guide.validate(tokens) == len(tokens)
            case 5:
                tokens = pair.some(rng, 4)
                bits = interlock.allocate_bitmask(len(tokens) + 1, vocabulary)
                assert pair.guide.fill_draft_bitmasks(tokens, bits) == len(tokens)
                scout = pair.fresh()
                for row, token in zip(bits.tolist(), [*tokens, None], strict=True):
                    assert row == mask(scout)
                    if token is not None:
                        scout.advance(token)
            case _:
                mask(pair.guide)
        if step % 3 == 0:
            pair.same()
    for pair in pairs:
        pair.same()


def resident() -> int:
    """Bytes of memory that the process holds."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.parametrize(
    "source", [SOURCES[0], {"type": "array", "items": {"type": "string"}}], ids=["object", "array"]
)
def test_going_back_ten_thousand_times_holds_no_memory(vocabulary, source):
    index = index_of(source, vocabulary)
    guide, rng = index.guide(), random.Random(1)
    draft = []
    while len(draft) < 64:
        allowed = [t for t in guide.allowed_token_ids().tolist() if t != 256]
        # Not the ends of containers: the sequence is to be long.
        allowed = [t for t in allowed if not set(vocabulary.token_bytes(t)) & set(b'"]}')] or allowed
        draft.append(rng.choice(allowed))
        if guide.num_tokens + 1 > 500 or not guide.try_advance(draft[-1]):
            break
    draft = guide.tokens[-64:]
    guide.rollback(len(draft))
    bits = interlock.allocate_bitmask(1, vocabulary)

    def round_trip():
        assert guide.advance_many(draft) == len(draft)
        guide.fill_bitmask(bits)
        guide.rollback(len(draft))

    for _ in range(500):
        round_trip()
    gc.collect()
    try:
        before = resident()
    except OSError:
        pytest.skip("no /proc here")
    state = guide.state
    for _ in range(10_000):
        round_trip()
    gc.collect()
    assert guide.state == state
    # A kilobyte kept by each round would be ten times as much.
    assert resident() - before < 1 << 20


def test_rows_of_numpy_are_not_kept(vocabulary):
    guide = index_of(SOURCES[0], vocabulary).guide()
    bits = np.full((2, len(interlock.allocate_bitmask(1, vocabulary)[0])), -1, np.int32)
    guide.fill_bitmask(bits, 1)
    bits[1] = 0
    assert mask(guide) != [0] * bits.shape[1]
