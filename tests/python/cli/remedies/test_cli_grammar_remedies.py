"""Every error about the text of a grammar has a remedy, as a line of its own or in the message."""

import interlock
import pytest
from command_line import machine

LARK = [
    'start: "a',
    "start: /a",
    "start: /(a/",
    'start: ("a"',
    'start: "a")',
    'start: * "a"',
    'start: "a" ;',
    'start: "z".."a"',
    'start: "ab".."c"',
    'start: "a"~5..2',
    'start: "a"~9999999999',
    '"a"',
    'start "a"',
    'Start: "a"',
    'A: A "a"\nstart: A',
    'A: b\nb: "x"\nstart: A',
    '%foo\nstart: "a"',
    'start: x{"a"}\nx{a,b}: a b',
    "start: x\nx{a}: a",
    "%import common.NOPE\nstart: NOPE",
    "%import nofile.X\nstart: X",
    "%import common.INT\n%import common.INT -> B\nstart: INT B",
    "start: %json {",
    'start[foo]: "a"',
    'start[max_tokens=x]: "a"',
    'start: "a" -> ',
    'start: "a" -> c d',
    '%ignore foo\nfoo: "a"\nstart: foo',
    "start: <[a]>",
    "start: <no such>",
    "start: @",
    "start: @other",
    '%declare foo\nstart: "a"',
    '%declare _INDENT _DEDENT\n%import common.NEWLINE -> _NL\nstart: _NL _INDENT "a" _NL',
    'start: "a"++',
    'start: A & B\nA: "a"\nB: "b"',
    'start.x: "a"',
    '?A: "a"\nstart: A',
    "start{a,a}: a",
    'start: "a"{2,',
    "start: }",
    '%override foo: "a"\nstart: "a"',
    r"start: /a\1(a)/",
    "start: /(?<=a)b/",
    r'start: "\xZ"',
    'begin: "a"',
]
BACKUS = [
    'root ::= "a',
    "root ::= [a",
    "root ::= []",
    "root ::= [z-a]",
    'root ::= ("a"',
    'root ::= "a")',
    'root ::= * "a"',
    r'root ::= "\q"',
    'root ::= "a"{5,2}',
    'root ::= "a"{,2}',
    'root ::= "a"{99999999999}',
    'root ::= "a"\nroot ::= "b"',
    'root "a"',
    'root = "a"',
    "root ::= 'a'",
    "root ::= /a/",
    "root ::= !",
    "root ::= <[x]>",
    r"root ::= [\d]",
    'root[foo] ::= "a"',
    "root ::= Token(",
    '| "a"',
    r'root ::= "\u12"',
]
SAYS_IT = ("; write ", "; put ", "; name it", "; give ", "did you mean")


@pytest.mark.parametrize(
    ("ending", "grammar"),
    [("lark", text) for text in LARK] + [(ending, text) for ending in ("gbnf", "ebnf") for text in BACKUS],
)
def test_a_wrong_grammar_has_a_remedy(tmp_path, ending, grammar):
    (tmp_path / f"g.{ending}").write_text(grammar)
    error = machine(tmp_path, "inspect", f"g.{ending}", code=3)["error"]
    assert error.get("remedy") or any(words in error["message"] for words in SAYS_IT), error
    assert "{" not in error.get("remedy", "").replace("{2", "").replace("{...}", ""), "a name was not filled in"


@pytest.mark.parametrize(
    ("ending", "grammar", "remedy"),
    [
        ("lark", 'start: x\nx{a}: a "b"', "write the arguments behind its name: x{...}"),
        ("lark", 'start[max_tokens=x]: "a"', "write a number: max_tokens=10"),
        ("lark", "start: [", "write ] where it ends; "),
        ("gbnf", 'root "a"', 'GBNF is like this: root ::= "a" item+ | [0-9]+'),
        ("lark", 'start "a"', 'Lark\'s notation is like this: start: "a" item+ | /[0-9]+/'),
    ],
)
def test_the_way_names_what_it_is_about(tmp_path, ending, grammar, remedy):
    (tmp_path / f"g.{ending}").write_text(grammar)
    assert machine(tmp_path, "inspect", f"g.{ending}", code=3)["error"]["remedy"].startswith(remedy)


@pytest.mark.parametrize(("ending", "begin"), [("lark", "start[{}]: A\nA: /a/\n"), ("ebnf", 'root[{}] ::= "a"\n')])
def test_the_attributes_that_are_named_are_those_that_there_are(tmp_path, ending, begin):
    (tmp_path / f"g.{ending}").write_text(begin.format("zzzzz"))
    remedy = machine(tmp_path, "inspect", f"g.{ending}", code=3)["error"]["remedy"]
    names = remedy.partition(": ")[2].split(", ")
    assert len(names) > 2
    for name in names:
        (tmp_path / f"g.{ending}").write_text(begin.format(name))
        told = machine(tmp_path, "inspect", f"g.{ending}", code=None)
        assert "there is no attribute" not in told.get("error", {}).get("message", ""), name


@pytest.mark.parametrize(
    ("names", "way"),
    [
        (".INT", "take that of the library: %import common.INT"),
        (" (INT, WORD)", "take those of the library: %import common (INT, WORD)"),
        (".NAME", "take that of the library: %import python.NAME"),
        (".item", "define item here, or take a terminal of the library, such as %import common.CNAME"),
        (" (INT, item)", "define INT, item here, or take a terminal of the library, such as %import common.CNAME"),
    ],
)
def test_a_relative_import_has_two_ways(tmp_path, names, way):
    """Lark reads the file beside the grammar; here its text is given, or a library that comes along has the name."""
    text = f"start: /x/\n%import .tok{names}\n"
    (tmp_path / "g.lark").write_text(text)
    assert machine(tmp_path, "check", "g.lark", "--text", "x", code=3)["error"]["remedy"] == (
        f"--import tok=FILE gives its text; or {way}"
    )
    with pytest.raises(interlock.GrammarError) as caught:
        interlock.check_grammar(text)
    assert caught.value.hint == f"pass its text in `imports`; or {way}"
