"""``check`` of documents that are refused for many reasons."""

import json

from command_line import machine, run


def test_missing_keys_do_not_hide_a_wrong_value(folder):
    part = {"type": "object", "required": ["x"], "properties": {"n": {"type": "integer"}}}
    (folder / "parts.json").write_text(json.dumps({"type": "array", "items": part}))
    text = json.dumps([{}] * 30 + [{"n": "one", "x": 1}])
    said = run(folder, "check", "parts.json", "--text", text, code=1).stdout
    assert "an integer is expected" in said and "and 11 more; --json has all of them" in said


def test_machines_are_told_each_missing_key(folder):
    names = [f"k{i}" for i in range(150)]
    found = machine(folder, "check", "schema:" + json.dumps({"required": names}), "--text", "{}", code=1)
    assert [problem["missing"] for problem in found["problems"]] == [names]
