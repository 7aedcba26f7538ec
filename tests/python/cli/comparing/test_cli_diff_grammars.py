"""``diff`` of grammars: the definitions that differ, and where more alternatives decide it."""

import re

import pytest
from command_line import machine, run

from interlock.cli.comparing.grammar_changes import only_adds
from interlock.cli.sources.source_arguments import Source

ONE = 'start: "a"+'
MORE = 'start: "a"+ | "b"'


def source(text, syntax="lark", **options):
    return Source("grammar", text, {"syntax": syntax, **options}, "grammar:")


def test_one_grammar_in_two_notations(folder):
    for name in ("a.gbnf", "a.ebnf"):
        (folder / name).write_text('root ::= "(" root ")" | x\nx ::= [0-9]+ ("," x)?\n')
    said = run(folder, "diff", "a.gbnf", "a.ebnf", code=5).stdout
    assert said.endswith("\n  try: --syntax gbnf reads both in one notation\n"), said
    assert run(folder, "diff", "a.gbnf", "a.ebnf", "--syntax", "gbnf").stdout == "equal\n"
    # Neither notation takes both.
    (folder / "a.lark").write_text('start: "(" start ")" | X\nX: /[0-9]+/')
    assert "--syntax" not in run(folder, "diff", "a.gbnf", "a.lark", code=1).stdout


def test_a_rule_with_one_alternative_more(folder):
    done = run(folder, "diff", f"grammar:{ONE}", f"grammar:{MORE}", code=1)
    assert done.stdout.splitlines() == [
        "the first accepts less",
        '  only the second accepts: "b"',
        '  rule start: alternative added: "b"',
        "  decided by the rules in which the two grammars differ",
    ]
    run(folder, "diff", f"grammar:{ONE}", f"grammar:{MORE}", "--allow", "wider")
    run(folder, "diff", f"grammar:{ONE}", f"grammar:{MORE}", "--allow", "narrower", code=1)
    found = machine(folder, "diff", f"grammar:{MORE}", f"grammar:{ONE}", code=1)
    assert found["relation"] == "the second accepts less" and found["decided_by"] == "rules"
    assert found["definitions"] == [
        {"name": "start", "kind": "rule", "change": "changed", "added": [], "removed": ['"b"']}
    ]
    assert run(folder, "diff", f"grammar:{ONE}", 'grammar:start:  "a"+ // the same').stdout.startswith("equal")


def test_where_terminals_take_text_from_each_other_it_is_listed_only(folder):
    # Under the lexer that reserves, the text `ab` is lost by the alternative that is added.
    one, two = 'grammar:start: x "b"\nx: "a"', 'grammar:start: x "b"\nx: "a" | "ab"'
    found = machine(folder, "diff", one, two, "--lexer", "contextual", code=1)
    assert found["relation"] == "different" and found["only_first"] == "ab" and "decided_by" not in found
    assert found["definitions"][0]["added"] == ['"ab"']
    assert machine(folder, "diff", one, two, code=1)["relation"] == "the first accepts less"


@pytest.mark.parametrize(
    ("one", "two", "syntax"),
    [
        ('start: "a" | x\nx: "c"', 'start: x\n  | "d"\n | "a"\nx: "c" | y "e" | "f"\ny: B\nB: /b/', "lark"),
        ('root ::= x "a"\nx ::= [a-z]', 'root ::= x "a"\nx ::= [a-z] |\n "1"', "gbnf"),
        ('root ::= ("a" | x){2,3}\nx ::= "b"', 'root ::= ("a" | x){2,3}\nx ::= "b" | "c"', "ebnf"),
    ],
)
def test_what_is_decided(one, two, syntax):
    assert only_adds(source(one, syntax), source(two, syntax))
    assert not only_adds(source(two, syntax), source(one, syntax))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("start: A\nA: /a/", "start: A\nA: /a/ | /aa/"),  # A longer match takes what should follow.
        ("start: A B\nA: /a/ & ~/b/\nB: /c/", "start: A B | A\nA: /a/ & ~/b/\nB: /c/"),
        ('start: x\nx[max_tokens=3]: "a"', 'start: x\nx[max_tokens=3]: "a" | "b"'),
        ('start: "a"', 'start: "a" | "b"\n%ignore " "'),
        ('start: "a"', 'begin: "b"\nstart: "a" | "b"'),
        ('start: "a" x\nx: "b"', '%override x: "c"\nstart: "a" x\nx: "b"'),
        ('start: "a"', 'start: "b"'),
    ],
)
def test_what_is_not_decided(one, two):
    assert not only_adds(source(one), source(two))


def test_options_and_notations_that_differ_decide_nothing():
    assert not only_adds(source(ONE), source(MORE, lexer="any"))
    assert not only_adds(source(ONE, lexer="contextual"), source(MORE, lexer="contextual"))
    assert not only_adds(source('root ::= "a"', "gbnf"), source('root ::= "a" | "b"', "ebnf"))
    dispatch = 'root ::= TagDispatch(("<a>", x))\nx ::= "b"'
    assert not only_adds(source(dispatch, "ebnf"), source(dispatch + ' | "c"', "ebnf"))


GROUPS = 'start: "x" ("a" | ("b" | "c")) y* | "."\ny: "1"'


@pytest.mark.parametrize(
    ("old", "new", "lines", "only_more"),
    [
        ('"a" |', '"a" | "q" |', ['in ("a" | ("b" | "c")), alternative added: "q"'], True),
        ('| "c"', "", ['in ("b" | "c"), alternative removed: "c"'], False),
        ('"c"', '"d"', ['in ("b" | "c"), changed from "c" to "d"'], False),
        ('"b" | "c"', '"c" | "b"', [], True),
        ('"c")', '"c" |)', ['in ("b" | "c"), alternative added: (nothing)'], True),
        ('"c"', '# or this |\n "c" | "e" "f"', ['in ("b" | "c"), alternative added: "e" "f"'], True),
        ('"."', '"," | "."', ['alternative added: ","'], True),
        ('"c"))', '"c")) "z"', ['changed from "x" ("a" | ("b" | "c")) y* to "x" ("a" | ("b" | "c")) "z" y*'], False),
        ('"."', '"x" ("1" | "2")', ['changed from "." to "x" ("1" | "2")'], False),
    ],
)
def test_alternatives_inside_of_groups(folder, old, new, lines, only_more):
    changed = GROUPS.replace(old, new)
    done = run(folder, "diff", f"grammar:{GROUPS}", f"grammar:{changed}", code=None).stdout
    said = [line.removeprefix("  rule start: ") for line in done.splitlines() if line.startswith("  rule")]
    assert said == lines
    assert only_adds(source(GROUPS), source(changed)) == only_more
    only_less = not lines or "removed" in lines[0]
    assert only_adds(source(changed), source(GROUPS)) == only_less


def test_groups_for_machines(folder):
    one, two = ('root ::= "x" ("a" | [(|])? | "k" root', 'root ::= "k" root | "x" ("a" | "q")? | "l"')
    found = machine(folder, "diff", f"grammar:{one}", f"grammar:{two}", "--syntax", "gbnf", code=1)["definitions"][0]
    assert found["groups"] == [{"group": '("a" | [(|])', "added": ['"q"'], "removed": ["[(|]"]}]
    assert found["added"] == ['"x" ("a" | "q")?', '"l"'] and found["removed"] == ['"x" ("a" | [(|])?']
    assert "groups" not in machine(folder, "diff", f"grammar:{ONE}", f"grammar:{MORE}", code=1)["definitions"][0]


STATEMENTS = """start: statement+
statement: "print" NAME ";" | "del" NAME ";" | NAME "=" NUMBER ";"
NAME: /[a-z_]+/
NUMBER: /[0-9]+/
%ignore " "
"""


@pytest.mark.parametrize("lexer", ["any", "dynamic", "contextual"])
@pytest.mark.parametrize("keyword", ["print", "del"])
def test_a_keyword_that_was_removed(folder, lexer, keyword):
    """A name takes the letters of a keyword, so that no sample would have one by chance."""
    (folder / "old.lark").write_text(STATEMENTS)
    (folder / "new.lark").write_text(STATEMENTS.replace(f'"{keyword}" NAME ";" | ', ""))
    found = machine(folder, "diff", "old.lark", "new.lark", "--lexer", lexer, code=1)
    assert found["only_first"].startswith(keyword) and found["only_second"] is None
    again = machine(folder, "diff", "new.lark", "old.lark", "--lexer", lexer, code=1)
    assert again["only_second"].startswith(keyword)


WORDS = "NAME: /[a-z]+/\n"
QUERIES = """start: "SELECT" cols "FROM" NAME ("WHERE" cond)?
cols: COLS
cond: NAME "=" value | cond "AND" cond MORE
value: NUMBER | STRING VALUE
NAME: /[a-z]+/
NUMBER: /[0-9]+/
STRING: /'[^']*'/
%ignore " "
"""


def query_grammar(cols, cond="", value=""):
    """A small grammar of queries with other columns, and more conditions and values."""
    text = QUERIES.replace("COLS", f'{cols}NAME ("," NAME)*').replace("MORE", cond).replace("VALUE", value)
    return f"grammar:{text}"


def test_a_text_goes_through_the_alternative_that_was_removed(folder):
    one, two = f'grammar:start: "*" | NAME\n{WORDS}', f"grammar:start: NAME\n{WORDS}"
    done = run(folder, "diff", one, two, "--allow", "wider", code=1)
    assert done.stdout.splitlines()[:2] == ["the second accepts less", '  only the first accepts: "*"']
    found = machine(folder, "diff", query_grammar('"*" | '), query_grammar("", '| "(" cond ")"', '| "NULL"'), code=1)
    assert "*" in found["only_first"] and re.search(r"\([a-z]=[0-9]\)|NULL", found["only_second"])
    assert "the rule cond recurses" in found["cause"]


@pytest.mark.parametrize(
    ("one", "two", "witness"),
    [
        ('start: OP "x"\nOP: "+" | "<="', 'start: OP "x"\nOP: "+"', "<=x"),  # An alternative of a terminal.
        ('start: a{2,7} ";"\na: "x" | "y"', 'start: a{2,6} ";"\na: "x" | "y"', "x" * 7 + ";"),  # A count.
        ('start: "q" a?\na: "(" a ")" | "#"', 'start: "q" a\na: "(" a ")" | "#"', "q"),  # What may be left out.
    ],
)
def test_a_text_goes_through_what_else_was_removed(folder, one, two, witness):
    assert machine(folder, "diff", f"grammar:{one}", f"grammar:{two}", code=1)["only_first"] == witness


def test_a_grammar_that_does_not_recurse_is_not_said_to_have_no_automaton(folder):
    one, two = 'grammar:start: A "x"\nA: /a+/', 'grammar:start: A "x" "y"?\nA: /a+/ | /b/'
    found = machine(folder, "diff", one + ' | "zz"', two, code=1)
    assert found["cause"] == "grammars are compared by their rules, and by texts that are tried"
    assert (found["only_first"], found["only_second"]) == ("zzx", "bx")
