"""``inspect`` of several sources, and the hooks of docs/cli.md that pass any number of files."""

import re
import shlex
from pathlib import Path

import pytest
from command_line import machine, run

PAGE = Path(__file__).parents[4] / "docs" / "cli.md"


@pytest.fixture
def schemas(folder):
    (folder / "schemas").mkdir()
    (folder / "answers").mkdir()
    (folder / "schemas" / "word.json").write_text('{"type": "string"}')
    (folder / "schemas" / "slip.json").write_text('{"type": "string", "minLenght": 3}')
    (folder / "schemas" / "wrong.json").write_text('{"type": "strin"}')
    for name in ("good.json", "bad.json"):
        (folder / "answers" / name).write_text((folder / name).read_text())
    return folder


def test_a_line_for_each_source(schemas):
    done = run(schemas, "inspect", "schemas/word.json", "schemas/wrong.json", "pattern:a+", code=3)
    lines = done.stdout.splitlines()
    assert lines[0] == "schemas/word.json: json_schema; report: 0 rows"
    assert lines[1].startswith('schemas/wrong.json: refused: SchemaError: "strin" is not a type')
    assert lines[2] == "  schemas/wrong.json:1:10:"
    assert lines[-2:] == ["pattern:a+: regex; report: 0 rows", "3 sources: 2 compiled, 1 refused"]
    assert run(schemas, "inspect", "pattern:a", "pattern:b").stdout.endswith("\n2 sources: 2 compiled, 0 refused\n")


def test_a_file_in_another_encoding_is_one_refused_source(schemas):
    (schemas / "schemas" / "latin.json").write_bytes('{"title": "Stück"}'.encode("latin-1"))
    (schemas / "schemas" / "wide.json").write_bytes('{"type": "string"}'.encode("utf-16"))
    found = machine(schemas, "inspect", "schemas", code=3)
    assert found["counts"] == {"sources": 5, "compiled": 2, "refused": 3}
    errors = {one["name"]: one["error"] for one in found["sources"] if "error" in one}
    assert errors["schemas/latin.json"] == {
        "type": "InputError",
        "message": "schemas/latin.json is not UTF-8 (at byte 13)",
        "file": "schemas/latin.json",
        "remedy": "save it as UTF-8",
    }
    assert errors["schemas/wide.json"]["file"] == "schemas/wide.json"
    lines = run(schemas, "inspect", "schemas", code=3).stdout.splitlines()
    assert "schemas/latin.json: refused: schemas/latin.json is not UTF-8 (at byte 13)" in lines
    # Alone it is no usable file.
    assert machine(schemas, "inspect", "schemas/latin.json", code=4)["error"]["file"] == "schemas/latin.json"


def test_a_folder_and_a_glob_stand_for_their_sources(schemas):
    (schemas / "schemas" / "answer.json").write_text('{"name": "x", "age": 3}')
    (schemas / "schemas" / "tools.json").write_text('[{"name": "now", "parameters": {}}]')
    (schemas / "schemas" / "deep").mkdir()
    (schemas / "schemas" / "deep" / "list.json").write_text('{"type": "array", "items": {"$ref": "../word.json"}}')
    (schemas / "schemas" / "word.regex").write_text("a+\n")
    done = run(schemas, "inspect", "schemas", code=3)
    named = [line.partition(":")[0] for line in done.stdout.splitlines() if line.startswith("schemas")]
    names = ("deep/list.json", "slip.json", "word.json", "word.regex", "wrong.json")
    assert named == [f"schemas/{name}" for name in names]
    assert "note: schemas/answer.json is left out: none of its keys (name, age) is a keyword" in done.stderr
    assert "note: schemas/tools.json is left out: it " in done.stderr
    found = machine(schemas, "inspect", "schemas/deep", "pattern:[a-z]*", "--document", "schemas")
    assert [source["name"] for source in found["sources"]] == ["schemas/deep/list.json", "pattern:[a-z]*"]
    assert machine(schemas, "inspect", "schemas/w*d.json")["counts"]["sources"] == 1
    (schemas / "empty").mkdir()
    assert "empty has no sources" in run(schemas, "inspect", "empty", code=4).stderr


def test_several_sources_in_json(schemas):
    found = machine(schemas, "inspect", "schemas/slip.json", "schemas/wrong.json", code=3)
    assert found["counts"] == {"sources": 2, "compiled": 1, "refused": 1}
    slip, wrong = found["sources"]
    assert slip["unknown_keywords"][0]["suggestion"] == "minLength" and slip["report"][0]["keyword"] == "minLenght"
    assert wrong["name"] == "schemas/wrong.json" and wrong["error"]["line"] == 1


def test_warnings_of_several_name_the_source(schemas):
    done = run(schemas, "inspect", "schemas/slip.json", "schemas/word.json")
    assert done.stderr.startswith("warning: schemas/slip.json: `minLenght` is no keyword")


def test_what_is_no_matter_of_a_source_ends_the_command(schemas):
    assert "No such file" in run(schemas, "inspect", "schemas/word.json", "none.json", code=4).stderr
    refused = run(schemas, "inspect", "schemas/word.json", "schemas/slip.json", "--flags", "a", code=2)
    assert "each of the sources is a JSON Schema" in refused.stderr


def hooks():
    """The hooks of the page, by their names: the words of each command, and the pattern of its files."""
    yaml = pytest.importorskip("yaml")
    if not PAGE.is_file():
        pytest.skip("the pages are not here")
    (block,) = re.findall(r"```yaml\n(repos:.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (local,) = yaml.safe_load(block)["repos"]
    assert all(hook["language"] == "system" for hook in local["hooks"])
    return {hook["id"]: (shlex.split(hook["entry"]), hook["files"]) for hook in local["hooks"]}


@pytest.mark.parametrize(
    ("name", "good", "bad", "code"),
    [
        ("interlock-schemas", "schemas/word.json", ("schemas/slip.json", "schemas/wrong.json"), 3),
        ("interlock-answers", "answers/good.json", ("answers/bad.json",), 1),
    ],
)
def test_hooks_of_the_page(schemas, name, good, bad, code):
    (schemas / "schemas" / "order.json").write_text((schemas / "order.json").read_text())
    (program, *words), pattern = hooks()[name]
    assert program == "interlock" and all(re.search(pattern, file) for file in (good, *bad))
    run(schemas, *words, good)
    run(schemas, *words, good, good)
    for file in bad:
        for files in ([file], [file, file], [good, file]):
            assert (
                file in run(schemas, *words, *files, code=code).stdout + run(schemas, *words, *files, code=code).stderr
            )
