"""Bitmasks: allocation, which arrays are accepted, and their application to logits."""

import numpy as np
import pytest
from mask_definition import slow_apply, unpack

import interlock
from interlock import allocate_bitmask, apply_bitmask, masks

EOS = 256


@pytest.fixture
def guide(byte_vocabulary):
    return interlock.Index.from_choices(["yes", "no"], byte_vocabulary).guide()


def test_allocate(byte_vocabulary):
    bits = allocate_bitmask(3, byte_vocabulary)
    assert bits.shape == (3, 10) and bits.dtype == np.int32 and (bits == -1).all()
    assert allocate_bitmask(1, 257).shape == (1, 9)
    assert allocate_bitmask(0, 32).shape == (0, 1)
    assert all(allocate_bitmask(1, size).ctypes.data % 64 == 0 for size in (1, 257, 128_256) for _ in range(9))
    assert allocate_bitmask(2, np.int64(33)).shape == (2, 2)
    with pytest.raises(interlock.ArgumentError):
        allocate_bitmask(-1, 32)


def test_fill_writes_one_row(guide, byte_vocabulary):
    bits = allocate_bitmask(3, byte_vocabulary)
    assert guide.fill_bitmask(bits, row=1) is True
    assert (bits[[0, 2]] == -1).all()
    assert np.flatnonzero(unpack(bits[1], 320)).tolist() == sorted(b"yn")


def test_one_dimension_and_default_row(guide):
    bits = np.full(10, -1, np.int32)
    guide.fill_bitmask(bits)
    assert np.flatnonzero(unpack(bits, 320)).tolist() == sorted(b"yn")


def test_wide_rows_end_in_zeros(guide):
    bits = np.full((2, 14), -1, np.int32)
    guide.fill_bitmask(bits, 1)
    assert (bits[1, 10:] == 0).all()
    assert (bits[0] == -1).all()
    assert np.flatnonzero(unpack(bits[1], 448)).tolist() == sorted(b"yn")


def test_after_the_end_all_ones(guide):
    guide.advance_many([*b"no", EOS])
    bits = np.zeros((1, 12), np.int32)
    assert guide.fill_bitmask(bits) is False
    assert (bits == -1).all()


@pytest.mark.parametrize(
    "bits",
    [
        pytest.param(np.zeros((2, 9), np.int32), id="narrow"),
        pytest.param(np.zeros((2, 10), np.int64), id="int64"),
        pytest.param(np.zeros((2, 10), np.uint32), id="uint32"),
        pytest.param(np.zeros((2, 10), np.float32), id="float32"),
        pytest.param(np.zeros((2, 10), ">i4"), id="big-endian"),
        pytest.param(np.zeros((2, 20), np.int32)[:, ::2], id="gaps"),
        pytest.param(np.zeros((10, 2), np.int32).T, id="transposed"),
        pytest.param(np.zeros((4, 10), np.int32)[::2], id="every second row"),
        pytest.param(np.zeros((1, 2, 10), np.int32), id="three dimensions"),
        pytest.param(np.int32(0), id="scalar"),
        pytest.param(np.zeros(81, np.int8)[1:].view(np.int32).reshape(2, 10), id="misaligned"),
        pytest.param([[0] * 10] * 2, id="list"),
        pytest.param(None, id="None"),
    ],
)
def test_unsuitable_arrays_are_refused_and_unchanged(guide, bits):
    before = np.array(bits, copy=True)
    with pytest.raises(interlock.ArgumentError):
        guide.fill_bitmask(bits, 1)
    with pytest.raises(interlock.ArgumentError):
        interlock.fill_bitmasks([guide], bits, rows=[1])
    with pytest.raises(interlock.ArgumentError):
        guide.fill_draft_bitmasks([1], bits)
    assert (np.array(bits) == before).all()


def test_read_only_is_refused(guide):
    bits = np.zeros((1, 10), np.int32)
    bits.flags.writeable = False
    with pytest.raises(interlock.ArgumentError):
        guide.fill_bitmask(bits)


@pytest.mark.parametrize("row", [2, -1, 2**31, 2**70, -(2**70)])
def test_row_out_of_range(guide, row):
    bits = np.zeros((2, 10), np.int32)
    with pytest.raises(interlock.ArgumentError):
        guide.fill_bitmask(bits, row)
    assert (bits == 0).all()


@pytest.mark.parametrize("threads", [1, 2, 5, None])
def test_batch_agrees_with_single_fills(byte_vocabulary, threads):
    index = interlock.Index.from_choices([f"{i:03d}" for i in range(200)], byte_vocabulary)
    guides = [index.guide() for _ in range(200)]
    for i, guide in enumerate(guides):
        guide.advance_many(list(f"{i:03d}".encode())[: i % 4])
    expected = allocate_bitmask(200, byte_vocabulary)
    for i, guide in enumerate(guides):
        guide.fill_bitmask(expected, i)
    got = allocate_bitmask(200, byte_vocabulary)
    assert interlock.fill_bitmasks(guides, got, threads=threads) is True
    assert (got == expected).all()
    rows = np.random.default_rng(1).permutation(200)
    shuffled = allocate_bitmask(200, byte_vocabulary)
    interlock.fill_bitmasks(guides, shuffled, rows=rows, threads=threads)
    assert (shuffled[rows] == expected).all()


FEW = {"type": "object", "properties": {"name": {"type": "string"}, "of": {"$ref": "#"}}, "additionalProperties": False}


@pytest.mark.usefixtures("compiled_anew")
@pytest.mark.parametrize("size", [1, 3, 4, 13])
def test_few_guides_at_one_place_make_one_mask(byte_vocabulary, size):
    index = interlock.Index.from_json_schema(FEW, byte_vocabulary)
    guides = [index.guide() for _ in range(size)]
    bits = allocate_bitmask(size, byte_vocabulary)
    for token in b'{"of":{':
        assert interlock.advance_each(guides, [token] * size) == b"\x01" * size
        before = interlock.stats()
        assert interlock.fill_bitmasks(guides, bits, threads=1)
        after = interlock.stats()
        assert after["mask_misses"] - before["mask_misses"] <= 1
        assert after["masks"] - before["masks"] == size
        assert (bits == bits[0]).all()


def test_few_guides_of_all_kinds_agree_with_single_fills(byte_vocabulary):
    schema = interlock.Index.from_json_schema(FEW, byte_vocabulary)
    ended = interlock.Index.from_choices(["a"], byte_vocabulary).guide()
    ended.advance_many([ord("a"), EOS])
    tight = schema.guide(max_tokens=30)
    new, known = schema.guide(), schema.guide()
    new.advance_many(list(b'{"name":"a\\u00'))
    pattern = interlock.Index.from_regex("[a-f]{2,70}x", byte_vocabulary).guide()
    known.fill_bitmask(allocate_bitmask(1, byte_vocabulary))
    for guides in ([ended, tight, new], [new, known, pattern], [pattern, ended], [ended, tight, new, known, pattern]):
        got, expected = (allocate_bitmask(len(guides), byte_vocabulary) for _ in range(2))
        assert interlock.fill_bitmasks(guides, got) is True
        for i, guide in enumerate(guides):
            guide.fill_bitmask(expected, i)
        assert (got == expected).all()


def test_batch_returns_whether_anything_is_masked(byte_vocabulary):
    guides = [interlock.Index.from_choices(["a"], byte_vocabulary).guide() for _ in range(2)]
    bits = allocate_bitmask(2, byte_vocabulary)
    for guide in guides:
        guide.advance_many([ord("a"), EOS])
    assert interlock.fill_bitmasks(guides, bits) is False
    assert (bits == -1).all()
    assert interlock.fill_bitmasks([], bits) is False


def test_batch_is_refused_as_a_whole(guide, byte_vocabulary):
    other = guide.fork()
    bits = np.full((2, 10), 7, np.int32)
    for guides, rows in [
        ([guide, other, guide.fork()], None),
        ([guide, other], [0]),
        ([guide, other], [0, 0]),
        ([guide, other], [0, 2]),
        ([guide, other], [-1, 0]),
    ]:
        with pytest.raises(interlock.ArgumentError):
            interlock.fill_bitmasks(guides, bits, rows)
    with pytest.raises(interlock.GuideBusyError, match="guide 1 of the batch is guide 0 again"):
        interlock.fill_bitmasks([guide, guide], bits)
    for many in ([guide, other, guide.fork()], [guide, guide, guide], [None, None, guide]):
        with pytest.raises(interlock.ArgumentError, match="^3 guides, but bits has 2 rows: without rows, row i is"):
            interlock.fill_bitmasks(many, bits)
    with pytest.raises(interlock.ArgumentError):
        interlock.fill_bitmasks([guide], bits, threads=0)
    assert (bits == 7).all()
    interlock.fill_bitmasks([guide, other], bits)
    assert (bits[0] == bits[1]).all()


@pytest.mark.parametrize("count", [1, 3, 40])
def test_rows_without_a_constraint(byte_vocabulary, count):
    """`None` makes a row of all ones; the guides' rows are what they are without it."""
    indexes = [interlock.Index.from_choices(choices, byte_vocabulary) for choices in (["yes", "no"], ["12"])]
    guides = [None if i % 3 == 1 else indexes[i % 2].guide() for i in range(count)]
    for rows in (None, list(reversed(range(count)))):
        bits = np.full((count + 1, 10), 7, dtype=np.int32)
        assert interlock.fill_bitmasks(guides, bits, rows)
        for i, guide in enumerate(guides):
            row = bits[i if rows is None else rows[i]]
            expected = np.full((1, 10), -1, dtype=np.int32)
            if guide is not None:
                guide.fill_bitmask(expected)
            assert (row == expected[0]).all()
        assert (bits[count] == 7).all(), "a row that nobody named"
    assert interlock.fill_bitmasks([None] * count, bits) is False and (bits[:count] == -1).all()
    narrow = np.zeros((count, 1), dtype=np.int32)
    assert interlock.fill_bitmasks([None] * count, narrow) is False and (narrow == -1).all()


def test_batches_of_something_else_are_refused(byte_vocabulary, guide):
    bits = np.full((2, 10), 7, dtype=np.int32)
    for other in ("yes", 0, guide.index, [guide]):
        with pytest.raises(TypeError, match=r"guides must hold interlock\.Guide or None, not"):
            interlock.fill_bitmasks([None, other], bits)
        with pytest.raises(TypeError, match=r"guides must hold interlock\.Guide or None, not"):
            interlock.advance_each([guide, other], [ord("y"), 1])
    for rows in ([0, 0], [0, 2], [0]):
        with pytest.raises(interlock.ArgumentError):
            interlock.fill_bitmasks([None, guide], bits, rows)
    with pytest.raises(interlock.ArgumentError, match="words"):
        interlock.fill_bitmasks([None, guide], bits[:, :9].copy())
    with pytest.raises(interlock.GuideBusyError, match="guide 2"):
        interlock.fill_bitmasks([guide, None, guide], np.zeros((3, 10), np.int32))
    assert (bits == 7).all() and guide.num_tokens == 0


def test_advance_each(byte_vocabulary):
    index = interlock.Index.from_choices(["yes", "no"], byte_vocabulary)
    guides = [index.guide() for _ in range(3)]
    batch = [guides[0], None, guides[1], guides[2]]
    answer = interlock.advance_each(batch, np.array([ord("y"), 5, ord("x"), ord("n")]))
    assert type(answer) is bytes and list(answer) == [1, 1, 0, 1]
    assert [guide.tokens for guide in guides] == [[ord("y")], [], [ord("n")]]
    guides[2].advance(ord("o"))
    assert list(interlock.advance_each([guides[2], None], [256, -1])) == [2, 1] and guides[2].is_terminated
    assert list(interlock.advance_each([], [])) == []
    with pytest.raises(interlock.ArgumentError, match="2 guides, but 1 id: "):
        interlock.advance_each([guides[0], None], [ord("e")])
    with pytest.raises(interlock.GuideBusyError, match="guide 2 of the batch is guide 0 again"):
        interlock.advance_each([guides[0], None, guides[0]], [ord("e"), 0, ord("s")])
    assert guides[0].tokens == [ord("y")]


def test_guides_of_several_vocabularies_are_stepped_in_one_call(byte_vocabulary):
    wider = interlock.Vocabulary([*([b""] * 3), *(bytes([i]) for i in range(256)), b""], eos_token_ids=[259])
    guides = [interlock.Index.from_regex("[ab]+", vocabulary).guide() for vocabulary in (byte_vocabulary, wider)]
    assert list(interlock.advance_each(guides, [ord("a"), ord("a") + 3])) == [1, 1]
    # Masks are for the logits of one model (test_batch_failures.py).
    with pytest.raises(interlock.ArgumentError, match="bits has 8 words a row, the vocabulary of guide 0 needs 10"):
        interlock.fill_bitmasks(guides, np.zeros((2, 8), np.int32))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("columns", [1, 31, 32, 64, 100, 319, 320, 321, 400])
def test_apply_agrees_with_the_definition(dtype, columns):
    rng = np.random.default_rng(columns)
    bits = rng.integers(-(2**31), 2**31, (4, 10), dtype=np.int32)
    bits[1], bits[2, ::2], bits[3, :5] = -1, 0, -1
    logits = rng.standard_normal((4, columns)).astype(dtype)
    expected = slow_apply(logits, bits)
    fits = 288 < columns <= 320
    if not fits:
        unchanged = logits.copy()
        with pytest.raises(interlock.ArgumentError, match=f"logits have {columns} columns?.*bits has 10"):
            apply_bitmask(logits, bits)
        assert (logits == unchanged).all()
    apply = apply_bitmask if fits else masks.apply_padded
    assert apply(logits, bits) is None
    assert (logits == expected).all()


def test_apply_rows():
    rng = np.random.default_rng(0)
    bits = rng.integers(-(2**31), 2**31, (2, 2), dtype=np.int32)
    for rows in ([3, 1], (3, 1), np.array([3, 1]), np.array([3, 1], np.int32), iter([3, 1])):
        logits = np.ones((5, 64), np.float32)
        apply_bitmask(logits, bits, rows=rows)
        assert (logits == slow_apply(np.ones((5, 64), np.float32), bits, [3, 1])).all()


def test_apply_to_views():
    bits = np.array([[5], [6]], np.int32)
    backing = np.ones((6, 40), np.float32)
    view = backing[4::-3, 3:20]
    expected = slow_apply(view, bits)
    apply_bitmask(view, bits)
    assert (view == expected).all()
    assert (backing[[0, 2, 3, 5]] == 1).all() and (backing[:, :3] == 1).all() and (backing[:, 20:] == 1).all()
    line = np.ones(5, np.float32)
    apply_bitmask(line, bits[0])
    assert np.isfinite(line).tolist() == [True, False, True, False, False]


def test_apply_reads_read_only_bits():
    bits = np.array([[1]], np.int32)
    bits.flags.writeable = False
    logits = np.zeros((1, 2), np.float32)
    apply_bitmask(logits, bits)
    assert np.isfinite(logits).tolist() == [[True, False]]


@pytest.mark.parametrize(
    ("logits", "bits", "rows"),
    [
        (np.zeros((2, 8), np.int32), np.zeros((2, 1), np.int32), None),
        (np.zeros((2, 8), ">f4"), np.zeros((2, 1), np.int32), None),
        (np.zeros((2, 8), np.longdouble), np.zeros((2, 1), np.int32), None),
        (np.zeros((2, 8), np.float32), np.zeros((2, 1), np.int64), None),
        (np.zeros((2, 8), np.float32), np.zeros((3, 1), np.int32), None),
        (np.zeros((2, 8), np.float32), np.zeros((1, 1), np.int32), None),
        (np.zeros((2, 8), np.float32), np.zeros((1, 1), np.int32), [2]),
        (np.zeros((2, 8), np.float32), np.zeros((1, 1), np.int32), [-1]),
        (np.zeros((2, 8), np.float32), np.zeros((1, 1), np.int32), [0, 1]),
        (np.zeros((2, 8), np.float32), np.zeros((2, 1), np.int32), [0, 0]),
        (np.zeros((2, 16), np.float32)[:, ::2], np.zeros((2, 1), np.int32), None),
        (np.zeros((2, 2, 8), np.float32), np.zeros((2, 1), np.int32), None),
        ([[0.0] * 8] * 2, np.zeros((2, 1), np.int32), None),
        (np.zeros((2, 8), np.float32), [[0], [0]], None),
    ],
)
def test_unsuitable_logits_are_refused_and_unchanged(logits, bits, rows):
    with pytest.raises(interlock.ArgumentError):
        apply_bitmask(logits, bits, rows)
    assert (np.array(logits) == 0).all()


def test_logits_and_bits_must_not_share_memory():
    both = np.zeros((2, 8), np.float32)
    with pytest.raises(interlock.ArgumentError, match="share"):
        apply_bitmask(both[0], both.view(np.int32)[0, :1])


def test_rows_that_share_memory_are_refused(byte_vocabulary):
    bits = interlock.allocate_bitmask(2, byte_vocabulary)
    bits[:] = 0
    whole = np.zeros((3, 300), np.float32)
    for strides in ((0, 4), (4 * 100, 4), (-4 * 100, 4)):
        logits = np.lib.stride_tricks.as_strided(whole[1], (2, byte_vocabulary.size), strides)
        with pytest.raises(interlock.ArgumentError, match="share memory"):
            interlock.apply_bitmask(logits, bits)
    assert not whole.any()
    interlock.apply_bitmask(whole[::2, : byte_vocabulary.size], bits)
    assert np.isneginf(whole[::2, : byte_vocabulary.size]).all() and not whole[1].any()


def test_code_of_the_caller_runs_before_memory_is_looked_at(byte_vocabulary):
    logits = np.zeros((4_000, byte_vocabulary.size), np.float32)

    class Shrinks:
        def __index__(self):
            logits.resize((0, byte_vocabulary.size), refcheck=False)
            return 3_999

    with pytest.raises(interlock.ArgumentError, match="rows"):
        interlock.apply_bitmask(logits, interlock.allocate_bitmask(1, byte_vocabulary), [Shrinks()])


def test_strided_logits_are_told_how_to_be_copied():
    bits = np.array([[0b101]], np.int32)
    for strided in (np.zeros((1, 8), np.float32)[:, ::2], np.zeros((1, 4), np.float32)[:, ::-1]):
        with pytest.raises(interlock.ArgumentError, match=r"logits\.contiguous\(\) .* np\.ascontiguousarray") as caught:
            interlock.apply_bitmask(strided, bits)
        assert caught.value.hint and not caught.value.is_client_error
        copy = np.ascontiguousarray(strided)
        interlock.apply_bitmask(copy, bits)
        assert copy.tolist() == [[0, -np.inf, 0, -np.inf]]
    with pytest.raises(interlock.ArgumentError) as caught:
        interlock.apply_bitmask(np.zeros((1, 4), np.int32), bits)
    assert caught.value.hint is None
