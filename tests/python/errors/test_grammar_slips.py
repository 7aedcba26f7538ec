"""Slips of those who write grammars: the message names the mark or the rule at fault, in each notation."""

import pytest

import interlock

BOTH = ("gbnf", "ebnf")


def refused(text, syntax, kind=interlock.GrammarError):
    with pytest.raises(kind) as caught:
        interlock.check_grammar(text, syntax)
    return caught.value


@pytest.mark.parametrize(
    ("text", "syntax", "at"),
    [
        ('start: "a" ("b"\nx: "c"\n', "lark", 11),
        ('start: "a" ["b" ("c" | "d")\nx: "c"\n', "lark", 11),
        ('start: "a" ("b"', "lark", 11),
        *(('root ::= "a" ("b"\nx ::= "c"\n', syntax, 13) for syntax in BOTH),
        *(('root ::= "a" ("b" ("c" | "d")\nx ::= "c"\n', syntax, 13) for syntax in BOTH),
        *(('root ::= "a" ("b" ("c" | "d"\nx ::= "c"\n', syntax, 18) for syntax in BOTH),
    ],
)
def test_a_group_that_is_not_closed_is_named_also_where_another_rule_follows(text, syntax, at):
    error = refused(text, syntax)
    assert "this group is not closed" in str(error) and error.offset == at


@pytest.mark.parametrize("syntax", BOTH)
@pytest.mark.parametrize("slip", [":=", "=", "->", "=>"])
def test_a_mark_of_definitions_of_another_notation(syntax, slip):
    for text, at in ((f'root {slip} "a"', 5), (f'root ::= "a" x\nx {slip} "c"\n', 17)):
        error = refused(text, syntax)
        assert f'"{slip}"' in str(error) and 'did you mean "::="?' in str(error) and error.offset == at, text
        assert "Lark" not in str(error)


def test_the_same_in_larks_notation():
    assert '; write ":" for ":="' in str(refused('start := "a"', "lark"))


@pytest.mark.parametrize(
    ("rules", "name"),
    [
        (('"a" x', '"x" x', '"y"'), "x"),
        (('"a" x', '"x" y', '"y" x'), "x"),
        (('"a" x | y', '"x" y', '"(" y ")"'), "y"),
        (('"a" {start}', '"x"', '"y"'), "{start}"),
        (('"a" x', "y y", '"y" y | x y'), "x"),
        (('"a" x+', '"x"* x', '"y"'), "x"),
    ],
)
@pytest.mark.parametrize("syntax", ["lark", *BOTH])
def test_the_rule_that_never_ends_is_named_and_not_the_start(syntax, rules, name):
    start, mark = ("start", ":") if syntax == "lark" else ("root", "::=")
    named = zip((start, "x", "y"), rules, strict=True)
    text = "".join(f"{rule} {mark} {body}\n" for rule, body in named).replace("{start}", start)
    error = refused(text, syntax, interlock.UnsatisfiableError)
    name = name.replace("{start}", start)
    assert str(error) == f"the grammar accepts nothing: {name} never comes to an end"
    assert (error.code, error.subject) == ("endless_rule", name)
    vocabulary = interlock.Vocabulary([bytes([n]) for n in range(256)] + [b""], eos_token_ids=[256])
    with pytest.raises(interlock.UnsatisfiableError, match=f"{name} never comes"):
        interlock.Index.from_grammar(text, vocabulary, syntax=syntax)


def test_long_chains_of_rules_are_gone_through():
    count = 3000
    rules = "".join(f'r{n}: "a" r{n + 1}\n' for n in range(count))
    error = refused(f'start: r0\n{rules}r{count}: "b" r{count}\n', "lark", interlock.UnsatisfiableError)
    assert error.subject == f"r{count}"


def test_what_accepts_nothing_for_another_reason_says_so():
    error = refused('start: A B\nA: /a+/\nB: "a"\n', "lark", interlock.UnsatisfiableError)
    assert error.code is None and "always has a longer match" in str(error)
