"""The grammars that come with interlock: Lark loads them, and real parsers accept their sentences."""

import ast
import csv
import io
import json
import os
import random
import re
import sqlite3
import sys
import warnings
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from interlock import grammars

lark = pytest.importorskip("lark", reason="needs the package lark")
if not os.environ.get("INTERLOCK_GRAMMAR_LIBRARY"):
    reason = "Lark takes minutes; `make grammars` runs these, and test_grammars_masks.py has the same texts under masks"
    pytest.skip(reason, allow_module_level=True)

from glr_recognizer import Recognizer
from grammar_sampler import NOT_LALR, Sampler, parser
from grammar_texts import TEXTS

SLOW = ("c", "go", "java", "python")
"""Lark takes seconds to make tables of these."""
ALL = [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in grammars.names()]


def refused(compiled, name, text):
    if name in NOT_LALR:
        return Recognizer(compiled).refused_at(text) is not None
    try:
        compiled.parse(text)
    except lark.exceptions.UnexpectedInput:
        return True
    except lark.indenter.DedentError:
        return True
    return False


@pytest.mark.parametrize("name", ALL)
def test_texts(name):
    compiled = parser(name)
    accepted, others = TEXTS[name]
    assert [text for text in accepted if refused(compiled, name, text)] == []
    assert [text for text in others if not refused(compiled, name, text)] == []


# Parsers that say what is wrong about a text, or None.


def in_python(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except SyntaxError as error:
            return error.msg
    return None


def in_sqlite(text):
    try:
        sqlite3.connect(":memory:").execute("EXPLAIN " + text)
    except sqlite3.Error as error:
        # That tables are missing is not what a grammar without `tables` is about.
        if re.search("syntax error|unrecognized token|incomplete|unknown join", str(error)):
            return str(error)
    return None


def in_csv(text):
    try:
        list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        return str(error)
    return None


def in_json(text):
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.msg
    return None


def in_xml(text):
    try:
        ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        # What no context-free grammar says: names of tags, and whether prefixes and attributes are there before.
        if not re.search("mismatched tag|unbound prefix|duplicate attribute|prefix", str(error)):
            return str(error)
    return None


JUDGES = {"arithmetic": in_python, "csv": in_csv, "json": in_json, "python": in_python, "sql": in_sqlite, "xml": in_xml}


@pytest.mark.parametrize("name", [case for case in ALL if case.values[0] in JUDGES])
def test_sentences(name):
    compiled = parser(name)
    sampler = Sampler(compiled, name, seed=4)
    wrong = {}
    read = 0
    for _ in range(150):
        text = sampler.sentence(sampler.random.randint(3, 60))
        # A sentence whose terminals read differently as text is none: the last line of Python, not at the end.
        if refused(compiled, name, text):
            continue
        read += 1
        reason = JUDGES[name](text)
        if reason is not None:
            wrong[text] = reason
    assert wrong == {}
    assert read >= 140


def test_the_age_of_john_doe():
    """What is the age of a student called John Doe?"""
    tables = {"student": ["name", "age"]}
    compiled = parser("sql", grammars.sql(tables=tables, spelling="any"))
    statement = "SELECT age FROM student WHERE name = 'John Doe'"
    compiled.parse(statement)
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE student (name, age)")
    database.execute("INSERT INTO student VALUES ('John Doe', 21), ('Jane Roe', 22)")
    assert database.execute(statement).fetchall() == [(21,)]
    for other in (
        "SELECT age FROM pupil",
        "SELECT grade FROM student",
        "SELECT student.id FROM student",
        "SELECT nameFROM student",
        "SELECT age FROM student s",
        "SELECT shell(name) FROM student",
    ):
        assert refused(compiled, "sql", other), other


def test_statements_about_tables_name_nothing_else():
    tables = {"student": ["name", "Age"], "course of study": ["id", "order", 'a"b']}
    compiled = parser("sql", grammars.sql(tables=tables, spelling="any"))
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE student (name, age)")
    database.execute('CREATE TABLE "course of study" (id, "order", "a""b")')
    for statement in ('select "order", "a""b" from "course of study"', "select AGE, student.name n2 from student"):
        assert refused(compiled, "sql", statement) == ("n2" in statement)
    sampler = Sampler(compiled, "sql", seed=2)
    for _ in range(150):
        text = sampler.sentence(sampler.random.randint(5, 60))
        if not refused(compiled, "sql", text):
            try:
                database.execute("EXPLAIN " + text)
            except sqlite3.Error as error:
                # A table may be named that is not behind FROM, but none that is not there.
                missing = re.fullmatch("no such table: (.*)", str(error))
                assert missing is None or missing[1].lower() in tables, text
                assert not re.search("syntax error|unrecognized token|no such function", str(error)), text


def test_elements_of_xml_are_closed_by_their_own_tags():
    compiled = parser("xml", grammars.load("xml", elements={"a": ["x", "y"], "ab": []}))
    for text in ('<a y="1"><ab/></a>', '<ab><a x="" y=""></a ></ab>'):
        assert not refused(compiled, "xml", text)
    for text in ("<a></ab>", '<a y="" x=""/>', '<a x="" x=""/>', "<b/>", '<ab x=""/>'):
        assert refused(compiled, "xml", text)
    sampler = Sampler(compiled, "xml", seed=3)
    for _ in range(100):
        ElementTree.fromstring(sampler.sentence(40))


@pytest.mark.parametrize("columns, count", [(1, 1), (3, 3), (["name", 'a,"b"'], 2)])
def test_records_have_the_columns(columns, count):
    compiled = parser("csv", grammars.load("csv", columns=columns))
    sampler = Sampler(compiled, "csv", seed=3)
    for _ in range(100):
        text = sampler.sentence(30)
        compiled.parse(text)
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        assert {len(row) for row in rows} <= ({0, 1} if count == 1 else {count})
        assert isinstance(columns, int) or rows[0] == columns
    assert refused(compiled, "csv", ",".join("a" * (count + 1)))


@pytest.mark.slow
def test_standard_library():
    """Of 40 modules of the standard library that runs, all are accepted but those that say \\N{…}."""
    files = [path for path in sorted(Path(ast.__file__).parent.glob("*.py")) if path.stat().st_size < 40_000]
    compiled = parser("python")
    wrong = []
    for path in random.Random(sys.version_info.minor).sample(files, 40):
        text = path.read_text(encoding="utf-8")
        if refused(compiled, "python", text) and "\\N{" not in text:
            wrong.append(path.name)
    assert len(wrong) <= 1, wrong


# SQL with brackets that nest only so deep


def nesting(statement):
    """How deep brackets and CASE stand in each other, counted in the text."""
    plain = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\[[^\]]*\]", "x", statement)
    deepest = open_ = 0
    for part in re.findall(r"[()]|\b(?:case|end)\b", plain, re.IGNORECASE):
        open_ += 1 if part.lower() in ("(", "case") else -1
        deepest = max(deepest, open_)
    return deepest


# Brackets of these are no nesting, or only sometimes.
UNCOUNTED = re.compile(r"\b(?:values|insert|replace\s+into|using|cast|set)\b", re.IGNORECASE)


def test_a_depth_leaves_the_statements_of_the_whole_grammar_that_are_not_deeper():
    tables = {"student": ["name", "age"]}
    whole = parser("sql", grammars.sql(tables, spelling="any"))
    bounded = {most: parser("sql", grammars.sql(tables, max_depth=most, spelling="any")) for most in (0, 1)}
    sampler = Sampler(whole, "sql", seed=5)
    read = dict.fromkeys(range(2), 0)
    for _ in range(2_000):
        if min(read.values()) >= 50:
            break
        text = sampler.sentence(sampler.random.randint(5, 40))
        if refused(whole, "sql", text) or UNCOUNTED.search(text):
            continue
        depth = nesting(text)
        read[min(depth, 1)] += 1
        for most, compiled in bounded.items():
            assert refused(compiled, "sql", text) == (depth > most), (most, text)
    assert min(read.values()) >= 50, read


@pytest.mark.parametrize("tables", [None, {"student": ["name", "age"]}])
@pytest.mark.parametrize("most", [0, 1, 3])
def test_statements_of_a_depth_are_sql(tables, most):
    whole, compiled = (parser("sql", grammars.sql(tables, max_depth=depth, spelling="any")) for depth in (None, most))
    sampler, read = Sampler(compiled, "sql", seed=6), 0
    for _ in range(150):
        text = sampler.sentence(sampler.random.randint(3, 40))
        if not refused(compiled, "sql", text):
            read += 1
            assert not refused(whole, "sql", text) and in_sqlite(text) is None, text
    assert read >= 140
