"""SQL without joins: a statement names the columns of the one table that it is of, as SQLite asks for."""

from __future__ import annotations

import re
import sqlite3

import pytest

import interlock
from interlock import ArgumentError, InternalError, grammars
from interlock.grammars.sql_one_table import with_one_table_each

SCHOOL = {"student": ["name", "age", "city"], "city": ["name", "mayor"], "order": ["select", "age"]}


@pytest.fixture(scope="module")
def database():
    made = sqlite3.connect(":memory:")
    for table, columns in SCHOOL.items():
        unique = ", ".join(f'"{column}" UNIQUE' for column in columns)
        made.execute(f'CREATE TABLE "{table}" ({unique})')
    return made


STATEMENTS = [
    ("SELECT name, age FROM student", True),
    ("SELECT mayor FROM student", False),
    ("SELECT student.name FROM student", True),
    ("SELECT student.name FROM city", False),
    ("SELECT city.* FROM student", False),
    ("SELECT name FROM student ORDER BY age LIMIT 3", True),
    ("SELECT name FROM city ORDER BY age LIMIT 3", False),
    ("SELECT count(age) FROM city", False),
    ("SELECT count(*) FROM city GROUP BY mayor HAVING max(name) > 'm'", True),
    ("SELECT name FROM student WHERE city IN (SELECT name FROM city WHERE mayor = 'a')", True),
    ('SELECT name FROM student WHERE city IN (SELECT mayor FROM "order")', False),
    ("SELECT name FROM student UNION SELECT mayor FROM city LIMIT 2", True),
    ("SELECT mayor FROM student UNION SELECT mayor FROM city", False),
    ("SELECT name FROM student UNION SELECT age FROM city", False),
    ('SELECT "select" FROM "order"', True),
    ("SELECT 1 + 1", True),
    ("SELECT name", False),
    ("SELECT *", False),
    ("SELECT name FROM student LIMIT age", False),
    ("VALUES (1), (2)", True),
    ("VALUES (age)", False),
    ("INSERT INTO city (name, mayor) VALUES ('a', 'b')", True),
    ("INSERT INTO city (name, age) VALUES ('a', 1)", False),
    ("INSERT INTO city SELECT name, age FROM student", True),
    ("INSERT INTO city VALUES ('a', 'b') ON CONFLICT (name) DO UPDATE SET mayor = 'c' RETURNING name", True),
    ("INSERT INTO city VALUES ('a', 'b') ON CONFLICT (age) DO NOTHING", False),
    ("INSERT INTO city VALUES ('a', 'b') RETURNING age", False),
    ("UPDATE student SET age = age + 1 WHERE name = 'a'", True),
    ("UPDATE student SET mayor = 1", False),
    ("UPDATE student SET age = 1 WHERE mayor = 1", False),
    ("DELETE FROM city WHERE mayor IS NULL", True),
    ("DELETE FROM city WHERE age IS NULL", False),
]


@pytest.mark.parametrize("options", [{}, {"max_depth": 2}, {"spelling": "any"}], ids=str)
@pytest.mark.parametrize(("statement", "is_one"), STATEMENTS)
def test_the_columns_are_those_of_the_table(database, statement, is_one, options):
    try:
        database.execute("EXPLAIN " + statement)
        prepared = True
    except sqlite3.OperationalError:
        prepared = False
    assert prepared is is_one
    assert grammars.sql(SCHOOL, joins=False, **options).accepts(statement) is is_one
    # What has no fault beside its columns is refused for these alone.
    if " * " not in f" {statement} ":
        assert grammars.sql(SCHOOL, **options).accepts(statement)


@pytest.mark.parametrize("statement", ["SELECT name FROM student, city", "SELECT age FROM student JOIN city ON 1"])
def test_there_are_no_joins(statement):
    assert not grammars.sql(SCHOOL, joins=False, spelling="any").accepts(statement)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"spelling": "any"},
        {"comments": True},
        {"parameters": True},
        {"functions": []},
        {"max_depth": 0},
        {"max_depth": 2},
        {"statements": ["select"]},
        {"statements": ["update", "delete"]},
    ],
    ids=str,
)
def test_no_column_of_another_table_in_random_statements(database, byte_vocabulary, options):
    """SQLite finds other faults in random statements, which the whole grammar has, too; a column is none of them."""
    index = interlock.Index.from_grammar(grammars.sql(SCHOOL, joins=False, **options), byte_vocabulary)
    for seed in range(12):
        statement = byte_vocabulary.decode(index.sample(seed, max_tokens=120)).decode()
        bound = [None] * 9999 if options.get("parameters") else []
        try:
            database.execute("EXPLAIN " + statement, bound)
        except sqlite3.Error as error:
            assert "no such column" not in str(error) and "no column named" not in str(error), statement


@pytest.mark.parametrize(
    ("tables", "options"),
    [
        (SCHOOL, {"statements": ["select"]}),
        (SCHOOL, {"spelling": "any"}),
        (SCHOOL, {"functions": ["rank", "lag"], "statements": ["select"], "spelling": "any"}),
        ({"student": ["name", "age"]}, {"functions": ["row_number"], "statements": ["select"]}),
        ({"student": ["name", "age"]}, {"max_depth": 1}),
    ],
    ids=str,
)
def test_sqlite_reads_random_statements(database, byte_vocabulary, tables, options):
    """What SQLite says against a statement is about its meaning, never about its syntax: see the page of grammars."""
    meanings = re.compile(
        r"misuse of (aggregate|window)( function)?|table \w+ has \d+ columns but|\d+ values for \d+ columns"
        r"|SELECTs to the left and right of|sub-select returns|row value misused|all VALUES must have the same"
        r"|a GROUP BY clause is required before HAVING|\d+(st|nd|rd|th) (ORDER|GROUP) BY term|frame "
        r"|no tables specified|ON CONFLICT clause does not match",
        re.IGNORECASE,
    )
    index = interlock.Index.from_grammar(grammars.sql(tables, joins=False, **options), byte_vocabulary)
    for seed in range(40):
        statement = byte_vocabulary.decode(index.sample(seed, max_tokens=40)).decode()
        try:
            database.execute("EXPLAIN " + statement)
        except sqlite3.Error as error:
            assert meanings.match(str(error)), (statement, str(error))


@pytest.mark.parametrize("joins", [False, True])
@pytest.mark.parametrize("options", [{}, {"max_depth": 2}, {"spelling": "any"}], ids=str)
def test_windows_stand_behind_over_alone_and_have_no_names(database, options, joins):
    grammar = grammars.sql(SCHOOL, joins=joins, **options)
    for right in ("SELECT count(*) OVER (ORDER BY age) FROM student", "SELECT row_number() OVER (ORDER BY 1)"):
        database.execute("EXPLAIN " + right)
        assert grammar.accepts(right), right
    for wrong in (
        "SELECT () () OVER (ORDER BY 1) FROM student",
        "SELECT (ROWS UNBOUNDED PRECEDING)() OVER (ORDER BY 1)",
        "SELECT count(*) OVER nope FROM student",
    ):
        with pytest.raises(sqlite3.OperationalError):
            database.execute("EXPLAIN " + wrong)
        assert not grammar.accepts(wrong), wrong
    assert not grammar.accepts("SELECT count(*) OVER w FROM student WINDOW w AS (ORDER BY age)")


def test_no_copy_of_a_rule_has_the_name_of_another_one():
    text = "start: query\nquery: column window_of_a\ncolumn: window_of_a\nwindow_of_a: /x/\nwindow: column\n"
    text += "".join(f"{name}: query\n" for name in ("select", "_tables", "table", "join", "join_condition"))
    with pytest.raises(InternalError, match="window_of_a"):
        with_one_table_each(text, {"T": ["C"]})


def test_twelve_tables_that_share_their_columns_keep_within_the_limits(byte_vocabulary):
    tables = {f"table{number}": ["id", "name", "created"] for number in range(12)}
    index = interlock.Index.from_grammar(grammars.sql(tables, joins=False), byte_vocabulary)
    guide = index.guide()
    for byte in b"SELECT name, count(id), (SELECT max((-created)) FROM table3) FROM table11":
        assert byte in guide.allowed_token_ids()
        guide.advance(byte)


def test_errors():
    with pytest.raises(ArgumentError, match="joins=False ties columns to their tables, so it needs tables"):
        grammars.sql(joins=False)
    with pytest.raises(ArgumentError, match="at most 12 tables, not 13"):
        grammars.sql({f"t{number}": ["a"] for number in range(13)}, joins=False)
    with pytest.raises(TypeError, match="joins must be True or False, not str"):
        grammars.sql(SCHOOL, joins="no")
