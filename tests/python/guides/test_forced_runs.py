"""Forced runs along rows: gone on with where they were begun, and never taken for those of another row."""

from __future__ import annotations

import numpy as np
import pytest

import interlock
from interlock.integrations._forced import ForcedRuns, forced_run
from interlock.integrations._row import Row
from interlock.integrations._sequences import Sequences
from interlock.integrations._triggers import Triggered

EOS = 258
PAIRS = {b"ab": 256, b"bc": 257}


@pytest.fixture(scope="module")
def vocabulary():
    return interlock.Vocabulary([bytes([i]) for i in range(256)] + [*PAIRS, b""], eos_token_ids=[EOS])


def spell(text):
    """The longest token first, from the left."""
    ids = []
    while text:
        size = 2 if text[:2] in PAIRS else 1
        ids.append(PAIRS.get(text[:size], text[0]))
        text = text[size:]
    return ids


def row_of(pattern, vocabulary, **options):
    return Row(interlock.Index.from_regex(pattern, vocabulary), options.get("max_tokens"), None)


def test_a_run_is_spelled_once(vocabulary):
    """After its first token, the rest spelled anew would be ``bc`` and ``d``, and not ``c`` and ``d``."""
    runs, row = ForcedRuns(spell), row_of("(?:xabcdy|z)", vocabulary)
    row.advance(ord("x"))
    assert forced_run(row) == []
    assert runs.following(row) == [256, ord("c"), ord("d")]
    row.advance(256)
    assert runs.following(row) == [ord("c"), ord("d")]
    row.cut(1)
    row.advance(ord("a"))
    assert runs.following(row) == [257, ord("d")]


def test_runs_ahead_end_before_a_stop_token_and_leave_the_row_where_it_is(vocabulary):
    runs, row = ForcedRuns(spell), row_of("abcabc", vocabulary)
    ids = runs.ahead(row, 100)
    assert vocabulary.decode(ids) == b"abcabc" and EOS not in ids
    assert row.tokens == []
    assert runs.following(row) == ids
    assert runs.ahead(row, 2) == ids[:2]
    assert ForcedRuns(spell, avoid={256}).ahead(row, 100) == []


def test_another_row_has_its_own_run(vocabulary):
    runs = ForcedRuns(spell)
    first, second = row_of("x(abcd|efgh)", vocabulary), row_of("x(abcd|efgh)", vocabulary)
    for row, text in ((first, b"xa"), (second, b"xe")):
        for token in text:
            row.advance(token)
    assert vocabulary.decode(runs.following(first)) == b"bc"
    assert vocabulary.decode(runs.following(second)) == b"f"
    free = Row(Triggered({"!": interlock.Index.from_regex("abcd", vocabulary)}), None, None)
    started = Row(Triggered({"!": interlock.Index.from_regex("abcd", vocabulary)}), None, None)
    for row, text in ((started, b"so!"), (free, b"so?")):
        for token in text:
            row.advance(token)
    assert runs.following(started)
    assert runs.following(free) == []


def test_sequences(vocabulary):
    index = interlock.Index.from_regex("[ab]{6}", vocabulary)
    prompts = []

    def start(prompt):
        prompts.append(bytes(prompt))
        return Row(index, None, None)

    def at(text):
        return bytes(sequences.row_at(np.frombuffer(text, np.uint8).astype(np.int32)).tokens)

    sequences = Sequences(start, keep=4)
    assert [at(b"hi"), at(b"hia"), at(b"hiab")] == [b"", b"a", b"ab"]
    assert at(b"hib") == b"b"  # back, and another way
    assert at(b"hiaba") == b"aba"  # the first goes on
    assert at(b"hi") == b""  # the same prompt once more
    assert [at(b"hia"), at(b"hiaa")] == [b"a", b"aa"]
    assert prompts == [b"hi", b"hi"]
    assert at(b"hiaaba?") == b""  # a longer text that was never seen is a prompt
    assert prompts[-1] == b"hiaaba?"
    for letter in b"klmnop":  # the oldest are forgotten
        at(bytes([letter]))
    at(b"hiaaa")
    assert prompts[-1] == b"hiaaa"
    sequences.reset()
    assert at(b"ka") == b"" and prompts[-1] == b"ka"
    assert at(b"") == b""
