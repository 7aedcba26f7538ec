"""What ``precompute`` says of sources that are refused."""

import json

from command_line import machine, run


def test_what_is_refused_has_its_place_and_a_remedy(folder):
    """What ``check`` says of a source is in the report and in the summary, too."""
    (folder / "set").mkdir()
    schema = (
        '{"type": "object",\n "properties": {"a": {"type": "integer", "minimum": 5, "maximum": 2}}, "required": ["a"]}'
    )
    (folder / "set" / "a.json").write_text(schema)
    (folder / "set" / "b.regex").write_text("a(b")
    checked = machine(folder, "check", "set/a.json", "--text", "1", code=3)["error"]
    done = run(folder, "precompute", "set", "-t", "bytes", "-o", "store", code=1)
    rows = [json.loads(line)["error"] for line in (folder / "store" / "report.jsonl").read_text().splitlines()]
    assert rows[0] == {name: value for name, value in checked.items() if name != "file"}
    assert (rows[0]["line"], rows[0]["column"], rows[1]["column"]) == (2, 22, 2)
    assert "refused a.json:2:22: UnsatisfiableError: " in done.stdout and "refused b.regex:1:2: " in done.stdout
    assert "\n  these contradict each other for type" in done.stdout and "\n  try: change one of them\n" in done.stdout


def test_of_a_line_of_a_file_the_line_is_that_of_the_file(folder):
    (folder / "set.jsonl").write_text('{"type": "integer"}\n\n{"type": "strng"}\n')
    done = run(folder, "precompute", "set.jsonl", "-t", "bytes", "-o", "store", code=1)
    error = json.loads((folder / "store" / "report.jsonl").read_text().splitlines()[1])["error"]
    assert (error["line"], error["column"]) == (3, 10)
    assert "refused set.jsonl:3:10: SchemaError: " in done.stdout
