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
    assert "refused set/a.json:2:22: UnsatisfiableError: " in done.stdout and "refused set/b.regex:1:2: " in done.stdout
    assert "\n  these contradict each other for type" in done.stdout and "\n  try: change one of them\n" in done.stdout


def test_of_a_line_of_a_file_the_line_is_that_of_the_file(folder):
    (folder / "set.jsonl").write_text('{"type": "integer"}\n\n{"type": "strng"}\n')
    done = run(folder, "precompute", "set.jsonl", "-t", "bytes", "-o", "store", code=1)
    error = json.loads((folder / "store" / "report.jsonl").read_text().splitlines()[1])["error"]
    assert (error["line"], error["column"]) == (3, 10)
    assert "refused set.jsonl:3:10: SchemaError: " in done.stdout


def test_the_exit_code_says_whether_all_sources_are_in_the_store(tmp_path):
    """docs/cli.md, *Precompute*: some refused is 1, what is left out counts for neither, and nothing to take is 4."""
    folder = tmp_path / "sources"
    folder.mkdir()
    args = ("precompute", "sources", "-t", "bytes", "-o", "store")
    (folder / "answer.json").write_text('{"sum": 3}')
    assert "no sources in sources" in machine(tmp_path, *args, code=4)["error"]["message"]
    assert not (tmp_path / "store").exists()
    (folder / "good.json").write_text('{"type": "integer"}')
    assert machine(tmp_path, *args)["left_out"][0]["name"] == "answer.json"
    (folder / "bad.json").write_text('{"type": "intger"}')
    (folder / "more.json").write_text('{"type": "string"}')
    made = machine(tmp_path, *args, code=1)
    assert (made["compiled"], made["done_before"], made["refused"]) == (1, 1, 1)
    assert machine(tmp_path, "verify", "store")["packs"] == 2
    # What an earlier run refused is not tried again, and still not in the store.
    assert machine(tmp_path, *args, code=1)["refused"] == 1
    for name in ("good.json", "more.json"):
        (folder / name).unlink()
    assert machine(tmp_path, *args, code=1)["refused"] == 1
    (folder / "bad.json").unlink()
    (folder / "good.json").write_text('{"type": "integer"}')
    assert machine(tmp_path, *args)["ok"] == 1


def test_where_nothing_is_a_source_nothing_is_made(tmp_path):
    (tmp_path / "documents.jsonl").write_text('{"sum": 3}\n{"sum": 4}\n')
    args = ("precompute", "documents.jsonl", "-t", "bytes", "-o", "new/store", "--report", "report.jsonl")
    for options in ((), ("--jobs", "2")):
        error = machine(tmp_path, *args, *options, code=4)["error"]
        assert "all 2 were left out; the first, documents.jsonl:1: " in error["message"]
        assert [path.name for path in tmp_path.iterdir()] == ["documents.jsonl"]


def test_people_read_paths_that_they_can_open(tmp_path):
    """The report keeps the name in the folder, which is the same on every machine."""
    inside = tmp_path / "top" / "a"
    inside.mkdir(parents=True)
    (inside / "b.json").write_text('{"type": "strng"}')
    (inside / "ok.json").write_text('{"type": "object", "minPropertys": 1}')
    (inside / "answer.json").write_text('{"sum": 3}')
    (inside / "notes.txt").write_text("about")
    (inside / "lines.jsonl").write_text('{"type": "strng"}\n')
    args = ("precompute", "top", "-t", "bytes", "-o", "store")
    said = run(tmp_path, *args, code=1).stdout
    assert "\nrefused top/a/b.json:1:10: SchemaError" in said
    assert "\nleft out top/a/answer.json: " in said and "\nleft out top/a/notes.txt: " in said
    assert "\nnote top/a/ok.json: " in said
    found = machine(tmp_path, *args, code=1)
    assert found["first_error"].startswith("top/a/b.json: ")
    assert {row["name"] for row in found["left_out"]} == {"a/answer.json", "a/notes.txt"}
    rows = [json.loads(line) for line in (tmp_path / "store" / "report.jsonl").read_text().splitlines()]
    assert [row["name"] for row in rows] == ["a/answer.json", "a/b.json", "a/ok.json"]
    lines = ("precompute", "top/a/lines.jsonl", "-t", "bytes", "-o", "lines")
    assert "\nrefused top/a/lines.jsonl:1:10: SchemaError" in run(tmp_path, *lines, code=1).stdout
