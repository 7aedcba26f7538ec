"""A number that is a whole output ends where the model would write what is no part of it."""

from __future__ import annotations

import numpy as np
import pytest

import interlock
from interlock.integrations._number_end import NumberEnd, first_bytes

STOP = 256
VOCABULARY = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b"", b"7 ", b"123"], eos_token_ids=[STOP])


def guide(text, source=None):
    index = interlock.Index.from_json_schema(
        {"type": "integer", "minimum": -999, "maximum": 9999} if source is None else source, VOCABULARY
    )
    made = index.guide()
    made.advance_many(list(text))
    return made


def logits(**wanted):
    made = np.zeros(VOCABULARY.size, dtype=np.float32)
    for name, value in wanted.items():
        made[STOP if name == "stop" else int(name[1:])] = value
    return made


def test_first_bytes():
    found = first_bytes(VOCABULARY)
    assert found[:256].tolist() == list(range(256))
    assert found[256:].tolist() == [256, ord("7"), ord("1")]


@pytest.mark.parametrize(("text", "is_open"), [(b"", False), (b"-", False), (b"1", True), (b"-12", True)])
def test_where_a_number_may_end_and_go_on(text, is_open):
    assert NumberEnd(VOCABULARY).is_open(guide(text)) is is_open


def test_other_outputs_are_left_alone():
    end = NumberEnd(VOCABULARY)
    assert not end.is_open(None)
    assert not end.is_open(guide(b"[1", {"type": "array", "items": {"type": "integer"}}))
    pattern = interlock.Index.from_regex("[0-9]+", VOCABULARY).guide()
    pattern.advance(ord("1"))
    assert not end.is_open(pattern)


@pytest.mark.parametrize(
    ("wanted", "ends"),
    [(ord(" "), True), (ord("a"), True), (STOP, False), (ord("5"), False), (257, False), (258, False), (300, True)],
)
def test_greedy(wanted, ends):
    scores = np.zeros(320, dtype=np.float32)
    scores[wanted] = 9
    found = NumberEnd(VOCABULARY).ending(guide(b"1"), scores, [STOP])
    # The model's own stop token needs no help.
    if wanted == STOP:
        assert found is None or found.stop == [STOP]
        return
    assert (found is not None) is ends
    if found is not None:
        masked = scores.copy()
        found.apply(masked)
        assert np.flatnonzero(masked != -np.inf).tolist() == [STOP]


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_sampling_ends_as_often_as_the_model_leaves_the_number(temperature):
    rng = np.random.default_rng(7)
    scores = rng.normal(size=VOCABULARY.size).astype(np.float32) * 3
    here = guide(b"1")
    found = NumberEnd(VOCABULARY).at(temperature).ending(here, scores, [STOP])
    masked = np.full_like(scores, -np.inf)
    allowed = here.allowed_token_ids()
    masked[allowed] = scores[allowed]
    found.apply(masked)

    def softmax(of):
        weights = np.exp(of.astype(np.float64) / temperature)
        return weights / weights.sum()

    heads = {VOCABULARY.token_bytes(i)[:1] for i in allowed if i != STOP}
    parts = [i for i in range(VOCABULARY.size) if i != STOP and VOCABULARY.token_bytes(i)[:1] in heads]
    free = softmax(scores)
    # Tokens that begin like the number and go on otherwise are forbidden, and what may follow takes their place.
    spared = sum(free[i] for i in parts if i not in allowed)
    assert softmax(masked)[STOP] == pytest.approx((1 - free[parts].sum()) / (1 - spared), rel=1e-5)


def test_a_mask_before_this_one_that_left_only_digits():
    scores = np.full(VOCABULARY.size, -np.inf, dtype=np.float32)
    scores[ord("5")] = 1
    for temperature in (0.0, 1.0):
        assert NumberEnd(VOCABULARY, temperature).ending(guide(b"1"), scores, [STOP]) is None


def test_transformers_ends_a_number(monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")
    from tiny_models import tiny_model, tiny_tokenizer

    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer)
    gen = interlock.from_transformers(model, tokenizer)
    spelled = {gen.vocabulary.token_bytes(i): i for i in range(len(gen.vocabulary))}
    digit, blank = spelled[b"4"], spelled[b" "]
    forward = type(model).forward

    def wanting(self, input_ids=None, **inputs):
        found = forward(self, input_ids=input_ids, **inputs)
        scores = torch.zeros_like(found.logits)
        for row, ids in enumerate(input_ids.tolist()):
            scores[row, -1, blank if ids[-1] == digit else digit] = 50
        found.logits = scores
        return found

    monkeypatch.setattr(type(model), "forward", wanting)
    for options in ({}, {"jump_forward": False}, {"temperature": 0.7, "seed": 1}, {"num_beams": 2}):
        assert gen("How many?", int, max_tokens=30, **options) == 4
    assert gen(["How many?", "And"], int, max_tokens=30) == [4, 4]
    assert gen("How many?", int, max_tokens=30, stream=True).value == 4
    assert gen.trace("How many?", int, max_tokens=30).value == 4
