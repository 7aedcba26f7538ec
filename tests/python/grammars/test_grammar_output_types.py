"""Grammars as output types: the texts of the library, mistakes that are said early, and names that do not exist."""

from __future__ import annotations

import pickle

import pytest

import interlock
from interlock.output_types import output_type_of


def test_texts_of_the_grammar_library_are_output_types():
    text = interlock.grammars.sql(tables={"student": ["name", "age"]})
    output = output_type_of(text)
    assert output.kind == "grammar" and output.source.lexer == "contextual"
    assert output.parse("SELECT name FROM student") == "SELECT name FROM student"
    with pytest.raises(interlock.InvalidOutputError):
        output.parse("SELECT salary FROM student")
    assert interlock.Grammar(interlock.grammars.load("python")).accepts("if a:\n    b\n")
    assert interlock.Grammar(text, lexer="any").lexer == "any"
    copied = pickle.loads(pickle.dumps(text))
    assert copied == text and copied.lexer == text.lexer


@pytest.mark.parametrize(
    "text",
    [
        'start: "a"',
        '// what it is\n\n# and more\nstart: "a"',
        "%import common.INT\nstart: INT",
        'root ::= "a"',
        'word.2: "a"\nstart: word',
    ],
)
def test_a_grammar_without_its_class_is_recognized(text):
    with pytest.raises(interlock.ArgumentError, match=r"looks like a grammar: pass interlock\.Grammar"):
        output_type_of(text)


def test_a_grammar_is_checked_when_it_is_made():
    with pytest.raises(interlock.GrammarError, match="NUMB"):
        interlock.Grammar("start: NUMB")


def test_a_grammar_beyond_the_usual_limits_can_be_made():
    text = "start: " + "|".join(f'"{i} "' for i in range(9)) + "\n// " + "x" * (1 << 25)
    with pytest.raises(interlock.LimitError):
        interlock.check_grammar(text)
    assert interlock.Grammar(text).text == text


def test_names_that_the_grammar_library_does_not_have():
    for name, said in {"arithmetic": r"grammars\.load\('arithmetic'\)", "slq": r"grammars\.sql\?"}.items():
        with pytest.raises(AttributeError, match=said):
            getattr(interlock.grammars, name)
    with pytest.raises(interlock.ArgumentError, match="did you mean 'arithmetic'"):
        interlock.grammars.load("arithmetics")
