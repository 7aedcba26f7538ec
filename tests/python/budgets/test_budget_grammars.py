"""Budgets of the languages' grammars: while there is room, a mask is the one without a budget."""

from __future__ import annotations

import string

import numpy as np
import pytest

import interlock
from interlock import grammars

PAIRS = [(a + b).encode() for a in string.ascii_lowercase for b in string.ascii_lowercase]
TRIPLES = [pair + letter.encode() for pair in PAIRS for letter in string.ascii_lowercase]
TOKENS = [bytes([b]) for b in range(256)] + PAIRS + [b" " + text for text in PAIRS + TRIPLES]
VOCABULARY = interlock.Vocabulary([*TOKENS, b""], eos_token_ids=[len(TOKENS)])

SOURCES = {
    "names": lambda: grammars.sql(tables={"student": ["name", "age"]}, statements=["select"]),
    "sql": lambda: grammars.load("sql"),
    "go": lambda: grammars.load("go"),
}
TEXTS = {
    "names": "SELECT * FROM student WHERE age > 20 AND upper(name) = 'A';",
    "sql": "SELECT a, max(b) FROM t WHERE c IN (1, 2) -- end\n",
    "go": "package a\nfunc f() { return }\n",
}


@pytest.mark.parametrize("name", SOURCES)
def test_room_leaves_the_masks_of_a_language_as_they_are(name: str) -> None:
    index = interlock.Index.from_grammar(SOURCES[name](), VOCABULARY)
    free, guide = index.guide(), index.guide(max_tokens=2_000)
    expected, row = interlock.allocate_bitmask(1, VOCABULARY), interlock.allocate_bitmask(1, VOCABULARY)
    for number, byte in enumerate(TEXTS[name].encode()):
        free.fill_bitmask(expected)
        guide.fill_bitmask(row)
        assert np.array_equal(row, expected), (number, TEXTS[name][:number])
        free.advance(byte)
        guide.advance(byte)


def test_a_terminal_that_leaves_no_room_for_what_follows_is_explained(byte_vocabulary):
    """The longest match reads the full stop that must follow it, but behind 300 characters."""
    index = interlock.Index.from_grammar('start: /.{1,300}/ "."', byte_vocabulary)
    with pytest.raises(interlock.BudgetError, match="no complete output is known") as caught:
        index.guide(max_tokens=600)
    assert "longest match" in caught.value.hint and "[^.]{1,300}" in caught.value.hint
    other = interlock.Index.from_grammar('start: /[^.]{1,300}/ "."', byte_vocabulary)
    assert other.guide(max_tokens=2).min_tokens_to_finish() == 2
