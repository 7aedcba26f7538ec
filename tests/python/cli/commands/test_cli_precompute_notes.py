"""What ``precompute`` says of how sources were read, in a run with other options than the one before."""

import json

from command_line import run


def notes_in(folder):
    rows = map(json.loads, (folder / "store" / "report.jsonl").read_text().splitlines())
    return [row.get("notes", []) for row in rows]


def test_notes_on_reading_are_those_of_this_run(folder):
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "propertys": {}}
    (folder / "in").mkdir()
    (folder / "in" / "a.json").write_text(json.dumps({"name": "a", "schema": schema}))
    arguments = ("precompute", "in", "-t", "bytes", "-o", "store", "-j", "1")
    run(folder, *arguments)
    first = notes_in(folder)[0]
    assert "--no-unwrap takes the whole" in first[0] and len(first) == 2
    for key, kept in ((["--schema-key", "schema"], first[1:]), ([], first)):
        said = run(folder, *arguments, *key).stdout
        assert notes_in(folder) == [kept] and ("--no-unwrap" in said) is (not key)
