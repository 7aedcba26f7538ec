"""`advance_each` takes each token as `try_advance` of its guide does, whoever takes it: this thread or another."""

from __future__ import annotations

import numpy as np
import pytest

import interlock

COUNTS = "(.*[ab].{12}x|.*[1a].{11}y|.*[b,].{13}z){1,4}"
"""A pattern whose tokens take long: with some of them, several threads take the steps."""


@pytest.mark.parametrize("number_of_heavy", [0, 12])
def test_as_each_guide_alone(byte_vocabulary, number_of_heavy):
    sources = [
        interlock.Index.from_regex("[ab]{3,40}", byte_vocabulary),
        interlock.Index.from_json_schema({"type": "array", "items": {"enum": [1, "a"]}}, byte_vocabulary),
        interlock.Index.from_grammar('start: "a" start "b" | "ab"', byte_vocabulary),
        interlock.Index.from_choices(["abba", "aab"], byte_vocabulary),
        *[interlock.Index.from_regex(COUNTS + f"c{{{i}}}", byte_vocabulary) for i in range(number_of_heavy)],
    ]
    rng = np.random.default_rng(3)
    guides = [index.guide(max_tokens=budget) for index in sources for budget in (None, 60)]
    twins = [guide.fork() for guide in guides]
    for _ in range(25):
        tokens = rng.choice([*b'ab[1,"]xy', *byte_vocabulary.eos_token_ids], len(guides)).tolist()
        batch = [None, *guides]
        taken = interlock.advance_each(batch, [0, *tokens])
        expected = [twin.try_advance(token) for twin, token in zip(twins, tokens, strict=True)]
        ended = [twin.is_terminated for twin in twins]
        assert list(taken) == [1, *(new + (new and end) for new, end in zip(expected, ended, strict=True))]
        assert [guide.tokens for guide in guides] == [twin.tokens for twin in twins]
        for at, end in enumerate(ended):
            if end:
                guides[at].reset()
                twins[at].reset()


def test_one_that_failed_before_stops_nobody(byte_vocabulary, compiled_anew):
    many = "start: " + " | ".join(f'/.*a.{{{i}}}/ "x"' for i in range(14))
    lost = interlock.Index.from_grammar(many, byte_vocabulary, limits={"max_mask_steps": 100}).guide()
    lost.advance(ord("a"))
    bits = interlock.allocate_bitmask(1, byte_vocabulary)
    with pytest.raises(interlock.LimitError):
        lost.fill_bitmask(bits)
    others = [interlock.Index.from_regex("[ab]+", byte_vocabulary).guide() for _ in range(20)]
    with pytest.raises(interlock.LimitError) as caught:
        interlock.advance_each([*others[:9], lost, *others[9:]], [ord("a")] * 21)
    assert (caught.value.batch_index, caught.value.batch_outcomes) == (9, b"\1" * 9 + b"\0" + b"\1" * 11)
    assert all(guide.num_tokens == 1 for guide in others)


def test_an_id_beyond_the_vocabulary_is_refused_and_no_error(byte_vocabulary):
    guides = [interlock.Index.from_choices(["a"], byte_vocabulary).guide() for _ in range(3)]
    assert interlock.advance_each(guides, [byte_vocabulary.size, ord("a"), 1 << 40]) == b"\0\1\0"
    assert [guide.num_tokens for guide in guides] == [0, 1, 0]
