"""Guides of the grammars that come with interlock take the texts that Lark takes, and refuse the others."""

import random

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
    index = Index.from_grammar(
        grammars.sql(tables={"student": ["name", "age"]}, spelling="any"), byte_vocabulary, lexer="contextual"
    )
    assert accepted(index, "SELECT age FROM student WHERE name = 'John Doe'")
    assert accepted(index, "select count(*) from student where age > 20")
    assert not accepted(index, "SELECT age FROM teacher")
    assert not accepted(index, "SELECT salary FROM student")


@pytest.mark.parametrize("name", ALL)
def test_every_grammar_ends_within_a_budget(byte_vocabulary, name):
    index = Index.from_grammar(grammars.load(name), byte_vocabulary, lexer=grammars.lexer(name))
    least, rng = index.guide().min_tokens_to_finish(), random.Random(3)
    ends = set(byte_vocabulary.eos_token_ids)
    for more in (0, 1, 5, 20):
        guide = index.guide(max_tokens=least + more)
        while not guide.must_stop and not guide.is_terminated:
            others = [token for token in guide.allowed_token_ids().tolist() if token not in ends]
            if not others:
                break
            guide.advance(rng.choice(others))
        assert guide.is_accepting and guide.num_tokens <= least + more, bytes(guide.tokens)
        assert accepted(index, bytes(guide.tokens).decode())
