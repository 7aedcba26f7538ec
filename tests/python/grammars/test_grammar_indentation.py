"""Indentation: texts are taken as Lark takes them with its indenter, and blocks of Python as `ast` reads them."""

from __future__ import annotations

import ast
import random

import pytest

from interlock import Index, UnsupportedError, events, grammars

DECLARED = "%declare _INDENT _DEDENT\n"
TREE = r"""
start: _NL* tree
tree: NAME _NL [_INDENT tree+ _DEDENT]
NAME: /[ab]+/
_NL: /(\r?\n[\t ]*)+/
"""
STATEMENTS = r"""
start: (_NEWLINE | statement)*
statement: call _NEWLINE | "b" ":" suite
suite: call _NEWLINE | _NEWLINE _INDENT statement+ _DEDENT
call: "a" "(" call* ")" | "a"
_NEWLINE: /(\r?\n[\t ]*)+/
%ignore / +/
"""
# The last line need not end, and comments take part in a line's end.
COMMENTS = r"""
start: statement* [line]
statement: line _NEWLINE | "b" ":" suite
suite: line _NEWLINE | _NEWLINE _INDENT statement* last _DEDENT
last: line [_NEWLINE] | "b" ":" suite
line: "a" ("a" | "(" "a" ")")*
_NEWLINE.1: /([ \t]*(#[^\n]*)?\r?\n)+ */
COMMENT: / *#[^\r\n]*/
%ignore / +/
%ignore COMMENT
"""
PIECES = ["a", "b", "b:", "b: a", "(", ")", "\n", "\n", "\n ", "\n  ", "\n  ", "\n    ", "\n\t", " ", "# a", "\r\n"]


def accepted(index: Index, text: str) -> bool:
    guide = index.guide()
    data = list(text.encode())
    return guide.advance_many(data) == len(data) and guide.is_accepting


@pytest.mark.parametrize(("name", "rules"), [("tree", TREE), ("statements", STATEMENTS), ("comments", COMMENTS)])
def test_random_texts_are_taken_as_lark_takes_them(byte_vocabulary, name, rules):
    lark = pytest.importorskip("lark", reason="needs the package lark")
    from lark.indenter import DedentError, PythonIndenter

    class Blocks(PythonIndenter):
        NL_type = "_NL" if name == "tree" else "_NEWLINE"

    parser = lark.Lark(rules + DECLARED, parser="lalr", lexer="contextual", postlex=Blocks())
    index = Index.from_grammar(rules + DECLARED, byte_vocabulary, lexer="contextual")
    rng = random.Random(7)
    counts = [0, 0]
    for _ in range(3000):
        text = "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 12)))
        try:
            parser.parse(text)
            expected = True
        except (lark.exceptions.LarkError, DedentError, AssertionError, IndexError):
            expected = False
        counts[expected] += 1
        assert accepted(index, text) == expected, text
    assert min(counts) > 20, counts


def test_no_byte_leads_into_a_dead_end(byte_vocabulary):
    """Every walk along allowed bytes can be brought to an end."""
    index = Index.from_grammar(COMMENTS + DECLARED, byte_vocabulary, lexer="contextual")
    rng = random.Random(3)
    for _ in range(60):
        guide = index.guide()
        for _ in range(rng.randint(1, 40)):
            allowed = [int(t) for t in guide.allowed_token_ids() if t < 256]
            if not allowed:
                break
            guide.advance(rng.choice(allowed))
        for _ in range(300):
            if guide.is_accepting:
                break
            allowed = [int(t) for t in guide.allowed_token_ids() if t < 256]
            assert allowed, guide.tokens
            guide.advance(rng.choice([b for b in allowed if b in b"\n):a "] or allowed))
        assert guide.is_accepting


def test_blocks_of_python(byte_vocabulary):
    index = Index.from_grammar(grammars.load("python"), byte_vocabulary, lexer=grammars.lexer("python"))
    good = [
        "if x:\n    y\nelse:\n  z\n",
        "def f(a, *, b: int = 1) -> int:\n    return a\n\n\nclass A:\n    x = (1,\n2)\n    def g(self):\n        pass",
        "async def f():\n    async with a as b, c:\n        await d\n",
        "match x:\n    case [1, *y]:\n        pass\n    case A(b=c) if d:\n        pass\n",
        "@a.b\ndef f(): ...\n",
        "while (n := g()):\n    # note\n\n    if n: break\n    # behind\nx",
        "try:\n  x\nexcept* A as b:\n  y\nfinally:\n  z # the end",
        "# only a comment",
    ]
    bad = [
        "if x:\ny\n",
        "if x:\n    y\n  z\n",
        " x\n",
        "x = # nothing\n1\n",
        "def f():\n    return (\n",
        "try:\n    x\n",
        "if x:\n    y\n    else:\n    z\n",
    ]
    for text in good:
        ast.parse(text)
        assert accepted(index, text), text
    for text in bad:
        with pytest.raises(SyntaxError):
            ast.parse(text)
        assert not accepted(index, text), text


@pytest.mark.parametrize(
    "value",
    [
        "{'a': 1, **b}",
        "{1: {2: [{3}]}}",
        "{a.b(1): lambda: {2: 3}}",
        "{a: b for a, b in c if a in {1: 2}}",
        "f'{a!r}' '' \"\"",
        "f'{a[1]:>{width}}'",
        "f'{a!s}{b:{c}}' + f\"{d=}\"",
        "'' 'a' ''",
        "b'' rb'a' b\"\"",
    ],
)
def test_what_competes_elsewhere_is_no_dead_end(byte_vocabulary, value):
    # Behind a value a closing brace ends a dictionary, or the field of an f-string. Inside of `try` more has to come.
    index = Index.from_grammar(grammars.load("python"), byte_vocabulary, lexer="contextual")
    for text in (f"x = {value}\n", f"def f():\n  try:\n    x = g({value})\n  except E:\n    pass\n"):
        ast.parse(text)
        assert accepted(index, text), text


def test_what_comes_behind_a_newline(byte_vocabulary):
    index = Index.from_grammar(grammars.load("python"), byte_vocabulary, lexer="contextual")
    guide = index.guide()
    guide.advance_many(b"if x:\n  if y:\n    z\n")

    def next_byte(text: bytes, byte: bytes) -> bool:
        fork = guide.fork()
        fork.advance_many(list(text))
        return byte[0] in fork.allowed_token_ids()

    # One blank belongs to no block; `elif` continues each `if`; a deeper line needs a colon before it.
    assert not next_byte(b" ", b"z") and next_byte(b"  ", b"z") and next_byte(b"", b"z")
    assert next_byte(b"", b"e") and next_byte(b"  ", b"e") and not next_byte(b"     ", b"z")
    assert next_byte(b"     ", b"\n") and next_byte(b"     ", b"#")
    # A comment ends its line, so none can stand where a line can't end.
    assert not next_byte(b"x =", b"#") and next_byte(b"x = (", b"#")
    with pytest.raises(UnsupportedError, match="contextual"):
        Index.from_grammar(grammars.load("python"), byte_vocabulary, lexer="dynamic")


def test_captures_hold_blocks(byte_vocabulary):
    rules = STATEMENTS.replace("suite: ", "suite[capture]: ").replace("call: ", "call[capture]: ")
    index = Index.from_grammar(rules + DECLARED, byte_vocabulary, lexer="contextual")

    def captured(text: str) -> list[tuple[str, bytes]]:
        return [(e.name, e.data) for e in index.parse(text) if isinstance(e, events.Captured)]

    # A line's end takes the blanks of the next line.
    assert captured("b:\n  a\na\n") == [("call", b"a"), ("suite", b"\n  a\n"), ("call", b"a")]
    inner, outer = b"\n    a(a\na)\n  ", b"\n  b:\n    a(a\na)\n  a\n"
    calls = [("call", b"a"), ("call", b"a"), ("call", b"a(a\na)")]
    assert captured("b:\n  b:\n    a(a\na)\n  a\n") == [*calls, ("suite", inner), ("call", b"a"), ("suite", outer)]
    # The end of the output closes blocks without a newline.
    rules = COMMENTS.replace("suite: ", "suite[capture]: ")
    index = Index.from_grammar(rules + DECLARED, byte_vocabulary, lexer="contextual")
    assert captured("b:\n a") == [("suite", b"\n a")]
    guide = index.guide()
    for rounds in range(2):
        guide.advance_many(list(b"b:\n  b:\n    a\n  "))
        guide.events()
        guide.advance_many(list(b"a\na"))
        found = [e.data for e in guide.events() if isinstance(e, events.Captured)]
        guide.rollback(len(guide.tokens))
        assert found[-1:] == [b"\n  b:\n    a\n  a\n"], rounds


@pytest.mark.parametrize(("rules", "most"), [(TREE, 30), (STATEMENTS, 30), (COMMENTS, 30)])
def test_budgets_close_blocks(byte_vocabulary, rules, most):
    index = Index.from_grammar(rules + DECLARED, byte_vocabulary, lexer="contextual")
    rng = random.Random(5)
    blocks = 0
    for tokens in range(12, most):
        guide = index.guide(max_tokens=tokens)
        while not guide.is_terminated:
            allowed = [int(t) for t in guide.allowed_token_ids()]
            assert allowed, bytes(guide.tokens)
            likely = [t for t in allowed if t < 256 and t in b"ab:\n  "]
            guide.advance(rng.choice(likely if likely and rng.random() < 0.9 else allowed))
        text = bytes(t for t in guide.tokens if t < 256)
        blocks += b"\n " in text
        assert len(text) <= tokens and accepted(index, text.decode())
    assert blocks > 3


@pytest.mark.parametrize("name", ["python", "tree"])
def test_a_grammar_inside_of_another_one_has_no_blocks(byte_vocabulary, name):
    """Nothing would make the terminals, so only texts without blocks would be left, and nobody told."""
    text = grammars.load("python") if name == "python" else DECLARED + TREE
    inside = f'start: "<" %lark {{\n{text}\n}} ">"'
    said = "indentation stands in a whole grammar only"
    for lexer in ("any", "dynamic", "contextual"):
        with pytest.raises(UnsupportedError, match=said):
            Index.from_grammar(inside, byte_vocabulary, lexer=lexer)
    tag = {"type": "grammar", "syntax": "lark", "grammar": str(text)}
    with pytest.raises(UnsupportedError, match=f"^at /format/grammar: line [0-9]+, column [0-9]+: {said}"):
        Index.from_structural_tag({"type": "structural_tag", "format": tag}, byte_vocabulary)
    with pytest.raises(UnsupportedError, match="^at /response_format/grammar: .*indentation"):
        Index.from_tools([{"name": "now"}], byte_vocabulary, format="hermes", response_format=tag)
    # What is declared and not used says nothing.
    Index.from_grammar(f'start: %lark {{\nstart: "a"\n{DECLARED}_NL: /\\n/\n}}', byte_vocabulary)
