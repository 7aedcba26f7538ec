"""Indexes that were compiled lately are found again by their source: the same answers, sooner, within a bound."""

import gc
import json
import threading

import pytest

import interlock

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}, "size": {"type": "integer"}}}


@pytest.fixture
def vocabulary():
    """A vocabulary that nobody has compiled for."""
    return interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])


def compiles():
    """Indexes that were made and found so far."""
    stats = interlock.stats()
    return stats["compiles"], stats["compile_hits"]


def test_what_somebody_holds_is_found(vocabulary):
    made, hits = compiles()
    index = interlock.Index.from_json_schema(SCHEMA, vocabulary)
    for source in (SCHEMA, dict(SCHEMA), json.dumps(SCHEMA), json.dumps(SCHEMA).encode()):
        found = interlock.Index.from_json_schema(source, vocabulary)
        assert found is not index and found.fingerprint == index.fingerprint
        assert found.guide().allowed_token_ids().tolist() == [ord("{")]
    assert compiles() == (made + 1, hits + 4)


def test_what_came_twice_is_found(vocabulary):
    made, hits = compiles()
    for _ in range(5):
        interlock.Index.from_regex("a+b", vocabulary)
        interlock.Index.from_choices(["yes", "no"], vocabulary)
    assert compiles() == (made + 4, hits + 6)


def test_what_differs_is_not_taken_for_the_same(vocabulary):
    made, hits = compiles()
    indexes = [
        interlock.Index.from_json_schema(SCHEMA, vocabulary),
        interlock.Index.from_json_schema(SCHEMA, vocabulary, whitespace="compact"),
        interlock.Index.from_json_schema(SCHEMA, vocabulary, property_order="any"),
        interlock.Index.from_json_schema(SCHEMA, vocabulary, limits={"max_depth": 30}),
        interlock.Index.from_json_schema(SCHEMA, vocabulary, documents={"http://example.org/x": True}),
        interlock.Index.from_json_schema(SCHEMA, vocabulary, spelling="plain"),
        interlock.Index.from_regex("ab", vocabulary),
        interlock.Index.from_regex("ab", vocabulary, flags="i"),
        interlock.Index.from_regex("ab", vocabulary, dialect="ecma"),
        interlock.Index.from_choices(["a", "b"], vocabulary),
        interlock.Index.from_choices(["ab"], vocabulary),
    ]
    assert compiles() == (made + len(indexes), hits)
    assert indexes[7].guide().validate(b"AB") == 2 and indexes[6].guide().validate(b"AB") == 0


def test_a_cancelled_token_ends_what_would_be_found(vocabulary):
    index = interlock.Index.from_regex("ab", vocabulary)
    token = interlock.CancelToken()
    assert interlock.Index.from_regex("ab", vocabulary, cancel=token).num_states > 0
    token.cancel()
    with pytest.raises(interlock.CancelledError):
        interlock.Index.from_regex("ab", vocabulary, cancel=token)
    assert index.fingerprint == interlock.Index.from_regex("ab", vocabulary).fingerprint


def test_refusals_are_not_kept(vocabulary):
    for _ in range(2):
        before = interlock.stats()["refusals"]
        with pytest.raises(interlock.PatternError):
            interlock.Index.from_regex("(", vocabulary)
        assert interlock.stats()["refusals"] == before + 1


def test_the_bound(vocabulary):
    default = interlock.get_index_cache_bytes()
    assert default == 64 << 20
    try:
        interlock.set_index_cache_bytes(200_000)
        for i in range(600):
            interlock.Index.from_regex(f"a{{1,9}}b{i // 2}", vocabulary)
        others = interlock.stats()
        interlock.set_index_cache_bytes(0)
        made, hits = compiles()
        assert 5 < others["indexes"] < 200 and interlock.stats()["index_bytes"] == 0
        for _ in range(3):
            interlock.Index.from_regex("a{1,9}b299", vocabulary)
        assert compiles() == (made + 3, hits)
        # A vocabulary that comes later keeps to it.
        later = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
        for _ in range(3):
            interlock.Index.from_regex("a", later)
        assert interlock.stats()["indexes"] == 0
        for bad in (-1, 1.5, "1", None):
            with pytest.raises((TypeError, ValueError)):
                interlock.set_index_cache_bytes(bad)
        assert interlock.get_index_cache_bytes() == 0
    finally:
        interlock.set_index_cache_bytes(default)


def test_the_bound_of_masks(vocabulary):
    default = interlock.get_mask_cache_bytes()
    assert default == 256 << 20
    try:
        # What tests before this one left may be held by something other than the caches of masks.
        interlock.clear_caches()
        indexes = [interlock.Index.from_regex(rf"m{i}\w*x\w{{20}}", vocabulary) for i in range(20)]
        for index in indexes:
            index.guide().fill_bitmask(interlock.allocate_bitmask(1, vocabulary.size))
        before = interlock.stats()
        interlock.set_mask_cache_bytes(before["cache_bytes"] // 2)
        after = interlock.stats()
        assert after["cache_bytes"] < before["cache_bytes"] and 0 < after["lexemes"] < before["lexemes"]
        assert after["evictions"] > before["evictions"]
        interlock.set_mask_cache_bytes(0)
        assert interlock.stats()["lexemes"] == 0
        # With a bound of nothing, compiles keep nothing; indexes that exist go on.
        interlock.Index.from_regex("m21x", vocabulary)
        assert interlock.stats()["lexemes"] == 0
        guide = indexes[0].guide()
        guide.advance_many(b"m0x" + b"a" * 20)
        assert guide.is_accepting
        for bad in (-1, 1.5, "1", None):
            with pytest.raises((TypeError, ValueError)):
                interlock.set_mask_cache_bytes(bad)
        assert interlock.get_mask_cache_bytes() == 0
    finally:
        interlock.set_mask_cache_bytes(default)


def test_what_refused_sources_leave_is_bounded(vocabulary):
    default, most = interlock.get_mask_cache_bytes(), 4 << 20
    many = {f"T{i}": rf"(?:.*[{chr(97 + i)}x].{{{i + 12}}}){{1,3}}" for i in range(20)}
    grammar = "\n".join([f"start: ({'|'.join(many)})*", *(f"{name}: /{pattern}/" for name, pattern in many.items())])
    try:
        interlock.clear_caches()
        interlock.set_mask_cache_bytes(most)
        for steps in (100_000, 200_000):
            with pytest.raises(interlock.LimitError, match="max_compile_steps"):
                interlock.Index.from_grammar(grammar, vocabulary, limits=interlock.Limits(max_compile_steps=steps))
            # Growth is looked at in eighths of the bound.
            assert interlock.stats()["cache_bytes"] <= most // 8 * 9
        assert interlock.stats()["evictions"] > 0
    finally:
        interlock.set_mask_cache_bytes(default)


def test_clearing_forgets_and_harms_nobody(vocabulary):
    index = interlock.Index.from_regex("ab+", vocabulary)
    guide = index.guide()
    interlock.clear_caches()
    assert interlock.stats()["indexes"] == 0
    assert guide.advance_many(b"abb") == 3 and guide.is_accepting
    made, hits = compiles()
    interlock.Index.from_regex("ab+", vocabulary)
    assert compiles() == (made + 1, hits)


def test_an_index_that_is_kept_does_not_keep_its_vocabulary():
    vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    before = interlock.stats()["indexes"]
    for _ in range(2):
        interlock.Index.from_regex("ab", vocabulary)
    assert interlock.stats()["indexes"] == before + 1
    del vocabulary
    gc.collect()
    assert interlock.stats()["indexes"] == before


def test_many_threads_at_once(vocabulary):
    found, barrier = [], threading.Barrier(8)

    def work():
        barrier.wait()
        for i in range(200):
            index = interlock.Index.from_regex(f"x{{1,{1 + i % 20}}}y", vocabulary)
            found.append(index.guide().validate(b"x" * (1 + i % 20) + b"y") == 2 + i % 20)

    threads = [threading.Thread(target=work) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(found) == 1600 and all(found)
