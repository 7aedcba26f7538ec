"""Budgets inside strings with a format or a pattern: near the end, masks have the tokens that fit, and no others."""

import json
import random

import pytest

import interlock

WORDS = [
    "com",
    "www",
    "example",
    ".com",
    ".example",
    "john",
    "@",
    "@mail",
    "://",
    "http",
    "ab",
    "abc",
    "-",
    "12",
    "2024",
]
# Where fewer tokens are allowed, each is stepped by itself.
MANY = [a + b + c for a in "abcdefghijklmnopqrst" for b in "abcdefxyz" for c in "abcdefgh12345"]
WORDS += ['"}', '"', '",', "\\n", "\\u00", "é", "日", "aaaaaaaa", "A1", "1A", "0000000000", " "]


@pytest.fixture(scope="module")
def words():
    """All bytes, words that end strings or go on in them, and one stop token."""
    spelled = [bytes([b]) for b in range(256)] + [word.encode() for word in WORDS + MANY]
    return interlock.Vocabulary([*dict.fromkeys(spelled), b""], eos_token_ids=[len(dict.fromkeys(spelled))])


# Bytes that end a string may be spelled by fewer tokens, together with what follows: masks need not know of that.
SEAM = 1

TEXTS = {
    "hostname": ({"format": "hostname"}, "www.exam"),
    "email": ({"format": "email"}, "john.do"),
    "uri": ({"format": "uri"}, "http://exa"),
    "a long uri": ({"format": "uri", "minLength": 1, "maxLength": 2083}, "http://exa"),
    "a uri that ends soon": ({"format": "uri", "minLength": 1, "maxLength": 14}, "http://exa"),
    "date-time": ({"format": "date-time"}, "2024-01-01T"),
    "words": ({"pattern": "^[A-Za-z0-9_.-]{1,64}$"}, "exa"),
    "groups": ({"pattern": "^[a-z]+(-[a-z]+)*$", "maxLength": 12}, "exa-"),
    "a digit at the end": ({"pattern": "[0-9]$"}, "exa"),
    "a password": ({"pattern": "^(?=.*[A-Z])(?=.*[0-9])", "minLength": 8}, "exa"),
    "a password of few characters": ({"pattern": "^(?=.*[A-Z])(?=.*[0-9])", "minLength": 8, "maxLength": 12}, "exa"),
    "escapes": ({"pattern": '^[\\n"\\\\]{3}a{2}$'}, "\n"),
    "any text of many characters": ({"minLength": 40}, "exa"),
    "any text of many characters behind an escape": ({"minLength": 40, "maxLength": 44}, "e\n\u00e9"),
    "one of two": ({"anyOf": [{"format": "ipv4"}, {"pattern": "^[a-f0-9]{8}$"}]}, "12"),
    "an enum beside a pattern": ({"anyOf": [{"enum": ["exactly this", "example"]}, {"pattern": "^e[a-z]{9}$"}]}, "e"),
}
# The lower bound of an intersection is that of its largest part, which is far from what all of them need.
MANY_OF_EACH_KIND = {"pattern": "^(?=.*[0-9]{9})(?=.*[a-z]{9})(?=.*[A-Z]{9}).{30,40}$"}
AROUND = {
    "alone": lambda text: (text, "", ""),
    "in an object": lambda text: (
        {
            "type": "object",
            "properties": {"t": text, "n": {"type": "integer"}},
            "required": ["t", "n"],
            "additionalProperties": False,
        },
        '{"t":',
        ',"n":1}',
    ),
    "in an array": lambda text: ({"type": "array", "items": text, "minItems": 2}, "[", ""),
}


def walked(index, text):
    guide = index.guide()
    for byte in text.encode():
        guide.advance(byte)
    return guide


@pytest.mark.parametrize("spelling", ["any", "plain"])
@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("name", TEXTS)
def test_masks_near_the_end_are_those_of_what_fits(words, name, around, spelling):
    keywords, text = TEXTS[name]
    schema, before, _ = AROUND[around]({"type": "string", **keywords})
    index = interlock.Index.from_json_schema(schema, words, whitespace="compact", spelling=spelling)
    prefix = before + json.dumps(text, ensure_ascii=False)[:-1]
    free = walked(index, prefix)
    allowed = [int(t) for t in free.allowed_token_ids() if int(t) != words.eos_token_ids[0]]
    # So many tokens complete the output after each token.
    needed = {}
    for token in allowed:
        after = free.fork()
        after.advance(token)
        needed[token] = after.min_tokens_to_finish()
    least = min(needed.values()) + 1
    looked = 0
    for room in [*range(least, least + 24), least + 60]:
        try:
            guide = index.guide(max_tokens=len(prefix.encode()) + room)
            for byte in prefix.encode():
                guide.advance(byte)
        except (interlock.BudgetError, interlock.TokenRejected):
            # The beginning was too far from an end already.
            continue
        looked += 1
        now = {int(t) for t in guide.allowed_token_ids()}
        fitting = {token for token, more in needed.items() if more <= room - 1 - SEAM}
        assert fitting <= now, (room, [words.token_bytes(t) for t in fitting - now])
        for token in now - fitting:
            # A token that is allowed is a promise, so the output can be completed behind it.
            after = guide.fork()
            after.advance(token)
            assert after.min_tokens_to_finish() <= room - 1
    assert looked > 9


@pytest.mark.parametrize("around", AROUND)
def test_look_aheads_allow_all_that_fits(words, around):
    schema, before, _ = AROUND[around]({"type": "string", **MANY_OF_EACH_KIND})
    index = interlock.Index.from_json_schema(schema, words, whitespace="compact")
    prefix = before + '"exa'
    free = walked(index, prefix)
    # Room for all bytes of the shortest end behind any token, whatever spells them.
    room = free.min_tokens_to_finish() + 40
    guide = index.guide(max_tokens=len(prefix) + room)
    for byte in prefix.encode():
        guide.advance(byte)
    assert guide.allowed_token_ids().tolist() == free.allowed_token_ids().tolist()


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("name", [*TEXTS, "many of each kind"])
def test_random_walks_end_in_time(words, name, around):
    rng = random.Random(5)
    keywords = TEXTS[name][0] if name in TEXTS else MANY_OF_EACH_KIND
    schema = AROUND[around]({"type": "string", **keywords})[0]
    index = interlock.Index.from_json_schema(schema, words)
    fewest = index.guide().min_tokens_to_finish()
    for room in (0, 1, 3, 10, 30):
        for _ in range(4):
            guide = index.guide(max_tokens=fewest + room)
            out = []
            while not guide.is_terminated:
                token = rng.choice([int(t) for t in guide.allowed_token_ids()])
                guide.advance(token)
                out.append(token)
            assert len(out) - 1 <= fewest + room
            free = index.guide()
            assert free.advance_many(out) == len(out) and free.is_terminated
