"""Stop tokens that a grammar names: what it needs cannot end the output, and no guide comes to a dead end."""

import random

import pytest

import interlock

EOS, X, Y = 256, 257, 258
VOCABULARY = interlock.Vocabulary(
    [bytes([i]) for i in range(256)] + [b"", b"<x>", b"<y>"], eos_token_ids=[EOS], special_token_ids=[EOS, X, Y]
)


@pytest.mark.parametrize(
    ("grammar", "stops", "is_fine"),
    [
        ('start: <x> "ab"', [X, EOS], False),
        ('start: ("b" | <x> "a")*', [X, EOS], True),
        ('start: ("b" | <x> "a" <y>)*', [Y, EOS], True),
        ('start: "a" <x> "b"', [X, EOS], False),
        ('start: "a" (<x> "b")?', [X, EOS], True),
        ('start: (<x> "a" <y>)? "b"', [Y, EOS], False),
        ('start: (<x> "a" <y>)? "b"', [X, EOS], True),
        ('start: (<x> "a" <y>)? "b"', [X, Y], True),
        ('start: "a" <[257,258]> "b"', [X, EOS], True),
        ('start: "a" <[257,258]> "b"', [X, Y, EOS], False),
        ('start: a\na: a <x> | "b"', [X, EOS], True),
        ('start: a <x>\na: a "b" | "b"', [X, EOS], True),
        ('start: a\na: "(" a ")" | b\nb: "c" b | <x>', [X, EOS], False),
    ],
)
def test_stop_tokens_that_a_grammar_needs_are_refused(grammar, stops, is_fine):
    index = interlock.Index.from_grammar(grammar, VOCABULARY)
    if is_fine:
        index.guide(stop_token_ids=stops)
        return
    with pytest.raises(
        interlock.ArgumentError, match=r"stop token id 25[78] is a special token that the output may need"
    ):
        index.guide(stop_token_ids=stops)


def test_no_guide_comes_to_a_dead_end():
    rng = random.Random(3)
    parts = ['"a"', '"b"', "<x>", "<y>", "r", "s", '"(" start ")"']
    fine = 0
    for _ in range(300):

        def body():
            one = " ".join(rng.choice(parts) + rng.choice(["", "", "?", "*"]) for _ in range(rng.randint(1, 3)))
            return one

        rules = "\n".join(
            f"{name}: " + " | ".join(body() for _ in range(rng.randint(1, 3))) for name in ("start", "r", "s")
        )
        try:
            index = interlock.Index.from_grammar(rules, VOCABULARY, lexer="any")
        except (interlock.UnsatisfiableError, interlock.GrammarError):
            continue
        for stops in ([X, EOS], [Y, EOS], [X, Y, EOS]):
            try:
                guide = index.guide(stop_token_ids=stops)
            except interlock.ArgumentError:
                continue
            fine += 1
            for _ in range(12):
                allowed = [int(t) for t in guide.allowed_token_ids()]
                assert allowed, (rules, stops, guide.tokens)
                guide.advance(rng.choice(allowed))
                if guide.is_terminated:
                    break
    assert fine > 100
