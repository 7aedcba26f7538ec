"""What `interlock.grammars` says about itself, and its errors; test_grammars_library.py has the grammars."""

import re
from pathlib import Path

import pytest

from interlock import ArgumentError, Grammar, grammars


@pytest.mark.parametrize(
    "call",
    [
        lambda: grammars.load("cobol"),
        lambda: grammars.lexer("cobol"),
        lambda: grammars.load("json", columns=2),
        lambda: grammars.load("csv", columns=0),
        lambda: grammars.load("csv", columns="ab"),
        lambda: grammars.load("csv", columns=True),
        lambda: grammars.load("xml", elements={}),
        lambda: grammars.load("xml", elements={"a b": []}),
        lambda: grammars.load("xml", elements={"a": ["b", "b"]}),
        lambda: grammars.sql(tables={}),
        lambda: grammars.sql(tables={"a": []}),
        lambda: grammars.sql(tables={"a": "name"}),
        lambda: grammars.sql(tables={"": ["b"]}),
        lambda: grammars.sql(functions=["abs"]),
    ],
)
def test_wrong_arguments(call):
    with pytest.raises(ArgumentError):
        call()


@pytest.mark.parametrize(
    ("options", "has_parameters"),
    [
        ({"tables": {"student": ["name", "age"]}}, False),
        ({"tables": {"student": ["name", "age"]}, "parameters": True}, True),
        ({}, True),
        ({"parameters": False}, False),
    ],
)
def test_parameters_of_sql(options, has_parameters):
    grammar = Grammar(grammars.sql(**options))
    assert grammar.accepts("SELECT age FROM student WHERE name = 'A' LIMIT 2")
    for parameter in ("?", "?1", ":name", "@name", "$name"):
        assert grammar.accepts(f"SELECT age FROM student WHERE name = {parameter}") is has_parameters


def test_parameters_are_a_flag():
    with pytest.raises(TypeError, match="parameters must be True, False or None, not str"):
        grammars.sql(parameters="no")


def test_headers_name_the_lexer():
    for name in grammars.names():
        assert f"// Lexer: {grammars.lexer(name)}" in grammars.load(name)


def test_names():
    assert grammars.names() == ["arithmetic", "c", "csv", "go", "java", "json", "python", "sql", "xml"]
    for name in grammars.names():
        assert grammars.load(name).startswith("// ")


def test_the_pages_have_every_grammar():
    root = Path(__file__).parents[2]
    if not (root / "docs").is_dir():
        pytest.skip("the pages are not here")
    library = (root / "docs" / "grammars-library.md").read_text(encoding="utf-8")
    line = re.search(r"holds \[(\w+) grammars\]\([^)]*\): (.*)\.\n", (root / "README.md").read_text(encoding="utf-8"))
    numbers = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen".split()
    assert numbers.index(line[1]) == len(grammars.names())
    assert sorted(name.lower() for name in re.split(", | and ", line[2])) == grammars.names()
    for name in grammars.names():
        assert f"\n## {name}\n" in library and f"\n| {name} | " in library
