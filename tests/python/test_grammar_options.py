"""What `interlock.grammars` says about itself, and its errors; test_grammars_library.py has the grammars."""

import pytest

from interlock import ArgumentError, grammars


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


def test_headers_name_the_lexer():
    for name in grammars.names():
        assert f"// Lexer: {grammars.lexer(name)}" in grammars.load(name)


def test_names():
    assert grammars.names() == ["arithmetic", "c", "csv", "go", "java", "json", "python", "sql", "xml"]
    for name in grammars.names():
        assert grammars.load(name).startswith("// ")
