"""``diff`` of grammars, one of which is wider: what the rules decide under each lexer, and what they rightly don't."""

import pytest
from command_line import machine, run

import interlock
from interlock.cli.comparing.grammar_changes import accepts_all
from interlock.cli.sources.source_arguments import Source

VOCABULARY = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
LEXERS = ("any", "dynamic", "contextual")
LANGUAGE = """
start: statement+
statement: NAME op NAME ";"
op: "=" | "+="
NAME: /[a-z]+/
NUMBER: /[0-9]+/
%ignore " "
"""


def verdict(one, two, **options):
    options = {"syntax": "lark", **options}
    return accepts_all(*(Source("grammar", text, dict(options), "g") for text in (one, two)), VOCABULARY)


def accepts(text, data, **options):
    guide = interlock.Index.from_grammar(text, VOCABULARY, **options).guide()
    return guide.advance_many(list(data.encode())) == len(data) and guide.is_accepting


@pytest.mark.parametrize("lexer", LEXERS)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("op NAME", "op NAME?"),
        ("op NAME", "op NAME*"),
        ("op NAME", "op NAME~1..3"),
        ("op NAME", "op (NAME | NUMBER)"),
        ("op NAME", "op [NAME] -> short"),
        ("statement+", "statement*"),
        ('| "+="', '| "+=" | "-="'),
        ('";"', '";" ("!" NUMBER)?'),
        ("NAME: /[a-z]+/", "NAME: /[a-z]+/ | /_[0-9]/"),
        ('op NAME ";"', 'op value ";"\nvalue: NAME | "(" value ")"'),
        ("statement+", 'block+\nblock: statement | "{" block* "}"'),
        ("op: ", "?op.2: "),
        ('%ignore " "', '%ignore " "\n%ignore "\\n"'),
    ],
)
def test_ordinary_widenings_are_decided(lexer, old, new):
    wider = LANGUAGE.replace(old, new, 1)
    assert wider != LANGUAGE
    assert verdict(LANGUAGE, wider, lexer=lexer).holds
    assert verdict(wider, LANGUAGE, lexer=lexer).holds == ("?op" in new)


@pytest.mark.parametrize(
    ("one", "two", "syntax"),
    [
        ('root ::= x? "."\nx ::= [a-c]', 'root ::= x* "."\nx ::= [a-z]', "gbnf"),
        ('root ::= x{2,3} root | ""\nx ::= "ab" | "c"', 'root ::= x{1,} root? | ""\nx ::= "a" "b"? | "c"', "gbnf"),
        ('root ::= "(" root ")" | Regex("a+")', 'root ::= "(" (root | ".") ")" | Regex("a+")', "ebnf"),
        ("start: a start | b\na: /x/\nb: /y/", "start: (a | b) start | b\na: /x/\nb: /y/ | /z/", "lark"),
        ('start: old | "(" start ")"\nold: "a" "b"', 'start: "a" "b" "c"? | "(" start ")"', "lark"),
        ("start: list{A} | A\nA: /a/\nlist{x}: x+", "start: list{A} | A?\nA: /a/\nlist{x}: x+", "lark"),
        ('start: %json {"type": "null"} "."', 'start: %json {"type": "null"} "."?', "lark"),
    ],
)
def test_other_notations_and_rules_that_move(one, two, syntax):
    done = verdict(one, two, syntax=syntax, lexer="any")
    # What is not understood is compared by how it is written, and so a template around other parts is not.
    assert done.holds == ("list{" not in one), done.why
    assert not verdict(two, one, syntax=syntax, lexer="any").holds


@pytest.mark.parametrize(
    ("one", "two", "lexer", "lost"),
    [
        ("start: A /b/\nA: /a/", "start: A /b/\nA: /a/ | /ab/", "dynamic", "ab"),
        ('start: A "b"\nA: /a+/', 'start: A "b"\nA: /[ab]+/', "dynamic", "ab"),
        ('start: A "b"\nA: /a/\n%ignore " "', 'start: A "b"\nA: /a ?/ | /ab/\n%ignore " "', "dynamic", "ab"),
        ('start: "a" "b"\n%ignore /_/', 'start: "a" "b"\n%ignore /_b?/', "dynamic", "a_b"),
        ('start: A "x"\nA: /[a-z]{2}/', 'start: (A | "if" "y") "x"\nA: /[a-z]{2}/', "contextual", "ifx"),
        ('start: "a" "bc"', 'start: "a" ("bc" | "b" | "bcd")', "contextual", ""),
        ('start: A B\nA: "a"\nB: "b"', 'start: A C? B\nA: "a"\nB: "b"\nC: /b./', "contextual", ""),
        ('start: A "b"\nA: "a"', 'start: A "b"\nA: "a"\n%ignore /b+c?/', "contextual", ""),
        ('start: "a"\n%ignore " "', 'start: "a" /[ ]b/?\n%ignore " "', "contextual", ""),
    ],
)
def test_where_a_terminal_may_take_text_nothing_is_decided(one, two, lexer, lost):
    found = verdict(one, two, lexer=lexer)
    assert not found.holds and found.why
    assert verdict(one, two, lexer="any").holds
    if lost:
        assert accepts(one, lost, lexer=lexer)
        try:
            assert not accepts(two, lost, lexer=lexer)
        except interlock.UnsatisfiableError:
            pass


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ('start: "a" "b"', 'start: "b" "a"'),
        ('start: "a"+', 'start: "a"~1..9'),
        ('start: "a" x\nx: "b" | x "c"', 'start: "a" x\nx: "b"'),
        ('start: x | "a"\nx: "(" x ")"| "b"', 'start: x | "a"\nx: "(" x ")"| "c"'),
        ('start: "(" start ")" | "b"', 'start: "(" start ")"? | "c"'),
        ('start[max_tokens=3]: "a"*', 'start[max_tokens=3]: "a"* | "b"'),
        ("start: A\nA: /a/ & /.*/", 'start: A "b"?\nA: /a/ & /b/ | "c"'),
        ('start: "a"\n%ignore " "', 'start: "a" | "b"\n%ignore "_"'),
    ],
)
@pytest.mark.parametrize("lexer", LEXERS)
def test_what_is_no_widening(one, two, lexer):
    assert not verdict(one, two, lexer=lexer).holds


def test_indentation_and_what_follows_a_terminal_decide_nothing_for_terminals_that_compete():
    blocks = "start: NAME _NEWLINE (_INDENT start _DEDENT)?\nNAME: /[a-z]+/\n_NEWLINE: /(\\n[\\t ]*)+/\n"
    blocks += "%declare _INDENT _DEDENT\n"
    assert not verdict(blocks, blocks.replace("start: NAME", "start: NAME?"), lexer="contextual").holds
    ahead = 'start: A "b"\nA: /a(?=b)/'
    assert not verdict(ahead, ahead.replace('"b"', '"b"?'), lexer="contextual").holds
    assert verdict(ahead, ahead.replace('"b"', '"b"?'), lexer="dynamic").holds


def test_a_recursive_grammar_that_is_wider_is_allowed(folder):
    one = 'start: sum\nsum: atom ("+" atom)*\natom: /[0-9]+/ | "(" sum ")"\n'
    (folder / "one.lark").write_text(one)
    (folder / "two.lark").write_text(one.replace('"(" sum ")"', '"-"? "(" sum? ")"'))
    found = machine(folder, "diff", "one.lark", "two.lark", "--allow", "wider")
    assert found["relation"] == "the first accepts less" and found["decided_by"] == "rules"
    run(folder, "diff", "one.lark", "two.lark", "--allow", "narrower", code=1)


def test_the_lexer_that_decides_is_named(folder):
    (folder / "one.lark").write_text(LANGUAGE)
    (folder / "two.lark").write_text(LANGUAGE.replace("[a-z]+", "[a-z_]+"))
    command = ("diff", "one.lark", "two.lark", "--allow", "wider")
    lines = run(folder, *command, code=5).stdout.splitlines()
    assert (
        "  open: whether the second accepts all that the first accepts: in the rule statement, NAME has longer texts "
        "in the second, which may be what follows NAME of the first"
    ) in lines
    assert "  try: --lexer any: with it the rules say that the second accepts all that the first does" in lines
    assert machine(folder, *command, code=5)["open"][0]["lexer"] == "any"
    run(folder, *command, "--lexer", "any")
    back = run(folder, "diff", "two.lark", "one.lark", "--allow", "narrower", code=5).stdout
    assert "NAME has longer texts in the first, which may be what follows NAME of the second" in back
