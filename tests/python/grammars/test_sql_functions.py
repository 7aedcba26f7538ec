"""Calls of SQLite's functions have as many arguments as SQLite takes."""

from __future__ import annotations

import itertools
import re
import sqlite3

import pytest

import interlock
from interlock import grammars

TABLES = {"student": ["name", "age", "count"]}
ENDS = ("", " FILTER (WHERE age)", " OVER ()", " FILTER (WHERE age) OVER ()")


@pytest.fixture(scope="module")
def database():
    made = sqlite3.connect(":memory:")
    made.execute("CREATE TABLE student (name, age, count)")
    return made


def calls(function):
    """Calls of a function with every number of arguments up to five, and what may stand with them."""
    lists = [", ".join(["age"] * count) for count in range(6)]
    insides = ["*", *lists, *(f"DISTINCT {one}" for one in lists[1:])]
    return [f"{function}({inside}){end}" for inside, end in itertools.product(insides, ENDS)]


def prepares(database, statement):
    try:
        database.execute("EXPLAIN " + statement)
    except sqlite3.Error as error:
        if "no such function" in str(error):
            pytest.skip(f"SQLite {sqlite3.sqlite_version} does not have it")
        return False
    return True


@pytest.mark.parametrize("function", grammars.FUNCTIONS)
def test_sqlite_takes_the_calls_that_are_accepted(database, function):
    grammar = grammars.sql(TABLES)
    accepted = set()
    for call in calls(function):
        statement = f"SELECT {call} FROM student"
        if grammar.accepts(statement):
            accepted.add(call)
            assert prepares(database, statement), statement
    # SQLite reads DISTINCT in functions of single rows, and a star where there are no arguments; they say nothing.
    silent = re.compile(r"\w+\(\*\)( OVER \(\))?|\w+\(DISTINCT .*\)")
    # Versions after this one take more: `iif` with two arguments.
    if sqlite3.sqlite_version_info[:2] == (3, 40):
        for call in set(calls(function)) - accepted:
            assert silent.fullmatch(call) or not prepares(database, f"SELECT {call} FROM student"), call


@pytest.mark.parametrize("options", [{}, {"max_depth": 2}, {"spelling": "any"}, {"functions": grammars.FUNCTIONS}])
def test_the_number_of_arguments(options):
    grammar = grammars.sql(TABLES, **options)
    for right in (
        "substr(name, 2)", "SUBSTR(name, 2, 3)", "coalesce(name, age, 1)", "count(*)", "count()", "count(DISTINCT age)",
        "max(age)", "max(age, 1, 2)", "random()", "lag(age, 1, 0) OVER (ORDER BY age)", "group_concat(name, ', ')",
        "sum(age) FILTER (WHERE age) OVER (ORDER BY age)", "row_number() OVER ()", "count", "printf()",
    ):  # fmt: skip
        assert grammar.accepts(f"SELECT {right} FROM student"), right
    for wrong in (
        "substr(name)", "substr(name, 2, 3, 4)", "coalesce(name)", "abs(*)", "random(1)", "max()", "replace(name, 1)",
        "sum(age, 1)", "row_number()", "abs(age) OVER ()", "abs(age) FILTER (WHERE age)", "count(DISTINCT age, name)",
    ):  # fmt: skip
        assert not grammar.accepts(f"SELECT {wrong} FROM student"), wrong


def test_functions_of_ones_own_take_any_arguments():
    grammar = grammars.sql(TABLES, functions=["Substr", "distance"])
    for accepted in ("distance()", "distance(age, 1, 2, 3)", "distance(DISTINCT age) OVER ()", "Substr(name, 2)"):
        assert grammar.accepts(f"SELECT {accepted} FROM student"), accepted
    for refused in ("Substr(name)", "abs(age)", "count(*)"):
        assert not grammar.accepts(f"SELECT {refused} FROM student"), refused


def test_a_call_without_arguments_has_a_depth():
    for functions in (None, ["random"]):
        assert not grammars.sql(TABLES, functions=functions, max_depth=0).accepts("SELECT random() FROM student")
        assert grammars.sql(TABLES, functions=functions, max_depth=1).accepts("SELECT random() FROM student")


def test_a_model_cannot_leave_out_an_argument():
    index = interlock.Index.from_type(grammars.sql(TABLES), interlock.explain.byte_vocabulary())
    guide = index.guide()
    begun = b"SELECT substr(name"
    assert guide.advance_many(begun) == len(begun)
    assert guide.advance_many(b")") == 0 and guide.advance_many(b", 1)") == 4
