"""Plausible examples take each alternative of a grammar and of a pattern now and then."""

import random
import re

import pytest

import interlock
from interlock._recipe import Recipe, byte_vocabulary
from interlock.samples.plausible import example

SUM = """start: expr
expr: term (("+" | "-") term)*
term: factor (("*" | "/") factor)*
factor: NUMBER | NAME | "(" expr ")"
NUMBER: /[0-9]+/
NAME: /[a-z]+/
%ignore " "
"""
QUERY = """start: "SELECT" cols "FROM" NAME ("WHERE" NAME "=" value)?
cols: "*" | NAME ("," NAME)*
value: NUMBER | STRING | "NULL"
NAME: /[a-z]+/
NUMBER: /[0-9]+/
STRING: /'[^']*'/
%ignore " "
"""


def drawn(index, count=100):
    """Texts of the index, each with a seed of its own."""
    recipe = Recipe.of(index)
    found = [example(recipe, random.Random(seed)) for seed in range(count)]
    return [text.decode() for text in found if text is not None]


@pytest.mark.parametrize(
    ("grammar", "parts"),
    [
        (SUM, [r"[a-z]", r"[0-9]", r"\(", r"\+", r"-", r"\*", r"/"]),
        (QUERY, [r"\*", r"SELECT [a-z]+ ?,", r"WHERE", r"= ?[0-9]", r"= ?'", r"= ?NULL"]),
        ('start: "*" | NAME | "?" | "#" NUMBER\nNAME: /[a-z]+/\nNUMBER: /[0-9]+/', [r"\*", "[a-z]", r"\?", "#[0-9]"]),
    ],
)
def test_each_alternative_of_a_grammar(grammar, parts):
    texts = drawn(interlock.Index.from_grammar(grammar, byte_vocabulary()))
    assert len(texts) == 100
    assert [part for part in parts if not any(re.search(part, text) for text in texts)] == []
    assert sorted(map(len, texts))[90] < 100


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        (r"SELECT (\*|[a-z]+) F", [r" \* ", r" [a-z]+ "]),
        (r"v(\*|\d+)", [r"\*", r"\d"]),
        (r"-?[0-9]{1,3}", [r"^-", r"^[0-9]"]),
        (r"(a|\*|;)+", [r"a", r"\*", ";"]),
        (r"([A-Z]{2}-\d+|[a-z]+|@[a-z]+)", [r"^[A-Z]", r"^[a-z]", "^@"]),
    ],
)
def test_each_alternative_of_a_pattern(pattern, parts):
    texts = drawn(interlock.Index.from_regex(pattern, byte_vocabulary()))
    assert [part for part in parts if not any(re.search(part, text) for text in texts)] == []


@pytest.mark.parametrize(("comment", "mark"), [(r"/--[^\n]*/", "--"), (r"/#[^\n]*/", "#"), (r"/\/\*[^*]*\*\//", "/*")])
def test_few_texts_have_comments(comment, mark):
    grammar = QUERY + f"COMMENT: {comment}\n%ignore COMMENT\n"
    texts = drawn(interlock.Index.from_grammar(grammar, byte_vocabulary()))
    assert 1 <= sum(mark in text for text in texts) <= 20


def test_a_class_of_characters_is_one_kind():
    texts = drawn(interlock.Index.from_regex(r"[a-z0-9_.*+-]{3,20}", byte_vocabulary()))
    assert sum(bool(re.match(r"[a-z0-9]{3}", text)) for text in texts) > 90
