"""Simple queries of SQL: nothing nests, columns are those of the table, and SQLite runs every one of them."""

from __future__ import annotations

import sqlite3

import pytest

import interlock
from interlock import ArgumentError, grammars
from interlock.grammars.length_options import length_remedy

SCHOOL = {"student": ["name", "age", "home city"], "city": ["name", "mayor"], "order": ["select", "age", "count"]}


@pytest.fixture(scope="module")
def database():
    made = sqlite3.connect(":memory:")
    for table, columns in SCHOOL.items():
        made.execute(f'CREATE TABLE "{table}" ({", ".join(f"{chr(34)}{column}{chr(34)}" for column in columns)})')
        for number in range(5):
            values = [f"text {number}", number, None][: len(columns)]
            made.execute(f'INSERT INTO "{table}" VALUES ({", ".join("?" for _ in columns)})', values)
    return made


@pytest.mark.parametrize(
    ("tables", "functions"),
    [
        (SCHOOL, None),
        ({"student": SCHOOL["student"]}, None),
        ({"order": SCHOOL["order"]}, []),
        (SCHOOL, ["count", "COUNT", "total", "group_concat", "lower", "round", "Trim"]),
        ({"student": SCHOOL["student"]}, ["abs"]),
    ],
    ids=["tables", "a-table", "no-functions", "many-functions", "no-aggregates"],
)
def test_sqlite_runs_every_random_query(database, byte_vocabulary, tables, functions):
    grammar = grammars.sql(tables, functions, level="simple")
    index = interlock.Index.from_grammar(grammar, byte_vocabulary)
    for seed in range(120):
        query = byte_vocabulary.decode(index.sample(seed, max_tokens=70 + seed)).decode()
        assert query.startswith("SELECT ")
        database.execute(query).fetchall()


QUERIES = [
    "SELECT * FROM student",
    "SELECT name FROM student WHERE age >= 18 AND name LIKE 'J%' OR age BETWEEN 3 AND 4.5;",
    "SELECT DISTINCT name FROM city WHERE mayor IS NOT NULL ORDER BY name DESC LIMIT 3",
    "SELECT name, count(*) FROM student GROUP BY name HAVING max(age) > 3 ORDER BY count(*) DESC, name LIMIT 5",
    "SELECT AVG(age) FROM student WHERE name IN ('John O''Neil', 'Ada') AND \"home city\" != 'Rome'",
    'SELECT count(DISTINCT "select"), count FROM "order"',
]
NO_QUERIES = [
    "SELECT mayor FROM student",
    "SELECT name FROM city ORDER BY age",
    "SELECT name FROM student ORDER BY count(*)",
    "SELECT name FROM student WHERE max(age) = 3",
    "SELECT max(max(age)) FROM student",
    "SELECT name FROM student, city",
    "SELECT name FROM student WHERE age = (SELECT max(age) FROM student)",
    "SELECT rank() OVER (ORDER BY age) FROM student",
    "SELECT name FROM student WHERE age = 1 AND age = 2 AND age = 3 AND age = 4 AND age = 5 AND age = 6",
    "SELECT lower(name) FROM student",
    "DELETE FROM student",
    "VALUES (1)",
]


@pytest.mark.parametrize("query", QUERIES)
def test_queries(database, query):
    database.execute(query)
    assert grammars.sql(SCHOOL, level="simple").accepts(query)
    assert grammars.load("sql", tables=SCHOOL, level="simple", statements=["select"]).accepts(query)


@pytest.mark.parametrize("query", NO_QUERIES)
def test_what_is_no_simple_query(query):
    assert not grammars.sql(SCHOOL, level="simple").accepts(query)


def test_a_query_names_all_columns_of_a_wide_table():
    columns = [f"c{number}" for number in range(30)]
    grammar = grammars.sql({"wide": columns}, level="simple")
    assert grammar.accepts(f"SELECT {', '.join(columns)} FROM wide")
    assert not grammar.accepts(f"SELECT {', '.join([*columns, 'c0'])} FROM wide")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "so it needs tables"),
        ({"tables": {}}, "tables are a mapping"),
        ({"tables": SCHOOL, "statements": ["select", "delete"]}, "has queries alone"),
        ({"tables": SCHOOL, "max_depth": 2}, "nothing for max_depth to change: leave it out"),
        ({"tables": SCHOOL, "comments": True}, "nothing for comments to change"),
        ({"tables": SCHOOL, "parameters": True}, "nothing for parameters to change"),
        ({"tables": SCHOOL, "spelling": "any"}, "written in the plain spelling"),
        ({"tables": SCHOOL, "functions": ["rank"]}, "functions of one column: .*lower.*; not 'rank'"),
        ({"tables": {f"t{number}": ["a"] for number in range(13)}}, "at most 12 tables, not 13"),
    ],
    ids=str,
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(ArgumentError, match=message):
        grammars.sql(level="simple", **options)


def test_what_keeps_a_text_short():
    assert length_remedy(grammars.sql(SCHOOL, level="simple")) == ""
    assert "level='simple'" in (length_remedy(grammars.sql(SCHOOL)) or "")


def test_the_level_is_known():
    assert grammars.sql(SCHOOL, level="full") == grammars.sql(SCHOOL)
    with pytest.raises(ArgumentError, match="level is 'simple' or 'full', not 'simpel'; did you mean 'simple'"):
        grammars.sql(SCHOOL, level="simpel")
