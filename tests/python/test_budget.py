"""Token budgets: complete outputs whatever is sampled, and errors that name the number needed."""

import json
import pickle
import random

import pytest

import interlock


@pytest.fixture(scope="module")
def vocabulary():
    tokens = [bytes([b]) for b in range(256)] + [b"", b'{"', b'":', b'", "', b"true", b"null"]
    return interlock.Vocabulary(tokens, eos_token_ids=[256])


SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["name", "tags"],
    "additionalProperties": False,
}


def test_outputs_are_complete_whatever_is_sampled(vocabulary):
    index = interlock.Index.from_json_schema(SCHEMA, vocabulary)
    needed = index.guide().min_tokens_to_finish()
    rng = random.Random(0)
    for extra in range(12):
        guide = index.guide(max_tokens=needed + extra)
        while guide.num_tokens < needed + extra:
            allowed = [t for t in guide.allowed_token_ids().tolist() if t != 256]
            if not allowed:
                break
            guide.advance(rng.choice(allowed))
        assert guide.is_accepting
        json.loads(vocabulary.decode(guide.tokens))


def test_too_small_a_budget_names_the_number(vocabulary):
    index = interlock.Index.from_json_schema(SCHEMA, vocabulary)
    needed = index.guide().min_tokens_to_finish()
    with pytest.raises(interlock.BudgetError) as caught:
        index.guide(max_tokens=needed - 1)
    assert (caught.value.limit, caught.value.value) == (needed - 1, needed)


def test_a_pickled_guide_keeps_its_budget(vocabulary):
    index = interlock.Index.from_regex("[a-z]{2,40}", vocabulary)
    guide = pickle.loads(pickle.dumps(index.guide(max_tokens=2)))
    guide.advance(ord("a"))
    guide.advance(ord("b"))
    assert guide.allowed_token_ids().tolist() == [256]
    assert not guide.try_advance(ord("c"))
    assert "max_tokens" in guide.explain(ord("c"))
