"""Guides of the grammars that come with interlock take the texts that Lark takes, and refuse the others."""

import pytest
from grammar_texts import TEXTS

from interlock import Index, grammars

# One line each, beside the texts above.
PYTHON = [
    "import os\n",
    "del x\n",
    "if x: y\nelse: z\n",
    "def f(a): return a\n",
    "for a in b: c()\n",
    "class A: pass\n",
]
SLOW = ("c", "go", "java", "python", "sql")
ALL = [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in grammars.names()]


def accepted(index, text):
    guide = index.guide()
    data = list(text.encode())
    return guide.advance_many(data) == len(data) and guide.is_accepting


@pytest.mark.parametrize("name", ALL)
def test_texts(byte_vocabulary, name):
    index = Index.from_grammar(grammars.load(name), byte_vocabulary, lexer=grammars.lexer(name))
    good, bad = TEXTS[name]
    wanted = [*good, *(PYTHON if name == "python" else [])]
    assert [text for text in wanted if not accepted(index, text)] == []
    assert [text for text in bad if accepted(index, text)] == []


def test_sql_of_a_database(byte_vocabulary):
    index = Index.from_grammar(grammars.sql(tables={"student": ["name", "age"]}), byte_vocabulary, lexer="contextual")
    assert accepted(index, "SELECT age FROM student WHERE name = 'John Doe'")
    assert accepted(index, "select count(*) from student where age > 20")
    assert not accepted(index, "SELECT age FROM teacher")
    assert not accepted(index, "SELECT salary FROM student")
