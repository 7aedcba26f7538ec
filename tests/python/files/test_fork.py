"""Forked children: what was made before the fork still works, and batches get threads of their own."""

import os
import threading
import time

import numpy as np
import pytest

import interlock
from child_process import in_child

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")


def test_everything_works_in_a_child(byte_vocabulary):
    index = interlock.Index.from_choices([f"{i:05d}" for i in range(20_000)], byte_vocabulary)
    guides = [index.guide() for _ in range(64)]
    expected = np.zeros((64, 10), np.int32)
    # This makes the parent's pool.
    interlock.fill_bitmasks(guides, expected, threads=4)

    def check():
        bits = np.zeros((64, 10), np.int32)
        for _ in range(3):
            interlock.fill_bitmasks(guides, bits, threads=4)
        fresh = interlock.Index.from_choices(["a", "b"], byte_vocabulary).guide()
        return (bits == expected).all() and fresh.try_advance(97) and guides[0].advance_many(b"00017") == 5

    assert in_child(check)
    assert guides[0].num_tokens == 0
    again = np.zeros((64, 10), np.int32)
    interlock.fill_bitmasks(guides, again, threads=4)
    assert (again == expected).all()


def test_children_of_children(byte_vocabulary):
    index = interlock.Index.from_choices([f"{i:05d}" for i in range(20_000)], byte_vocabulary)
    guides = [index.guide() for _ in range(32)]

    def fill():
        bits = np.zeros((32, 10), np.int32)
        interlock.fill_bitmasks(guides, bits, threads=3)
        return True

    fill()
    assert in_child(lambda: fill() and in_child(fill) and fill())


def test_token_classes_in_a_child(byte_vocabulary):
    def classes(pattern):
        index = interlock.Index.from_regex(pattern, byte_vocabulary)
        index.build()
        index.guide(max_tokens=20)
        return index.num_token_classes

    # These are found by threads as well.
    assert classes("[a-z]{1,5}[0-9]+") == 3
    assert in_child(lambda: classes("[A-Z]{1,5}[0-9]+") == 3)


def walk(index):
    guide = index.guide()
    row = interlock.allocate_bitmask(1, index.vocabulary)
    for _ in range(60):
        guide.fill_bitmask(row)
        guide.advance(ord("A"))
    return True


# A child has none of its parent's threads, and must not wait for what one of them held.
def test_a_child_is_made_between_two_masks_of_the_background(byte_vocabulary):
    for n in range(40):
        index = interlock.Index.from_regex(f"([A-Z]{{1,{300 + n}}}[a-z]{{2,9}}x?){{1,9}}", byte_vocabulary)
        index.warm_up(max_ms=10_000, background=True)
        time.sleep(0.0003 * n)
        assert in_child(lambda index=index: walk(index))


def test_a_child_is_made_when_no_thread_works(byte_vocabulary):
    for n in range(40):
        # Its states take long to find.
        index = interlock.Index.from_regex(rf"(\w{{1,{64 + n}}}\s?){{1,64}}", byte_vocabulary)
        threads = [threading.Thread(target=walk, args=(index,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        time.sleep(0.0005 * n)
        assert in_child(lambda index=index: walk(index), seconds=10)
        for thread in threads:
            thread.join()


def test_work_that_calls_back_may_fork(byte_vocabulary):
    index = interlock.Index.from_regex("(a|b){1,300}", byte_vocabulary)
    forked = []

    def progress(done, total):
        if not forked:
            forked.append(in_child(lambda: index.guide().try_advance(97)))

    index.build(progress=progress)
    assert forked == [True] and index.is_complete


def test_a_store_in_a_child(byte_vocabulary, tmp_path):
    store = interlock.Store(tmp_path)
    with store._mutex:  # As another thread may at any time.
        assert in_child(lambda: store.get_or_compile("regex", "ab", byte_vocabulary).num_states is not None)
    assert len(store.entries()) == 1


def test_warming_up_in_a_child(byte_vocabulary):
    def warm(pattern):
        index = interlock.Index.from_regex(pattern, byte_vocabulary)
        index.warm_up(background=True)
        for _ in range(1_000):
            if index.num_states > 3:
                return True
            time.sleep(0.01)
        return False

    # What waited in the parent is the parent's.
    assert warm("[a-z]{5}-[0-9]+")
    index = interlock.Index.from_regex("[A-Z]{900}", byte_vocabulary)
    index.warm_up(max_ms=50, background=True)
    assert in_child(lambda: warm("[A-Z]{5}-[0-9]+"))
