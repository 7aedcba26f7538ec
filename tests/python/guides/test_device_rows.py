"""Rows that stay on a device: masks are those of ``fill_bitmasks``, and what is there already is not sent again."""

from __future__ import annotations

import random

import numpy as np
import pytest

import interlock
from interlock._core import _RowSlots

SCHEMAS = [
    {"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "integer"}}, "required": ["name"]},
    {"type": "array", "items": {"enum": ["ab", "12", None]}, "minItems": 1},
    {"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}}, "additionalProperties": False},
    {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
]
GRAMMAR = 'start: "f(" (word ("," word)*)? ")"\nword: /[a-z]+/ | "[" word "]"'


@pytest.fixture(scope="module")
def vocabulary():
    tokens = [bytes([b]) for b in range(256)] + [b"", b"ab", b"12", b'{"', b'":', b"name", b'"}', b'","', b"]"]
    return interlock.Vocabulary(tokens, eos_token_ids=[256], size=290)


def indexes(vocabulary, tmp_path):
    made = [interlock.Index.from_json_schema(schema, vocabulary) for schema in SCHEMAS]
    made += [interlock.Index.from_regex(p, vocabulary) for p in ("[a-z]{2,9}", "(ab|12)*x{0,70}y")]
    made += [interlock.Index.from_choices(["name", "name12"], vocabulary)]
    made += [interlock.Index.from_grammar(GRAMMAR, vocabulary)]
    built = interlock.Index.from_regex("(ab|12)+,[a-d]{1,3}", vocabulary)
    built.build()
    built.save(tmp_path / "stored", tables=True)
    return [*made, built, interlock.Index.load(tmp_path / "stored", vocabulary)]


def expected_rows(guides, vocabulary):
    bits = interlock.allocate_bitmask(len(guides), vocabulary)
    interlock.fill_bitmasks(guides, bits)
    return bits


class Pool:
    """A device's rows, as an array."""

    def __init__(self, slots, vocabulary):
        self.known, self.rows = _RowSlots(slots), np.full((slots, (vocabulary.size + 31) // 32), 7, np.int32)
        self.words = self.rows.shape[1]

    def masks(self, guides):
        """The masks of a step by what is in the slots, and how many rows were sent."""
        bits = np.full((len(guides), self.words), 9, np.int32)
        of, new = self.known.fill(guides, bits)
        assert of.dtype == new.dtype == np.int32 and len(of) == len(guides) and len(set(new)) == len(new)
        assert (bits[len(new) :] == 9).all(), "nothing else was written"
        self.rows[new] = bits[: len(new)]
        return np.where((of < 0)[:, None], -1, self.rows[of]), len(new)


@pytest.mark.usefixtures("compiled_anew")
@pytest.mark.parametrize("seed", range(4))
def test_masks_are_those_of_a_plain_fill(vocabulary, tmp_path, seed):
    """Random walks of a batch, with guides that end, go back, start anew and are left out."""
    rng = random.Random(seed)
    made = indexes(vocabulary, tmp_path)
    options = [{}, {}, {}, {"stop_token_ids": [256, ord("]")]}, {"max_tokens": 60}, {"min_tokens": 3}]
    start = lambda: rng.choice(made).guide(**rng.choice(options))
    guides = [start() for _ in range(20)]
    pool, sent = Pool(rng.choice((20, 25, 100)), vocabulary), 0
    for _ in range(60):
        batch = [guide if rng.random() < 0.9 else None for guide in guides]
        masks, new = pool.masks(batch)
        sent += new
        assert (masks == expected_rows(batch, vocabulary)).all()
        for i, guide in enumerate(guides):
            if guide.is_terminated:
                guides[i] = start()
            elif rng.random() < 0.1:
                guide.rollback(rng.randrange(guide.num_tokens + 1))
            else:
                guide.advance(rng.choice(guide.allowed_token_ids().tolist()))
    assert sent < 60 * 20
    assert pool.known.num_identified <= len(pool.rows)


def test_what_is_there_is_not_sent_again(vocabulary):
    index = interlock.Index.from_json_schema(SCHEMAS[0], vocabulary)
    pool = Pool(64, vocabulary)
    counts = []
    for _ in range(3):
        guides = [index.guide() for _ in range(8)]
        for token in b'{"name": "some text", "n": 12}':
            counts.append(pool.masks(guides)[1])
            assert interlock.advance_each(guides, [token] * 8) == b"\x01" * 8
    steps = len(counts) // 3
    # A mask is made once, and named from then on; in the second round nearly all are there, in the third all.
    assert sum(counts[2 * steps :]) == 0 and sum(counts[steps : 2 * steps]) <= steps


def test_rows_inside_strings_are_shared_by_schemas(vocabulary):
    """The inside of a string is one row, whatever schema it is of."""
    schemas = [{"type": "object", "properties": {f"k{i}": {"type": "string"}}} for i in range(5)]
    guides = [interlock.Index.from_json_schema(schema, vocabulary).guide() for schema in schemas]
    for i, guide in enumerate(guides):
        guide.advance_many(list(f'{{"k{i}": "some'.encode()))
    pool = Pool(64, vocabulary)
    for _ in range(3):
        expected = expected_rows(guides, vocabulary)
        masks, new = pool.masks(guides)
        assert (masks == expected).all()
    assert new == 0
    different = len({row.tobytes() for row in expected})
    assert pool.known.num_identified <= max(different, 5)


def test_forgetting(vocabulary):
    index = interlock.Index.from_regex("[a-z]+", vocabulary)
    pool, guides = Pool(4, vocabulary), [index.guide()]
    assert [pool.masks(guides)[1] for _ in range(3)][-1] == 0
    interlock.clear_caches()
    assert (pool.masks(guides)[0] == expected_rows(guides, vocabulary)).all()
    pool.known.clear()
    assert pool.known.num_identified == 0
    assert pool.masks(guides)[1] == 1


def test_refusals(vocabulary):
    index = interlock.Index.from_regex("[a-z]+", vocabulary)
    guides = [index.guide() for _ in range(3)]
    bits = np.zeros((3, 10), np.int32)
    for slots in (0, -1, 2**40):
        with pytest.raises(interlock.ArgumentError):
            _RowSlots(slots)
    slots = _RowSlots(2)
    with pytest.raises(interlock.ArgumentError, match="3 guides, but 2 slots"):
        slots.fill(guides, bits)
    with pytest.raises(interlock.ArgumentError, match="2 guides, but 2 slots and 1 row"):
        slots.fill(guides[:2], bits[:1])
    with pytest.raises(interlock.GuideBusyError, match="guide 1"):
        slots.fill([guides[0], guides[0]], bits)
    with pytest.raises(interlock.ArgumentError, match="words"):
        slots.fill(guides[:1], bits[:, :9].copy())
    with pytest.raises(interlock.ArgumentError, match="threads must be at least 1"):
        slots.fill(guides[:1], bits, 0)
    with pytest.raises(TypeError, match="guides must hold"):
        slots.fill(["yes"], bits)
    assert not bits.any() and slots.num_identified == 0
    of, new = slots.fill([None, guides[0]], bits)
    assert of[0] == -1 and new.tolist() == [of[1]]


class TestTorch:
    @pytest.fixture
    def torch(self):
        return pytest.importorskip("torch", reason="torch is not installed: make test-torch")

    @pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "float64"])
    def test_steps(self, torch, vocabulary, dtype):
        from interlock.gpu import DeviceRows

        index = interlock.Index.from_json_schema(SCHEMAS[0], vocabulary)
        guides = [index.guide() for _ in range(5)]
        guides[3] = None
        rows = DeviceRows(6, vocabulary, device="cpu", slots=8)
        sent = []
        for step in range(14):
            sent.append(rows.fill(guides))
            logits = torch.randn(5, vocabulary.size).to(getattr(torch, dtype))
            expected = logits.clone()
            interlock.apply_bitmask(expected, expected_rows(guides, vocabulary))
            rows.apply(logits)
            assert torch.equal(logits, expected)
            for i, guide in enumerate(guides):
                if guide is not None and not guide.is_terminated:
                    allowed = guide.allowed_token_ids()
                    guide.advance(int(allowed[(step * 7 + i // 3) % len(allowed)]))
        assert min(sent) < 4 and rows.num_kept > 0
        # Other rows of the logits, in another order.
        rows.fill(guides[:2])
        logits = torch.zeros(7, vocabulary.size)
        rows.apply(logits, rows=[4, 1])
        expected = torch.zeros(7, vocabulary.size)
        interlock.apply_bitmask(expected, expected_rows(guides[:2], vocabulary), rows=[4, 1])
        assert torch.equal(logits, expected)

    def test_refusals(self, torch, vocabulary):
        from interlock.gpu import DeviceRows

        index = interlock.Index.from_regex("[a-z]+", vocabulary)
        for wrong in ({"batch": -1}, {"batch": 4, "slots": 3}, {"batch": 0, "slots": 0}):
            with pytest.raises(interlock.ArgumentError, match="slots must be at least batch"):
                DeviceRows(v_or_size=vocabulary, device="cpu", **wrong)
        rows = DeviceRows(2, vocabulary, device="cpu")
        logits = torch.zeros(2, vocabulary.size)
        with pytest.raises(interlock.ArgumentError, match="call fill first"):
            rows.apply(logits)
        guide = index.guide()
        with pytest.raises(interlock.GuideBusyError):
            rows.fill([guide, guide])
        with pytest.raises(interlock.ArgumentError, match="call fill first"):
            rows.apply(logits)
        with pytest.raises(interlock.ArgumentError, match="3 guides, but these rows were made for a batch of 2"):
            rows.fill([None] * 3)
        assert rows.fill([guide, None]) == 1
        for unsuitable in (torch.zeros(3, vocabulary.size), torch.zeros(2, 400), torch.zeros(2, 290, device="meta")):
            with pytest.raises(interlock.ArgumentError):
                rows.apply(unsuitable)
        with pytest.raises(interlock.ArgumentError, match="must be a torch tensor on cpu"):
            rows.apply(np.zeros((2, 290), np.float32))
        assert not logits.any()
        with pytest.raises(interlock.ArgumentError, match="the width of the logits is 0"):
            DeviceRows(2, 0, device="cpu").fill([])
