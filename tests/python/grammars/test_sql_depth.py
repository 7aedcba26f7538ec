"""SQL with brackets that nest only so deep: what is left are exactly the statements of the whole grammar that fit."""

from __future__ import annotations

import random
import re
import sqlite3

import pytest

import interlock
from interlock import grammars

TABLES = {"student": ["name", "age"]}


@pytest.fixture(scope="module")
def database():
    made = sqlite3.connect(":memory:")
    made.execute("CREATE TABLE student (name, age)")
    return made


@pytest.mark.parametrize(
    ("statement", "depth"),
    [
        ("SELECT age FROM student WHERE name = 'John (Doe)'", 0),
        ("INSERT INTO student (name, age) VALUES ('a', 1), ('b', 2)", 0),
        ("SELECT count(*) FROM student", 1),
        ("SELECT sum(age) OVER (ORDER BY name) FROM student", 1),
        ("SELECT (age + 1) * (age + 2) FROM student", 1),
        ("SELECT CASE age WHEN 1 THEN 2 END FROM student", 1),
        ("SELECT name FROM student WHERE age IN (1, 2)", 1),
        ("SELECT name FROM student WHERE age IN (SELECT age FROM student)", 1),
        ("SELECT round(abs(age)) FROM student", 2),
        ("SELECT name FROM student WHERE age = (SELECT max(age) FROM student)", 2),
        ("SELECT CASE WHEN (age) THEN 2 END FROM (SELECT age FROM student)", 2),
        ("INSERT INTO student VALUES (abs(round(1)), 2)", 2),
        ("SELECT abs(abs(abs(abs(age)))) FROM student", 4),
    ],
)
def test_a_statement_needs_so_many_levels(database, statement, depth):
    database.execute("EXPLAIN " + statement)
    for most in range(6):
        assert grammars.sql(TABLES, max_depth=most).accepts(statement) is (depth <= most), most


def expression(random, depth):
    """An expression with brackets that nest ``depth`` deep, and no deeper."""
    if depth == 0:
        return random.choice(["age", "name", "1", "'a(b'", "student.age", "age + 1", "NOT name = 'case'", "- age"])
    inner = expression(random, depth - 1)
    less = expression(random, random.randrange(depth))
    return random.choice(
        [
            f"abs({inner})",
            f"max({less}, {inner})",
            f"({inner})",
            f"age + ({inner})",
            f"count(*) FILTER (WHERE {inner})",
            f"CASE WHEN {inner} THEN {less} END",
            f"CASE {less} WHEN 1 THEN 2 ELSE {inner} END",
            f"CAST({inner} AS integer)",
            f"name IN ({less}, {inner})",
            f"name IN (SELECT {inner} FROM student)",
            f"EXISTS (SELECT name FROM student WHERE {inner})",
            f"sum(age) OVER (PARTITION BY {inner})",
            f"(SELECT {less} FROM student GROUP BY {inner})",
        ]
    )


def test_statements_of_known_depth(database):
    rng = random.Random(9)
    bounded = {most: grammars.sql(TABLES, max_depth=most) for most in range(5)}
    for round in range(120):
        depth = round % 6
        text = f"SELECT {expression(rng, depth)} FROM student"
        for most, grammar in bounded.items():
            assert grammar.accepts(text) is (depth <= most), (most, text)
        try:
            database.execute("EXPLAIN " + text)
        except sqlite3.Error as error:
            assert not re.search("syntax error|unrecognized token|incomplete", str(error)), text


def test_a_model_cannot_go_on_with_calls():
    index = interlock.Index.from_type(grammars.sql(TABLES, max_depth=2), interlock.explain.byte_vocabulary())
    guide = index.guide()
    begun = b"SELECT abs(abs("
    assert guide.advance_many(begun + b"round(") == len(begun)
    assert guide.advance_many(b"age)) FROM student") == 18 and guide.is_accepting


def test_no_functions_are_none():
    text = grammars.sql(TABLES, functions=[])
    assert text.accepts("SELECT age FROM student") and not text.accepts("SELECT count(*) FROM student")


def test_the_option_is_checked():
    for most in (-1, 9):
        with pytest.raises(interlock.ArgumentError, match=f"max_depth is .* 0 to 8, not {most}"):
            grammars.sql(max_depth=most)
    with pytest.raises(TypeError, match="max_depth must be an int or None, not str"):
        grammars.sql(max_depth="2")
    with pytest.raises(TypeError, match="max_depth must be an int or None, not str"):
        grammars.load("sql", max_depth="2")
