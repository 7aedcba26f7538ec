"""What `interlock.grammars` says about itself, and its errors; test_grammars_library.py has the grammars."""

import re
from pathlib import Path

import pytest

import interlock
from interlock import ArgumentError, Grammar, grammars
from interlock.grammars import _OPTIONS


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


def test_from_grammar_takes_the_lexer_of_the_text(byte_vocabulary, tmp_path):
    """Under the lexer ``"dynamic"`` a keyword would be a name."""
    text = grammars.GrammarText('start: NAME "=" NAME\n | "if" NAME\nNAME: /[a-z]+/\n%ignore " "')
    index = interlock.Index.from_grammar(text, byte_vocabulary)
    assert index == interlock.Index.from_grammar(str(text), byte_vocabulary, lexer="contextual")
    assert index != interlock.Index.from_grammar(str(text), byte_vocabulary)
    assert interlock.Index.from_grammar(text, byte_vocabulary, lexer="any") != index, "what is passed counts"
    never = grammars.GrammarText('start: A B\nA: "a"+\nB: "a"')
    interlock.check_grammar(str(never), lexer="any")
    with pytest.raises(interlock.UnsatisfiableError):
        interlock.check_grammar(never)
    store = interlock.Store(tmp_path)
    store.put(index)
    assert store.get(store.key_of("grammar", text, byte_vocabulary), byte_vocabulary) == index


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("csv", {"columns": 2.5}, "columns must be a number of columns or a list of their names, not float"),
        ("csv", {"columns": {"a", "b"}}, "columns must be a number of columns or a list of their names, not set"),
        ("csv", {"columns": b"ab"}, "columns must be a number of columns or a list of their names, not bytes"),
        ("xml", {"elements": ["a"]}, "elements must map names of elements to lists of attributes, not list"),
        ("xml", {"elements": {"a": 5}}, "the attributes of 'a' must be names in a list, not int"),
        ("sql", {"tables": ["a"]}, "tables must map names of tables to lists of columns, not list"),
        ("sql", {"tables": {"a": 5}}, "the columns of 'a' must be names in a list, not int"),
        ("sql", {"tables": {"a": ["b"]}, "functions": "abs"}, "functions must be names in a list, not str"),
        ("sql", {"parameters": "no"}, "parameters must be True, False or None, not str"),
        ("sql", {"comments": "no"}, "comments must be True, False or None, not str"),
        ("sql", {"max_depth": 2.5}, "max_depth must be an int or None, not float"),
    ],
)
def test_an_option_of_a_wrong_type_is_answered_in_words(name, options, said):
    with pytest.raises(TypeError, match=f"^{re.escape(said)}$"):
        grammars.load(name, **options)
    if name == "sql" and "comments" not in options:
        with pytest.raises(TypeError, match=f"^{re.escape(said)}$"):
            grammars.sql(**options)


def test_parameters_are_a_flag():
    with pytest.raises(TypeError, match="parameters must be True, False or None, not str"):
        grammars.sql(parameters="no")


@pytest.mark.parametrize(
    ("text", "has_comments"),
    [
        (grammars.sql(), False),
        (grammars.sql(comments=True), True),
        (grammars.sql(tables={"student": ["name", "age"]}), False),
        (grammars.sql(tables={"student": ["name", "age"]}, comments=True), True),
        (grammars.load("sql"), True),
        (grammars.load("sql", comments=False), False),
        (grammars.load("sql", tables={"student": ["name", "age"]}), False),
    ],
)
def test_comments_of_sql(text, has_comments):
    """A small model does not leave a comment that it began, so there are none where nobody asks for them."""
    assert text.accepts("SELECT age FROM student WHERE age - -1 > 2 / 3 * 4")
    for comment in ("-- a", "/* a */", "/**/"):
        assert text.accepts(f"SELECT age FROM student {comment}") is has_comments


def test_comments_are_a_flag():
    with pytest.raises(TypeError, match="comments must be True or False, not str"):
        grammars.sql(comments="no")


def test_a_text_says_what_it_accepts():
    text = grammars.load("arithmetic")
    assert text.accepts("1 + 2") and not text.accepts("1 +") and not text.accepts("")
    with pytest.raises(TypeError, match="text must be a str"):
        text.accepts(1)


def test_headers_name_the_lexer():
    for name in grammars.names():
        assert f"// Lexer: {grammars.lexer(name)}" in grammars.load(name)


def test_names():
    assert grammars.names() == ["arithmetic", "c", "csv", "go", "java", "json", "python", "sql", "xml"]
    for name in grammars.names():
        assert grammars.load(name).startswith("// ")


def test_the_pages_have_every_grammar():
    root = Path(__file__).parents[3]
    if not (root / "docs").is_dir():
        pytest.skip("the pages are not here")
    library = (root / "docs" / "grammars-library.md").read_text(encoding="utf-8")
    line = re.search(r"holds \[(\w+) grammars\]\([^)]*\): (.*)\.\n", (root / "README.md").read_text(encoding="utf-8"))
    numbers = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen".split()
    assert numbers.index(line[1]) == len(grammars.names())
    assert sorted(name.lower() for name in re.split(", | and ", line[2])) == grammars.names()
    for name in grammars.names():
        assert f"\n## {name}\n" in library and f"\n| {name} | " in library


def test_an_option_that_a_grammar_has_not_is_answered_by_its_own():
    with pytest.raises(ArgumentError, match="has no option 'column'; it has columns; did you mean 'columns'"):
        grammars.load("csv", column=["a"])
    with pytest.raises(ArgumentError, match="has no option 'column'; it has none"):
        grammars.load("go", column=["a"])


STUDENTS = {"tables": {"student": ["name", "age"]}}
# A value of each option, and what has to stand beside it.
VALUES = {
    ("csv", "columns"): (3, {}),
    ("sql", "statements"): (["select"], {}),
    ("sql", "tables"): (STUDENTS["tables"], {}),
    ("sql", "functions"): (["abs"], STUDENTS),
    ("sql", "parameters"): (True, STUDENTS),
    ("sql", "comments"): (True, STUDENTS),
    ("sql", "spelling"): ("plain", STUDENTS),
    ("sql", "max_depth"): (1, {}),
    ("sql", "joins"): (False, STUDENTS),
    ("sql", "level"): ("simple", STUDENTS),
    ("xml", "elements"): ({"a": ["b"]}, {}),
}


@pytest.mark.parametrize(
    ("name", "option"), [(name, option) for name, options in _OPTIONS.items() for option in options]
)
def test_each_option_changes_its_grammar(name, option):
    """An option with a row in the table, and without a branch that uses it, would be taken and ignored."""
    value, beside = VALUES[name, option]
    assert grammars.load(name, **beside, **{option: value}) != grammars.load(name, **beside)
