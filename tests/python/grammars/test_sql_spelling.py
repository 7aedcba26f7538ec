"""SQL in a plain spelling, and with some kinds of statements alone."""

from __future__ import annotations

import re
import sqlite3

import pytest

import interlock
from interlock import grammars

TABLES = {"student": ["name", "Age", "order"], "course of study": ["id", 'a"b']}


@pytest.fixture(scope="module")
def database():
    made = sqlite3.connect(":memory:")
    made.execute('CREATE TABLE student (name, Age, "order")')
    made.execute('CREATE TABLE "course of study" (id, "a""b")')
    return made


PLAIN = [
    "SELECT name FROM student",
    "SELECT COUNT(*), max(Age) FROM student WHERE name = 'a' AND Age >= 20 ORDER BY Age DESC LIMIT 5;",
    'SELECT DISTINCT student.name, "order" FROM student',
    "SELECT -Age * 2 - -1, NULL FROM student",
    "SELECT name || 'it''s' FROM student WHERE Age IS NOT NULL",
    "SELECT CASE WHEN Age > 1.5 THEN 'x' ELSE NULL END AS y FROM student",
    "SELECT sum(Age) OVER (PARTITION BY name ORDER BY Age) FROM student",
    'SELECT "course of study".id FROM "course of study" WHERE EXISTS (SELECT 1)',
    "INSERT INTO student (name, Age) VALUES ('a', 1), ('b', 2)",
    "UPDATE student SET Age = Age + 1 WHERE name IN ('a', 'b')",
]


@pytest.mark.parametrize("statement", PLAIN)
def test_plain_statements(database, statement):
    database.execute("EXPLAIN " + statement)
    for depth in (None, 2):
        assert grammars.sql(TABLES, max_depth=depth).accepts(statement)
        assert grammars.sql(TABLES, max_depth=depth, spelling="any").accepts(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "select name FROM student",
        "SELECT name FROM student Where Age = 1",
        "SELECT name  FROM student",
        "SELECT name\nFROM student",
        "SELECT name FROM student ",
        "SELECT name,Age FROM student",
        "SELECT name ,Age FROM student",
        "SELECT Name FROM student",
        "SELECT Count(*) FROM student",
        "SELECT 0x1F FROM student",
    ],
)
def test_other_spellings(database, statement):
    database.execute("EXPLAIN " + statement)
    assert not grammars.sql(TABLES).accepts(statement)
    assert grammars.sql(TABLES, spelling="any").accepts(statement)


@pytest.mark.parametrize("options", [{}, {"max_depth": 1, "statements": ["select"]}])
def test_samples_run(database, options):
    index = interlock.Index.from_type(grammars.sql(TABLES, **options), interlock.explain.byte_vocabulary())
    words = set()
    # More texts instead of longer ones: deep inside of a statement each token costs much, and spells nothing new.
    for seed in range(16):
        ids = index.sample(seed=seed, max_tokens=80)
        text = index.vocabulary.decode([token for token in ids if token < 256]).decode("utf-8", "replace")
        words.add(text.split()[0].upper())
        try:
            database.execute("EXPLAIN " + text)
        except sqlite3.Error as error:
            assert not re.search("syntax error|unrecognized token|incomplete", str(error)), text
        bare = re.sub(r"""'[^']*'|"[^"]*\"""", "x", text)
        assert not re.search(r"[\t\n\r\f]|  ", bare) and "--" not in bare, text
    if "statements" in options:
        assert all(word.startswith(("SELECT", "VALUES")) for word in words)


def test_two_signs_are_no_comment():
    """SQLite reads ``--`` as the beginning of a comment."""
    for text in (grammars.sql(), grammars.sql(spelling="any"), grammars.sql(TABLES, spelling="any")):
        assert text.accepts("SELECT - -1") and text.accepts("SELECT 1 - -1")
        assert not text.accepts("SELECT --1") and not text.accepts("SELECT 1--1")


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("SELECT name FROM student", "select"),
        ("VALUES (1)", "select"),
        ("INSERT INTO student VALUES (1, 2, 3)", "insert"),
        ("REPLACE INTO student VALUES (1, 2, 3)", "insert"),
        ("UPDATE student SET Age = 1", "update"),
        ("DELETE FROM student", "delete"),
    ],
)
def test_statements(statement, kind):
    others = [one for one in grammars.STATEMENTS if one != kind]
    assert grammars.sql(TABLES, statements=[kind], max_depth=0).accepts(statement)
    assert not grammars.sql(TABLES, statements=others, max_depth=0).accepts(statement)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"statements": []}, "statements are some of select, insert, update, delete, and none is given"),
        ({"statements": ["selct"]}, "not 'selct'; did you mean 'select'"),
        ({"spelling": "plane"}, "spelling is 'plain' or 'any', not 'plane'"),
        ({"spelling": "plain", "comments": True}, "pass spelling='any' with comments=True"),
    ],
)
def test_wrong_options(options, said):
    with pytest.raises(interlock.ArgumentError, match=re.escape(said)):
        grammars.sql(**options)


def test_options_of_a_wrong_type():
    with pytest.raises(TypeError, match="statements must be names in a list, not str"):
        grammars.sql(statements="select")
    with pytest.raises(TypeError, match="spelling must be a str or None, not int"):
        grammars.sql(spelling=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'table'; did you mean 'tables'"):
        grammars.sql(table=TABLES)


def test_letters_that_only_other_scripts_fold_are_no_keywords():
    """Python takes the long s for an s where case is ignored, and SQLite does not."""
    text = grammars.sql(spelling="any")
    assert text.accepts("sELECT 1") and not text.accepts("\u017fELECT 1") and not text.accepts("SELECT \u0345")


def test_nothing_orders_rows_that_values_give():
    text = grammars.sql(TABLES, max_depth=0)
    assert text.accepts("VALUES (1) UNION SELECT 2 ORDER BY 1 LIMIT 2") and text.accepts("SELECT 1 UNION VALUES (2)")
    assert not text.accepts("VALUES (1) LIMIT 1") and not text.accepts("SELECT 1 UNION VALUES (2) ORDER BY 1")


def test_the_whole_language_has_every_spelling():
    assert grammars.load("sql").accepts("select 1 -- one")
    assert grammars.sql(comments=True).accepts("select 1 -- one")
    assert not grammars.load("sql", spelling="plain").accepts("select 1")
