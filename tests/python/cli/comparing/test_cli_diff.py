"""``diff`` where the exact comparison takes too many states: the quick search, and the list of differences."""

import io
import json
import sys

import pytest
from command_line import machine, run

import interlock
import interlock.cli
from interlock.cli.comparing.document_differences import differences
from interlock.cli.comparing.witness_search import _Search
from interlock.explain import byte_vocabulary

OPEN = {"type": "object", "properties": {"a": {"type": "integer"}}}
STRINGS = {"type": "object", "properties": {"a": {"type": "string"}, "c": {"type": "integer"}}}

REQUIRED = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


def changed(schema, **properties):
    return schema | {"properties": schema["properties"] | properties}


def accepts(schema, text):
    guide = interlock.Index.from_json_schema(schema, byte_vocabulary()).guide()
    data = list(text.encode())
    return guide.advance_many(data) == len(data) and guide.is_accepting


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (OPEN, changed(OPEN, b={"type": "string"})),
        (OPEN, changed(OPEN, a={"type": "integer", "maximum": 1e40})),
        (STRINGS, STRINGS | {"required": ["c"]}),
        (STRINGS, changed(STRINGS, a={"type": "string", "maxLength": 30})),
        (STRINGS, changed(STRINGS, c={"type": ["integer", "null"]})),
        (STRINGS, changed(STRINGS, c={"enum": [1, 2, 17]})),
        (REQUIRED, REQUIRED | {"additionalProperties": False}),
    ],
)
def test_ordinary_schemas_differ_by_a_text(folder, first, second):
    """What is said to be accepted by one alone is: both engines are asked."""
    (folder / "first.json").write_text(json.dumps(first))
    (folder / "second.json").write_text(json.dumps(second))
    found = machine(folder, "diff", "first.json", "second.json", code=1)
    assert found["equal"] is False and (found["only_first"] or found["only_second"])
    if found["only_first"] is not None:
        assert accepts(first, found["only_first"]) and not accepts(second, found["only_first"])
    if found["only_second"] is not None:
        assert accepts(second, found["only_second"]) and not accepts(first, found["only_second"])


def test_a_text_with_escapes_is_told_in_plain_spelling():
    pair = [{"type": "object", "properties": {"id": {"type": kind}}, "required": ["id"]} for kind in ("string", "null")]
    both = tuple(interlock.Index.from_json_schema(schema, byte_vocabulary()) for schema in pair)
    run = _Search(both, [False, False])
    for text in (rb'{"\u0069\u0064":"\u0049NV"}', rb'{"\u0069d"  : null,"\u0062": 1}'):
        run.offer(text)
    run.respell(["id"])
    assert run.found.texts == [b'{"id":"INV"}', b'{"id":null,"b":1}']
    plain = interlock.Index.from_json_schema(pair[0], byte_vocabulary(), spelling="plain")
    run = _Search((both[0], plain), [False, False])
    run.offer(rb'{"\u0069d":"x"}')
    run.respell(["id"])
    assert run.found.texts == [rb'{"\u0069d":"x"}', None]  # Nothing else shows how they differ.


def test_what_is_not_decided_is_listed(folder):
    other = changed(STRINGS, a={"type": "string", "not": {"const": 7}})
    words = [f"schema:{json.dumps(schema)}" for schema in (STRINGS, other)]
    said = run(folder, "diff", *words, code=5).stdout
    assert said.startswith("not decided\n  not exact: more than 200000 pairs of states: objects are open")
    assert "strings are unbounded" in said and '/properties/a/not  (absent)  {"const": 7}' in said
    assert "--whitespace compact" in said
    compact = run(folder, "diff", *words, "--whitespace", "compact", code=5).stdout
    assert "--whitespace" not in compact and "--limit max_flat_states=N" in compact


def test_what_is_known_of_one_side_alone(folder):
    """A text of one side is certain; what the other side may have is not, and the places where they differ are said."""
    first, second = (OPEN | {"not": {"additionalProperties": {"maximum": most}}} for most in (6, 5))
    words = [f"schema:{json.dumps(schema)}" for schema in (first, second)]
    found = machine(folder, "diff", *words, code=1)
    assert found["only_first"] is None and accepts(second, found["only_second"])
    assert found["differences"] == [{"pointer": "/not/additionalProperties/maximum", "first": 6, "second": 5}]
    said = run(folder, "diff", *words, code=1).stdout
    assert said.startswith("different\n  only the second accepts: ")
    assert "  not decided: whether the first accepts anything that the second refuses\n" in said
    assert "none of which the first alone accepts" in said and "/not/additionalProperties/maximum  6      5" in said
    assert "--limit max_flat_states=N" in said


def test_grammars_are_searched(folder):
    one, other = 'grammar:start: "(" start ")" | "x"', 'grammar:start: "(" start ")" | "y"'
    found = machine(folder, "diff", one, other, code=1)
    assert (found["only_first"], found["only_second"], found["exact"]) == ("x", "y", False)
    assert "finite automaton" in found["cause"]
    assert machine(folder, "diff", one, one + ' | "x"')["decided_by"] == "rules"
    # The same texts in other terminals.
    assert machine(folder, "diff", one.replace('"x"', '"xx"'), one.replace('"x"', '"x" "x"'), code=5)["equal"] is None


def test_differences_of_documents():
    first = {"a/b": 1, "l": [{"x": 1}, {"y": 2}], "t": True, "r": ["a"]}
    second = {"l": [{"x": 1.5}], "t": 1, "r": ["a"], "n": None}
    assert differences(first, second) == [
        {"pointer": "/a~1b", "first": 1},
        {"pointer": "/l/0/x", "first": 1, "second": 1.5},
        {"pointer": "/l/1", "first": {"y": 2}},
        {"pointer": "/t", "first": True, "second": 1},
        {"pointer": "/n", "second": None},
    ]
    assert differences({"a": 1, "b": 2}, {"b": 2, "a": 1}) == []


def test_a_terminal_is_told_how_far_the_comparison_is(folder, monkeypatch):
    """The first step is shown at once, and the line is taken away at the end."""
    (folder / "first.json").write_text(json.dumps(STRINGS))
    (folder / "second.json").write_text(json.dumps(STRINGS | {"required": ["c"]}))
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "120")
    words = ["diff", str(folder / "first.json"), str(folder / "second.json")]
    interlock.cli.main(words)
    assert "comparing [" in terminal.getvalue()
    assert "looking for a text that only one side accepts" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r")
    terminal.seek(0)
    terminal.truncate()
    interlock.cli.main([*words, "--quiet"])
    assert "comparing" not in terminal.getvalue()
