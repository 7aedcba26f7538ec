"""Building ahead of time: the same masks, progress, interruption, and what is known afterwards."""

import threading

import pytest
from conftest import masks_along

import interlock

pytestmark = pytest.mark.usefixtures("compiled_anew")

RECURSIVE = {"type": "object", "properties": {"next": {"$ref": "#"}, "name": {"type": "string", "maxLength": 9}}}


def fresh():
    """A vocabulary that shares nothing with those of other tests."""
    tokens = [bytes([b]) for b in range(256)] + [b"", b"ab", b"12", b'{"', b'":', b"name", b'"}']
    return interlock.Vocabulary(tokens, eos_token_ids=[256])


@pytest.mark.parametrize("threads", [1, 2, 8, None])
def test_masks_are_those_of_a_lazy_index(threads):
    def pattern(vocabulary):
        return interlock.Index.from_regex("(ab|12)*x{0,70}y", vocabulary)

    def schema(vocabulary):
        return interlock.Index.from_json_schema(RECURSIVE, vocabulary)

    for make, text in [(pattern, b"ab12xxxy"), (schema, b'{"next":{"name":"abc"}}')]:
        lazy, built = make(fresh()), make(fresh())
        assert not built.is_complete
        built.build(threads=threads)
        assert built.is_complete and not lazy.is_complete
        assert (masks_along(built, text) == masks_along(lazy, text)).all()


def test_counts_are_known_after_a_build():
    index = interlock.Index.from_regex("[0-9]{3}", fresh())
    names = ["num_transitions", "num_masks", "num_token_classes", "num_accepting_states"]
    assert [getattr(index, name) for name in names] == [None] * 4
    index.build()
    assert index.num_states == 4
    # Nothing, one digit, and "12", which leads elsewhere: the last state refuses all, the one before it "12".
    assert [getattr(index, name) for name in names] == [5, 3, 3, 1]
    recursive = interlock.Index.from_json_schema(RECURSIVE, fresh())
    recursive.build()
    assert [getattr(recursive, name) for name in names] == [None] * 4


@pytest.mark.parametrize("pattern", ["[a-z]{1,300}", "[a-z]{1,5000}"])
def test_progress_is_told_here_and_may_stop_the_work(pattern):
    index = interlock.Index.from_regex(pattern, fresh())

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.build(progress=stop)
    assert not index.is_complete
    told = []
    index.build(progress=lambda done, total: told.append((done, total, threading.get_ident())))
    assert index.is_complete
    assert told[-1][0] == told[-1][1] and told == sorted(told)
    assert {thread for _, _, thread in told} == {threading.get_ident()}


def test_limits_and_arguments():
    limits = {"max_flat_states": 100}
    index = interlock.Index.from_regex("[a-z]{1,5000}", fresh(), limits=limits)
    index.build()
    assert not index.is_complete and index.num_masks is None
    with pytest.raises(interlock.ArgumentError):
        index.build(threads=0)
