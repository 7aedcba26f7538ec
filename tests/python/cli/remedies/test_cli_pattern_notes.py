"""The note on what often surprises in a pattern: at most one a run, and only where the pattern is of that kind."""

import json

import pytest
from command_line import run

SCRIPTS = "matches the digits of every script; --flags a keeps to ASCII"
ANYWHERE = "anywhere in a string; ^(?:...)$ is the whole string"


@pytest.mark.parametrize(
    ("source", "options", "note"),
    [
        (r"pattern:\d+", [], SCRIPTS),
        (r"pattern:\d+", ["--flags", "a"], ""),
        (r"pattern:(?u)\d+", [], ""),
        (r"pattern:\d+", ["--dialect", "ecma"], ""),
        (r"pattern:\p{Nd}", ["--dialect", "ecma"], r"without it \p is the letter p in JavaScript; --flags u says"),
        (r"pattern:[^\P{Nd}]", ["--dialect", "ecma"], r"\P{Nd} is a class of Unicode here"),
        (r"pattern:\p{Nd}", ["--dialect", "ecma", "--flags", "u"], ""),
        (r"pattern:\p{Nd}", [], ""),
        (r"pattern:(?:\\p\{|1)", ["--dialect", "ecma"], ""),
        ("pattern:[0-9]+", [], ""),
        (r"pattern:\d+", ["-q"], ""),
        (r"pattern:\d+", ["--json"], ""),
        ({"type": "string", "pattern": r"\d"}, [], f'the pattern "\\\\d" at /pattern matches {ANYWHERE}'),
        ({"pattern": "[^,]", "properties": {"a": {"pattern": "x"}}}, [], f"at /pattern, and 1 more, match {ANYWHERE}"),
        ({"type": "string", "pattern": "^1"}, [], ""),
        ({"type": "string", "pattern": ".*"}, [], ""),
        ({"enum": [{"pattern": "1"}, "1"]}, [], ""),
    ],
)
def test_the_note(folder, source, options, note):
    word, text = (source, "1") if isinstance(source, str) else (f"schema:{json.dumps(source)}", '"1"')
    for arguments in (["check", word, "--text", text, "--text", text], ["check", word, "--text", text]):
        done = run(folder, *arguments, *options)
        assert done.stderr.count("note: ") == bool(note) and note in done.stderr
    assert run(folder, "inspect", word, *options).stderr.count("note: ") == bool(note)
