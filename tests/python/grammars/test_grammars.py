"""Grammars wherever patterns and schemas are sources: indexes, files, stores, output types, samples, drawings."""

from __future__ import annotations

import json
import pickle
import random
import re
import sqlite3
import sys
from pathlib import Path

import pytest

import interlock
from interlock._recipe import Recipe
from interlock.drawing import draw
from interlock.drawing.grammar_outline import outline
from interlock.explain import explain
from interlock.generators.server_requests import openai_request, structured_fields
from interlock.grammar_syntax import syntax_of
from interlock.output_types import InvalidOutputError, output_type_of
from interlock.samples.plausible import example

SUMS = r"""
// sums
?start: sum
?sum: product | sum "+" product -> add
?product: atom | product "*" atom
?atom: NUMBER | "-" atom | "(" sum ")" | NAME
NAME: /[a-z]+/
%import common.NUMBER
%ignore " "
"""
QUERY = r"""
start: "SELECT" columns "FROM" NAME where?
columns: "*" | NAME ("," NAME)*
where: "WHERE" condition (("AND" | "OR") condition)*
condition: NAME ("=" | "<" | ">") (NUMBER | STRING)
NAME: /[a-z_]+/
STRING: /'[^'\n]*'/
%import common.NUMBER
%import common.WS
%ignore WS
"""
EXAMPLES = Path(__file__).parents[3] / "examples"


def accepts(index, text):
    guide = index.guide()
    data = list(text.encode())
    return guide.advance_many(data) == len(data) and guide.is_accepting


# --- indexes and what keeps them ------------------------------------------------------------------------------------


def test_an_index_of_a_grammar_is_one_like_others(byte_vocabulary, tmp_path):
    index = interlock.Index.from_grammar(SUMS, byte_vocabulary, lexer="contextual", limits={"max_depth": 50})
    assert (index.kind, index.source, index.report) == ("grammar", SUMS, [])
    recipe = Recipe.of(index)
    assert recipe.options["lexer"] == "contextual" and recipe.options["limits"]["max_depth"] == 50
    assert recipe.compile(byte_vocabulary) == index
    index.save(tmp_path / "sums.ilk")
    for other in (pickle.loads(pickle.dumps(index)), interlock.Index.load(tmp_path / "sums.ilk", byte_vocabulary)):
        assert other == index and accepts(other, "1+(x*2)") and not accepts(other, "1+(x*2]")


def test_a_store_finds_a_grammar_again(byte_vocabulary, tmp_path):
    store = interlock.Store(tmp_path)
    options = {"imports": {"b": "N: /[0-9]/", "a": "x: N"}, "syntax": "lark"}
    text = 'start: "<" N ">"\n%import .b.N\n'
    index = store.get_or_compile("grammar", text, byte_vocabulary, **options)
    key = store.key_of("grammar", text, byte_vocabulary, **options)
    assert key in store and store.get(key, byte_vocabulary) == index and accepts(index, "<7>")
    assert key != store.key_of("grammar", text, byte_vocabulary, **options, lexer="any")
    with pytest.raises(interlock.ArgumentError, match="no option of kind 'grammar' is named 'dialect'"):
        store.key_of("grammar", text, byte_vocabulary, dialect="ecma")
    with pytest.raises(interlock.ArgumentError, match="must be a str"):
        store.key_of("grammar", b"start: x", byte_vocabulary)


# --- notations ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "syntax"),
    [
        ('start: "a"', "lark"),
        ('// x ::= y\nstart: "::=" | "a"', "lark"),
        ("start: A\nA: /a ::= b/", "lark"),
        ("", "lark"),
        ('root ::= "a" | b\nb ::= [.<>]', "ebnf"),
        ('  root ::= "a"\n  | "b"', "ebnf"),
        ('root ::= TagDispatch(("<a>", x))\nx ::= "."', "ebnf"),
        ('root ::= "a" .', "gbnf"),
        ("root ::= <|end|>", "gbnf"),
        ("root ::= !<[17]> # a comment", "gbnf"),
        ('a-b ::= "<x>"', "ebnf"),
    ],
)
def test_notations_are_told_apart(text, syntax):
    assert syntax_of(text) == syntax


# --- output types ---------------------------------------------------------------------------------------------------


def test_a_grammar_is_an_output_type(byte_vocabulary):
    greeting = interlock.Grammar('start: "Hello, " NAME "!"\nNAME: /[A-Z][a-z]+/')
    output = output_type_of(greeting)
    assert (output.kind, output.source, output.is_checked) == ("grammar", greeting, True)
    assert accepts(interlock.index_from_type(greeting, byte_vocabulary), "Hello, Ada!")
    assert output.parse("Hello, Ada!") == "Hello, Ada!"
    with pytest.raises(InvalidOutputError, match=r"was cut .* behind 'Hello, A'"):
        output.parse("Hello, A")
    with pytest.raises(InvalidOutputError, match="refuses the text that was generated, behind 'Hello, '"):
        output.parse("Hello, 1")
    assert output.key == output_type_of(interlock.Grammar(greeting.text)).key
    assert output.key != output_type_of(interlock.Grammar(greeting.text, lexer="any")).key
    assert {greeting: 1}[interlock.Grammar(greeting.text)] == 1 and pickle.loads(pickle.dumps(greeting)) == greeting


def test_what_is_no_grammar_is_said(byte_vocabulary, tmp_path):
    with pytest.raises(interlock.ArgumentError, match=r"path.read_text\(\)"):
        interlock.Grammar(tmp_path)
    with pytest.raises(interlock.ArgumentError, match="pass interlock.Grammar"):
        output_type_of('start: "a"')
    with pytest.raises(interlock.GrammarError, match="line 1, column 8"):
        interlock.index_from_type(interlock.Grammar("start: x"), byte_vocabulary)


def test_special_tokens_are_not_parsed():
    """A text does not hold them, so it cannot be judged by one."""
    grammar = interlock.Grammar('start: "run" <|call|> "x"')
    assert grammar.parse("runx") == "runx"


def test_requests_carry_the_text_alone():
    output = output_type_of(interlock.Grammar('root ::= "a"', syntax="gbnf"))
    assert structured_fields(output) == {"grammar": 'root ::= "a"'}
    extra = {"extra_body": {"structured_outputs": {"grammar": 'root ::= "a"'}}}
    assert openai_request(output, "vllm").fields == extra
    assert openai_request(output, "sglang").fields == {"extra_body": {"ebnf": 'root ::= "a"'}}
    with pytest.raises(interlock.ArgumentError, match="take no grammar"):
        openai_request(output, "openai")
    with pytest.raises(interlock.ArgumentError, match="without start and lexer"):
        structured_fields(output_type_of(interlock.Grammar('x: "y"', start="x", lexer="any")))


@pytest.mark.filterwarnings("ignore::interlock.TightBudgetWarning")
def test_a_generator_writes_a_grammar():
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    from scripted_generator import ScriptedGenerator

    generator = ScriptedGenerator({"Add.": "(1+22)*x, and so on", "Endless.": "1+1+1+1+1+1+1+1+1+(1+1"})
    grammar = interlock.Grammar(SUMS)
    assert generator("Add.", grammar, max_tokens=30) == "(1+22)*x"
    for most in (8, 10, 20):
        text = generator("Endless.", grammar, max_tokens=most)
        assert grammar.accepts(text) and len(text) <= most
    # A regular grammar is a pattern, which has budgets.
    short = interlock.Grammar('start: "yes" | "no"')
    assert generator("Add.", short, max_tokens=10) in ("yes", "no")


# --- budgets --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lexer", ["any", "dynamic", "contextual"])
@pytest.mark.parametrize("source", [SUMS, QUERY])
def test_outputs_are_complete_within_a_budget(byte_vocabulary, source, lexer):
    index = interlock.Index.from_grammar(source, byte_vocabulary, lexer=lexer)
    rng = random.Random(lexer + source)
    least = index.guide().min_tokens_to_finish()
    with pytest.raises(interlock.BudgetError, match=str(least)):
        index.guide(max_tokens=least - 1)
    for most in (least, least + 1, least + 7, least + 40):
        guide = index.guide(max_tokens=most)
        while not guide.is_terminated:
            assert guide.min_tokens_to_finish() <= most - guide.num_tokens
            allowed = guide.allowed_token_ids()
            # Blanks and open brackets are what an output never ends by.
            wanted = [token for token in allowed if token < 256 and chr(token) in "( -"] or allowed
            guide.advance(rng.choice(wanted if rng.random() < 0.7 else allowed))
            if rng.random() < 0.1:
                back = rng.randrange(guide.num_tokens)
                twin = guide.fork()
                twin.rollback(back)
                again = index.guide(max_tokens=most)
                again.advance_many(twin.tokens)
                assert list(again.allowed_token_ids()) == list(twin.allowed_token_ids())
        assert guide.num_tokens <= most + 1
        text = bytes(guide.tokens[:-1]).decode()
        assert interlock.Grammar(source, lexer=lexer).accepts(text), text


def test_a_budget_counts_tokens_and_not_bytes():
    words = [b"(", b")", b"((", b"))", b"ab", b"abab", b"+ab", b"a", b"b", b"+", b""]
    vocabulary = interlock.Vocabulary(words, eos_token_ids=[10])
    index = interlock.Index.from_grammar('start: "(" start ")" | "ab" ("+ab")*', vocabulary)
    guide = index.guide(max_tokens=4)
    assert guide.advance_many([2, 2]) == 1, "four brackets, a name and two times two brackets are five tokens"
    assert sorted(guide.allowed_token_ids()) == [4, 7]
    guide.advance(4)
    assert sorted(guide.allowed_token_ids()) == [1, 3, 6]


# --- why, samples, drawings -----------------------------------------------------------------------------------------


def test_explanations(byte_vocabulary):
    index = interlock.Index.from_grammar(SUMS, byte_vocabulary)
    assert explain(index, "1+(2*x)").accepted
    found = explain(index, "1+(2]")
    (problem,) = found.problems
    assert (found.at, problem.message, problem.keyword) == (4, '"]" does not fit the grammar here', "grammar")
    assert ord(")") in found.allowed and not found.may_end
    early = explain(index, "1+")
    assert early.ends_early and "too early for the grammar" in early.problems[0].message


@pytest.mark.parametrize("grammar", [SUMS, QUERY, 'start: "a" start "b" | "c"', "start: /[0-9]{4}/", 'start: "é"+'])
def test_samples_are_accepted_and_short(grammar, byte_vocabulary):
    index = interlock.Index.from_grammar(grammar, byte_vocabulary)
    seen = set()
    for seed in range(20):
        text = example(Recipe.of(index), random.Random(seed))
        assert text is not None and accepts(index, text.decode()) and len(text) < 400
        assert text == example(Recipe.of(index), random.Random(seed)) and not text.endswith(b" ")
        seen.add(text)
    assert len(seen) > (8 if "start: sum" in grammar or "SELECT" in grammar else 0)


def test_samples_look_like_what_people_write(byte_vocabulary):
    recipe = Recipe.of(interlock.Index.from_grammar(QUERY, byte_vocabulary))
    texts = [(example(recipe, random.Random(seed)) or b"").decode() for seed in range(20)]
    plain = [text for text in texts if re.match(r"SELECT [a-z, *]+ FROM [a-z]+", text)]
    assert len(plain) >= 15, texts


def test_outlines():
    made = outline(SUMS, "lark")
    assert [rule.name for rule in made.rules] == ["start", "sum", "product", "atom"]
    assert made.definitions["sum"].alternatives == ["product", 'sum "+" product -> add']
    assert [t.name for t in made.terminals] == ["NAME"] and made.ignored == ['" "']
    backus = outline('root ::= "a" | (b | "|")\n  c\nb ::= [|\\]] # x ::= y\nc ::= "::="\n', "ebnf")
    assert {d.name: d.alternatives for d in backus.rules} == {
        "root": ['"a"', '(b | "|") c'],
        "b": ["[|\\]]"],
        "c": ['"::="'],
    }
    assert outline('A.2: /[|:]/ | "x"i\n  | b{c, d}\nb{x, y}: x // :\n', "lark").definitions["A"].alternatives == [
        "/[|:]/",
        '"x"i',
        "b{c, d}",
    ]
    for text in ("", ":", "%import", "::=", "a ::=", "(", "\\"):
        outline(text, "lark"), outline(text, "gbnf")


def test_drawings(byte_vocabulary):
    drawing = draw(interlock.Index.from_grammar(SUMS, byte_vocabulary))
    assert drawing.form == "structure" and drawing.counts()["boxes"] == 5
    mermaid = drawing.mermaid()
    assert mermaid.count("-->") >= 4 and 'c0["<b>start</b>' in mermaid
    assert "ignored between terminals" in drawing.svg() and "grammar, 5 boxes" in drawing.html()
    assert drawing.runs and "digraph" in drawing.dot()
    with pytest.raises(interlock.ArgumentError, match="no finite automaton"):
        draw(interlock.Grammar(SUMS), "jumps")
    # Special tokens are no bytes: the text is drawn all the same.
    marked = draw(interlock.Grammar('start: "run" <|call|> "x"'))
    assert "call" in marked.html() and not marked.runs


def test_large_grammars_are_drawn_in_part(byte_vocabulary):
    rules = "\n".join(f'r{i}: "a" r{i + 1} | "b"' for i in range(300)) + '\nr300: "c"'
    drawing = draw(interlock.Grammar("start: r0\n" + rules))
    assert drawing.counts()["left_out"] > 200 and "more are not drawn" in drawing.svg()


# --- servers' other ways in -----------------------------------------------------------------------------------------


def test_gbnf_of_llama_cpp(byte_vocabulary):
    from interlock.integrations.llama_cpp import index_from_gbnf

    class LlamaGrammar:
        _grammar, _root = 'root ::= "a" x\nx ::= "b"', "x"

    with pytest.raises(interlock.ArgumentError, match="pass the text"):
        index_from_gbnf(object(), byte_vocabulary)
    assert accepts(index_from_gbnf('root ::= "a"\n', byte_vocabulary), "a")
    assert accepts(index_from_gbnf(LlamaGrammar(), byte_vocabulary), "b")
    assert accepts(index_from_gbnf(LlamaGrammar(), byte_vocabulary, root="root"), "ab")


def test_select_from_students(monkeypatch, capsys):
    if not EXAMPLES.is_dir():
        pytest.skip("the examples are not here")
    monkeypatch.setattr(sys, "path", [str(EXAMPLES), *sys.path])
    import select_from_students as students

    students.main(["--model", "scripted"])
    assert "SELECT age FROM student WHERE name = 'John Doe';\n[(20,)]" in capsys.readouterr().out
    database = students.table_of_students()
    grammar = interlock.Grammar(students.grammar_of(database, "student"))
    for text in (
        "SELECT years FROM student;",
        "SELECT age FROM students;",
        "SELECT age FROM student WHERE name = (SELECT name FROM student);",
        "SELECT age FROM student; DROP TABLE student;",
    ):
        assert not grammar.accepts(text)
    # Whatever the grammar writes, SQLite runs.
    recipe = Recipe.of(interlock.Index.from_grammar(grammar.text, interlock.explain.byte_vocabulary()))
    for seed in range(25):
        statement = (example(recipe, random.Random(seed)) or b"").decode()
        assert isinstance(database, sqlite3.Connection) and isinstance(database.execute(statement).fetchall(), list)


def test_errors_are_json_ready():
    """The place of an error is what ``json.dumps`` can write, as servers do."""
    with pytest.raises(interlock.GrammarError) as caught:
        interlock.Index.from_grammar("start: x", interlock.explain.byte_vocabulary())
    assert json.dumps([caught.value.offset, caught.value.place]) == '[7, "at byte 7"]'


def test_tables_of_any_name_are_updated():
    """The name of a table can be told from other names only where it stands alone, which took a search by bytes."""
    for name in ("st", "student", "course_of_study"):
        assert interlock.grammars.sql(tables={name: ["age"]}).accepts(f"UPDATE {name} SET age = 1")


# --- grammars of strangers ------------------------------------------------------------------------------------------


def test_look_aheads_at_the_end_of_every_terminal(byte_vocabulary):
    # Each terminal that ends leaves a promise of its own. Thousands of lists of them used to be followed through all
    # rules, which took longer than anybody waited.
    end = "(?: (?=[^ ,);.])|(?![^),;.]))"
    lines = []
    for line in interlock.grammars.load("sql").splitlines():
        terminal = re.match(r"([A-Z_]+(?:\.\d+)?): /(.*)/(i?)$", line)
        if terminal and terminal[1] not in ("BLANK", "COMMENT"):
            body = re.sub(r"\(\?ai:(\w+)\)", lambda word: word[1].upper(), terminal[2])
            lines.append(f"{terminal[1]}: /(?:{body}){end}/{terminal[3]}")
        elif not re.match(r"%ignore|BLANK|COMMENT", line):
            lines.append(line)
    # The first mask takes about a second, which is more than a guide may spend unless it is told otherwise.
    limits = {"max_mask_steps": 5_000_000}
    text = "\n".join(lines)
    index = interlock.Index.from_grammar(text, byte_vocabulary, syntax="lark", lexer="contextual", limits=limits)
    bits = interlock.allocate_bitmask(1, byte_vocabulary)
    guide = index.guide()
    for byte in b"INSERT INTO student":
        guide.fill_bitmask(bits)
        assert bits[0, byte >> 5] >> (byte & 31) & 1
        guide.advance(byte)


def test_the_text_alone_has_lost_its_lexer(byte_vocabulary):
    """docs/grammars-library.md: the default lexer reads it. Python's is refused, and others mean the same."""
    with pytest.raises(interlock.UnsupportedError, match='indentation needs lexer="contextual"'):
        interlock.Index.from_grammar(str(interlock.grammars.load("python")), byte_vocabulary)
    for name in set(interlock.grammars.names()) - {"python"}:
        text = interlock.grammars.load(name)
        plain = interlock.Index.from_grammar(str(text), byte_vocabulary)
        for seed in range(10):
            written = bytes(token for token in plain.sample(seed) if token < 256).decode()
            assert text.accepts(written), (name, written)
