"""Grammars and structural tags on the command line."""

import json

import pytest

from command_line import machine, run


SUMS = """start: sum
sum: sum "+" atom | atom
atom: NUMBER | "(" sum ")"
%import common.INT -> NUMBER
%ignore " "
"""


def test_grammars(folder):
    """A file of a grammar is a source of every command; its notation is that of the ending, the option or the text."""
    (folder / "sums.lark").write_text(SUMS)
    (folder / "sums.txt").write_text(SUMS)
    assert run(folder, "check", "sums.lark", "--text", "1 + (2)").stdout.startswith("accepted: 7 tokens")
    done = run(folder, "check", "sums.lark", "--text", "1+(2]", code=1)
    assert '"]" does not fit the grammar here' in done.stdout and "allowed there: space ) + 0-9" in done.stdout
    found = machine(folder, "check", "grammar:@sums.txt", "--text", "1+", code=1)
    assert found["ends_early"] and found["problems"][0]["keyword"] == "grammar"
    facts = machine(folder, "inspect", "sums.lark", "--lexer", "contextual")
    assert (facts["kind"], facts["syntax"], facts["lexer"], facts["rules"]) == ("grammar", "lark", "contextual", 3)
    assert facts["shortest_member"] is None and facts["language_size"] is None
    drawn = machine(folder, "sample", "sums.lark", "-n", "4")
    assert drawn["not_confirmed"] == 0 and all(sample["ended"] for sample in drawn["samples"])
    assert machine(folder, "sample", "sums.lark", "-n", "3", "--wild", "--length", "8")["not_confirmed"] == 0
    assert machine(folder, "bench", "sums.lark", "--walks", "2", "--repeat", "2")["positions"] > 0
    assert machine(folder, "draw", "sums.lark", "-o", "sums.mmd")["form"] == "structure"
    assert "atom" in (folder / "sums.mmd").read_text()
    assert "no finite automaton" in run(folder, "draw", "sums.lark", "-o", "s.svg", "--form", "states", code=2).stderr
    assert machine(folder, "trace", "sums.lark", "--text", "1+2", "-o", "sums.html")["complete"]
    assert machine(folder, "compile", "sums.lark", "-t", "bytes", "-o", "sums.ilk")


def test_structural_tags(folder):
    """A file whose type says so, and the prefix ``tag:``."""
    called = {"type": "json_schema", "json_schema": {"type": "object", "properties": {"a": {"const": 1}}}}
    parts = [{"type": "const_string", "value": "<call>"}, called, {"type": "const_string", "value": "</call>"}]
    tag = {"type": "structural_tag", "format": {"type": "sequence", "elements": parts}}
    (folder / "tag.json").write_text(json.dumps(tag))
    for word in ("tag.json", "tag:@tag.json", "tag:" + json.dumps(tag)):
        assert run(folder, "check", word, "--text", '<call>{"a":1}</call>').stdout.startswith("accepted: 20 tokens")
    assert "2 is not 1" in run(folder, "check", "tag.json", "--text", '<call>{"a":2}</call>', code=1).stdout
    facts = machine(folder, "inspect", "tag.json")
    assert (facts["kind"], facts["start"]["forced_text"]) == ("structural_tag", "<call>{")
    drawn = machine(folder, "sample", "tag.json", "-n", "3")
    assert drawn["not_confirmed"] == 0 and all(sample["ended"] for sample in drawn["samples"])
    wrong = run(folder, "check", 'tag:{"type":"structural_tag","format":{"type":"nope"}}', "--text", "a", code=3)
    assert "StructuralTagError" in wrong.stderr and "/format" in wrong.stderr
    assert "not JSON" in run(folder, "check", "tag:{", "--text", "a", code=3).stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('hello <f=a>{"a": x', '"x" does not fit the tag "<f=a>" here'),
        ("<f=b>abcX", '"X" does not fit the tag "<f=b>" here'),
        ("<f=b>abc<e>and <f=b>a", 'the text ends too early for the tag "<f=b>"'),
        # Which tag comes is not certain, or it has ended.
        ("hello <fX", '"X" does not fit the grammar here'),
    ],
)
def test_a_text_that_a_structural_tag_refuses_is_answered_with_the_tag(folder, text, said):
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    contents = {"a": {"type": "json_schema", "json_schema": schema}, "b": {"type": "regex", "pattern": "[a-z]+"}}
    tags = [{"type": "tag", "begin": f"<f={n}>", "content": contents[n], "end": "<e>"} for n in contents]
    tag = {"type": "structural_tag", "format": {"type": "triggered_tags", "triggers": ["<f"], "tags": tags}}
    (folder / "tag.json").write_text(json.dumps(tag))
    assert said in run(folder, "check", "tag.json", "--text", text, code=1).stdout


def test_structural_tags_are_drawn_as_their_grammars(folder):
    begin = {"type": "token", "token": "<call>"}
    schema = {"type": "object", "properties": {"a": {"const": 1}}}
    content = {"type": "json_schema", "json_schema": schema}
    tag = {"type": "structural_tag", "format": {"type": "tag", "begin": begin, "content": content, "end": "</call>"}}
    (folder / "tag.json").write_text(json.dumps(tag))
    drawn = run(folder, "draw", "tag.json", "--out", "-", "--format", "mmd").stdout
    # The token is one that bytes cannot spell.
    assert "#60;call#62;" in drawn
    assert machine(folder, "draw", "tag.json", "--out", "tag.svg", "--form", "structure")["boxes"] >= 3
    assert "no finite automaton" in run(folder, "draw", "tag.json", "--out", "b.svg", "--form", "jumps", code=2).stderr
    # A whole output that is one document is a schema.
    content = {**content, "json_schema": {"const": 12}, "any_order": True}
    (folder / "whole.json").write_text(json.dumps({"type": "structural_tag", "format": content}))
    assert "<title>" in run(folder, "draw", "whole.json", "--out", "-", "--format", "svg").stdout
    assert machine(folder, "draw", "whole.json", "--out", "b.svg", "--form", "jumps")["states"] >= 3
    (folder / "bad.json").write_text(json.dumps({"type": "structural_tag", "format": {"type": "nope"}}))
    assert "/format" in run(folder, "draw", "bad.json", "--out", "c.svg", code=3).stderr


def test_what_grammars_name(folder):
    """Nothing is opened but what the arguments name."""
    (folder / "main.lark").write_text('start: "<" word @tail\n%import .words.word\n')
    (folder / "words.lark").write_text('word: "a" | "b"\n')
    (folder / "tail.lark").write_text('start: ">"\n')
    given = ["--import", "words=words.lark", "--grammar", "tail=tail.lark"]
    assert run(folder, "check", "main.lark", "--text", "<a>", *given).stdout.startswith("accepted")
    done = run(folder, "inspect", "main.lark", code=3)
    assert "GrammarError" in done.stderr and "--grammar NAME=FILE" in done.stderr
    done = run(folder, "inspect", "main.lark", *given[2:], code=3)
    assert "GrammarError" in done.stderr and "--import words=FILE" in done.stderr
    done = run(folder, "inspect", "words.lark", code=3)
    assert 'no rule "start"' in done.stderr and "--start RULE" in done.stderr
    assert "write NAME=FILE" in run(folder, "inspect", "main.lark", "--import", "words.lark", code=2).stderr
    assert machine(folder, "inspect", "main.lark", *given, "--start", "word")["start"]["allowed_tokens"] == 2


def test_precompute_takes_grammars(folder):
    (folder / "set").mkdir()
    (folder / "set" / "sums.lark").write_text(SUMS)
    (folder / "set" / "bad.lark").write_text("start: x\n")
    (folder / "set" / "a.json").write_text('{"type": "integer"}')
    found = machine(folder, "precompute", "set", "-t", "bytes", "-o", "store", "-j", "1", code=1)
    assert (found["sources"], found["refused"]) == (3, 1)
    rows = {row["name"]: row for row in map(json.loads, (folder / "store" / "report.jsonl").read_text().splitlines())}
    assert rows["sums.lark"]["ok"] and rows["bad.lark"]["error"]["type"] == "GrammarError"
    again = machine(folder, "precompute", "set", "-t", "bytes", "-o", "store", "-j", "1", code=1)
    assert again["refused"] == 1


def test_precompute_takes_structural_tags(shelf):
    (shelf / "schemas" / "tag.json").write_text((shelf / "tag.json").read_text())
    done = machine(shelf, "precompute", "schemas", "-t", "bytes", "-o", "store", "-j", "1")
    assert (done["ok"], done["refused"], done["skipped"]) == (2, 0, 0)
    again = machine(shelf, "precompute", "schemas", "-t", "bytes", "-o", "store", "-j", "1")
    assert (again["ok"], again["skipped"]) == (2, 2)


def test_allowed_marks_are_listed_one_by_one(folder):
    grammar = 'grammar:start: start ("*" | "+" | "-" | ")" | "," | "/") N | N\nN: /[0-9]+/'
    said = run(folder, "check", grammar, "--text", "12x", code=1).stdout
    assert "allowed there: ) * + , - / 0-9 (or the end)" in said
    assert "allowed there: 5-9 A-C a-z\n" in run(folder, "check", "pattern:[5-9A-Ca-z]", "--text", "!", code=1).stdout
