"""``check`` of documents that are refused for many reasons."""

import json
import re

import pytest
from command_line import machine, run

import interlock
from interlock import explain
from interlock.cli.checking import verdict
from interlock.explain import applicators
from interlock.explain.document import LineStarts


def test_missing_keys_do_not_hide_a_wrong_value(folder):
    part = {"type": "object", "required": ["x"], "properties": {"n": {"type": "integer"}}}
    (folder / "parts.json").write_text(json.dumps({"type": "array", "items": part}))
    text = json.dumps([{}] * 30 + [{"n": "one", "x": 1}])
    said = run(folder, "check", "parts.json", "--text", text, code=1).stdout
    assert "an integer is expected" in said and "and 11 more; --all-reasons shows all of them" in said


def test_machines_are_told_each_missing_key(folder):
    names = [f"k{i}" for i in range(150)]
    found = machine(folder, "check", "schema:" + json.dumps({"required": names}), "--text", "{}", code=1)
    assert [problem["missing"] for problem in found["problems"]] == [names]


def test_the_work_is_the_same_for_each_reason(folder, monkeypatch):
    """No walk from the beginning of the text, or through all elements, for each of the elements that are wrong."""
    texts = []
    monkeypatch.setattr(verdict, "line_column", lambda text, at: texts.append(at) or explain.line_column(text, at))
    looked = []
    monkeypatch.setattr(applicators, "_hashable", lambda node: looked.append(node) or node.value)
    schema = {"items": {"type": "integer", "maximum": 9}, "uniqueItems": True}
    given = [10 + i % 1500 for i in range(3000)]
    found = machine(folder, "check", "schema:" + json.dumps(schema), "--text", json.dumps(given, indent=0), code=1)
    assert len(found["problems"]) == 4500 and len(looked) == 3000
    assert len(texts) < 100
    assert found["problems"][0]["line"] == 2 and max(problem["line"] for problem in found["problems"]) == 3001
    assert len(str(explain.explain(index_of(schema), json.dumps(given))).splitlines()) == 4501


def index_of(schema):
    return interlock.Index.from_json_schema(schema, explain.byte_vocabulary())


@pytest.mark.parametrize("text", ["", "a", "a\n", "\n\nab\n\nc", "a\r\nb"])
def test_the_lines_of_a_text_are_those_of_line_column(text):
    starts = LineStarts(text)
    for at in range(len(text) + 1):
        assert starts.line_column(at) == explain.line_column(text, at)


@pytest.mark.parametrize(
    ("items", "repeated"),
    [
        ("1, 1.0, 10e-1, 2", [1, 2]),
        ('1, true, "1", null, false, 0', []),
        ('{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}, {"a": 1}', [1]),
        ("[1, 2], [2, 1], [1, 2], []", [2]),
    ],
)
def test_which_elements_repeat_another(items, repeated):
    schema = {"uniqueItems": True, "items": {"enum": [0, 1, "1", "a"]}, "maxItems": 1}
    found = explain.explain(index_of(schema), f"[{items}]").problems
    told = [re.search(r"([0-9]+)\W* repeats", p.message) for p in found if p.keyword == "uniqueItems"]
    assert [int(match[1]) for match in told] == repeated
