"""Budgets over vocabularies that lack bytes: what fits into the budget is allowed, as without one.

Many vocabularies have no token for some control characters and for the first bytes of rare scripts. No completion needs
them, so a budget with room must forbid nothing.
"""

from __future__ import annotations

import random
import string

import pytest

import interlock

#: Bytes that SmolLM2's vocabulary lacks.
MISSING = {0x04, 0x06, 0x13, 0x14, 0x16, 0x1D, 0xC0, 0xC1, 0xF1, 0xF2, *range(0xF5, 0x100)}
WORDS = ["Ada", "Mara", " Lovelace", '", "', '"}', '": ', "20", "é", "ä", "日", "本", "🙂", "\\n", '\\"']


@pytest.fixture(scope="module")
def vocabulary():
    single = [bytes([i]) for i in range(256) if i not in MISSING]
    letters = string.ascii_letters
    more = [(a + b + c).encode() for a in letters + " " for b in letters for c in string.printable[:94]]
    tokens = list(dict.fromkeys([*single, *more, *(word.encode() for word in WORDS)]))
    return interlock.Vocabulary([*tokens, b""], eos_token_ids=[len(tokens)])


SCHEMAS = [
    {"type": "string", "maxLength": 30},
    {"type": "string", "minLength": 2, "maxLength": 200},
    {"type": "string", "pattern": "^.{0,30}$"},
    {"type": "string", "pattern": "^[^<>]{3,40}$"},
    {"anyOf": [{"type": "string", "maxLength": 30}, {"type": "integer"}]},
    {"type": "array", "items": {"type": "string", "maxLength": 12}, "maxItems": 3},
    {
        "type": "object",
        "properties": {"name": {"type": "string", "maxLength": 30}, "age": {"type": "integer", "maximum": 120}},
        "required": ["name", "age"],
        "additionalProperties": False,
    },
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_a_budget_with_room_forbids_nothing(vocabulary, schema):
    index = interlock.Index.from_type(schema, vocabulary)
    free, guide = index.guide(), index.guide(max_tokens=1000)
    draw = 7
    for _ in range(60):
        allowed = free.allowed_token_ids().tolist()
        assert guide.allowed_token_ids().tolist() == allowed, vocabulary.decode(guide.tokens)
        draw = draw * 1103515245 + 12345 & 0x7FFFFFFF
        token = allowed[draw % len(allowed)]
        free.advance(token)
        guide.advance(token)
        if free.is_terminated:
            break


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
@pytest.mark.parametrize("budget", [12, 20, 40])
def test_outputs_are_whole_within_the_budget(vocabulary, schema, budget):
    index = interlock.Index.from_type(schema, vocabulary)
    try:
        guide = index.guide(max_tokens=budget)
    except interlock.BudgetError as error:
        assert error.value > budget
        return
    draw = budget
    while not guide.is_terminated:
        allowed = guide.allowed_token_ids().tolist()
        draw = draw * 1103515245 + 12345 & 0x7FFFFFFF
        guide.advance(allowed[draw % len(allowed)])
    assert len(guide.tokens) <= budget + 1
    assert index.guide().advance_many(guide.tokens) == len(guide.tokens)


def spelled(vocabulary, text):
    return next(i for i in range(len(vocabulary)) if vocabulary.token_bytes(i) == text)


@pytest.mark.parametrize("limits", [{}, {"maxLength": 30}], ids=str)
@pytest.mark.parametrize("pattern", ["^.{0,30}$", "^[^<>]+$", "^\\S+( \\S+)*$"])
def test_characters_that_no_completion_needs_cost_nothing(vocabulary, pattern, limits):
    index = interlock.Index.from_type({"type": "string", "pattern": pattern, **limits}, vocabulary)
    free, guide = index.guide(), index.guide(max_tokens=45)
    for text in (b'"', b"A"):
        token = spelled(vocabulary, text)
        free.advance(token)
        guide.advance(token)
        assert guide.allowed_token_ids().tolist() == free.allowed_token_ids().tolist()


def test_an_email_fits_into_sixty_tokens(vocabulary):
    index = interlock.Index.from_type({"type": "string", "format": "email"}, vocabulary)
    free, guide = index.guide(), index.guide(max_tokens=60)
    quote = spelled(vocabulary, b'"')
    free.advance(quote)
    guide.advance(quote)
    assert guide.allowed_token_ids().tolist() == free.allowed_token_ids().tolist()


ARGUMENTS = {
    "type": "object",
    "properties": {"what": {"type": "string"}, "times": {"type": "integer"}},
    "required": ["what"],
    "additionalProperties": False,
}


def call(style):
    content = {"type": "json_schema", "json_schema": ARGUMENTS, "style": style}
    return {"type": "tag", "begin": "<call:look>", "content": content, "end": "</call>"}


FORMATS = {
    "json": {"type": "triggered_tags", "triggers": ["<call:"], "tags": [call("json")]},
    "raw strings": {"type": "triggered_tags", "triggers": ["<call:"], "tags": [call("qwen_xml")]},
    "thought": {
        "type": "sequence",
        "elements": [
            {"type": "tag", "begin": "<think>", "content": {"type": "any_text"}, "end": "</think>"},
            {"type": "triggered_tags", "triggers": ["<call:"], "tags": [call("json")], "at_least_one": True},
        ],
    },
    "words": {"type": "regex", "pattern": "(?:[^<]{2,9}<b>)*[^<>]+"},
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("seed", range(4))
def test_a_budget_with_room_forbids_nothing_of_a_tag(vocabulary, name, seed):
    index = interlock.Index.from_structural_tag({"type": "structural_tag", "format": FORMATS[name]}, vocabulary)
    free, guide = index.guide(), index.guide(max_tokens=2000)
    draw = random.Random(seed)
    for _ in range(60):
        allowed = free.allowed_token_ids().tolist()
        assert guide.allowed_token_ids().tolist() == allowed, vocabulary.decode(guide.tokens)
        likely = [token for token in allowed if vocabulary.token_bytes(token) in (b"<", b"/", b">")]
        token = draw.choice(likely if likely and draw.random() < 0.3 else allowed)
        free.advance(token)
        guide.advance(token)
        if free.is_terminated:
            break


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("budget", [3, 20, 40, 60])
def test_tags_are_whole_within_the_budget(vocabulary, name, budget):
    index = interlock.Index.from_structural_tag({"type": "structural_tag", "format": FORMATS[name]}, vocabulary)
    try:
        index.guide(max_tokens=budget)
    except interlock.BudgetError as error:
        assert error.value > budget
        return
    for seed in range(6):
        guide = index.guide(max_tokens=budget)
        draw = random.Random(seed)
        while not guide.is_terminated:
            guide.advance(draw.choice(guide.allowed_token_ids().tolist()))
        assert len(guide.tokens) <= budget + 1
        assert index.guide().advance_many(guide.tokens) == len(guide.tokens)
