"""``check`` of the documents that a folder or a glob names, and the line of each."""

import contextlib
import errno
import json
import os
from pathlib import Path

import pytest
from command_line import machine, run

from interlock.cli.commands import precompute


@pytest.fixture
def answers(folder):
    (folder / "answers" / "late").mkdir(parents=True)
    (folder / "answers" / ".hidden").mkdir()
    for name in ("a.json", "late/b.json", ".hidden/c.json", ".d.json"):
        (folder / "answers" / name).write_text('{"item": "tea"}')
    (folder / "answers" / "e.jsonl").write_text('{"item": "tea"}\n{"item": 1}\n')
    (folder / "answers" / "notes.txt").write_text("ab\n")
    return folder


def names_of(folder, *args, code=0):
    return [document["name"] for document in machine(folder, "check", *args, code=code)["documents"]]


def test_a_folder(answers):
    wanted = ["answers/a.json", "answers/e.jsonl:1", "answers/e.jsonl:2", "answers/late/b.json"]
    assert names_of(answers, "order.json", "answers", code=1) == wanted
    assert names_of(answers, "order.json", "answers/late/", "answers/a.json") == wanted[:2:-1] + wanted[:1]
    # A text may have any name.
    assert "answers/notes.txt" in names_of(answers, "pattern:ab", "answers", code=1)


def test_what_is_left_out_of_a_folder_is_named(answers):
    note = "note: 1 file left out, since its name ends in none of .json, .jsonl, .ndjson: answers/notes.txt\n"
    assert run(answers, "check", "order.json", "answers", code=1).stderr == note
    assert run(answers, "check", "order.json", "answers", "--quiet", code=1).stderr == ""
    for options in ([], ["--summary"]):
        said = machine(answers, "check", "order.json", "answers", *options, code=1)
        assert said["left_out"] == ["answers/notes.txt"]
    for n in range(4):
        (answers / "answers" / f"{n}.yaml").write_text("item: tea\n")
    said = run(answers, "check", "order.json", "answers", code=1).stderr
    assert "5 files left out, since their names end in none of" in said
    assert said.endswith(": answers/0.yaml, answers/1.yaml, answers/2.yaml, ...\n")
    # A glob says itself what it takes, and a text may have any name.
    assert run(answers, "check", "order.json", "answers/*.json").stderr == ""
    assert "left out" not in run(answers, "check", "pattern:ab", "answers", code=1).stderr


def test_a_glob(answers):
    assert names_of(answers, "order.json", "answers/**/*.json") == ["answers/a.json", "answers/late/b.json"]
    done = run(answers, "check", "order.json", "answers/a*.json")
    assert done.stdout == "answers/a.json: accepted\n1 document: 1 accepted, 0 refused\n"
    assert run(answers, "check", "order.json", "answers/a*.json", "--only-refused").stdout.startswith("1 document:")
    # The source is none of them, and a file that has such a name is itself.
    assert "order.json" not in names_of(answers, "order.json", "*.json", code=1)
    (answers / "[a].json").write_text('{"item": "tea"}')
    assert run(answers, "check", "order.json", "[a].json").stdout.startswith("accepted")


def test_the_files_that_the_source_refers_to_are_no_documents(answers):
    """They lie in the folder of ``--document``, which may be that of the documents, too."""
    (answers / "answers" / "item.json").write_text('{"type": "string"}')
    (answers / "answers" / "list.json").write_text('{"items": {"$ref": "order.json"}}')
    (answers / "answers" / "order.json").write_text('{"properties": {"item": {"$ref": "item.json"}}}')
    wanted = ["answers/a.json", "answers/e.jsonl:1", "answers/e.jsonl:2", "answers/late/b.json"]
    for folder in ("answers", "."):
        assert names_of(answers, "answers/list.json", "answers", "--document", folder) == wanted
    assert names_of(answers, "answers/list.json", "answers/**/*.json", "--document", ".") == [wanted[0], wanted[3]]
    # A file that is named itself is a document.
    assert not machine(answers, "check", "answers/list.json", "answers/item.json", "--document", ".")["problems"]


def test_check_and_precompute_find_the_same_files(folder):
    for name in ("a.json", "B.JSON", "late/b.json", "late-c.json", ".hidden/c.json", ".d.json", "late/.e.json"):
        (folder / "both" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "both" / name).write_text('{"type": "object"}')
    wanted = ["B.JSON", "a.json", "late/b.json", "late-c.json"]
    for word, found in (("both", wanted), ("./both/**/*.json", wanted[1:]), ("both/[a-b].json", wanted[1:2])):
        start = word.partition("both")[0]
        assert names_of(folder, "schema:true", word) == [f"{start}both/{name}" for name in found]
        assert [Path(item.path) for item in found_by_precompute(folder, word)] == [Path("both", n) for n in found]


def test_a_link_to_nothing_is_a_file_that_cannot_be_read(answers):
    (answers / "answers" / "gone.json").symlink_to(answers / "nothing")
    for word in ("answers", "answers/*.json"):
        assert "answers/gone.json" in run(answers, "check", "order.json", word, code=4).stderr


@pytest.mark.parametrize(
    "command",
    [
        ("check", "order.json", "answers"),
        ("check", "order.json", "answers/late"),
        ("check", "order.json", "answers/**/*.json"),
        ("check", "order.json", "answers/**"),
        ("check", "order.json", "*/late/?.json"),
        ("check", "order.json", "answers/*/b.json"),
        ("precompute", "answers", "-t", "bytes", "-o", "store"),
        ("precompute", "answers/**/*.json", "-t", "bytes", "-o", "store"),
        ("diff", "answers/.hidden", "answers"),
    ],
)
def test_a_folder_that_cannot_be_read_is_not_passed_over(answers, monkeypatch, command):
    def scandir(path=".", scandir=os.scandir):
        if os.path.basename(os.path.normpath(path)) == "late":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", scandir)
    said = run(answers, *command, code=4).stderr
    assert said.startswith("interlock: answers/late: Permission denied")


def test_a_glob_looks_into_no_other_folders(answers, monkeypatch):
    def scandir(path=".", scandir=os.scandir):
        assert os.path.basename(os.path.normpath(path)) not in ("late", ".hidden")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert names_of(answers, "order.json", "answers/*.json") == ["answers/a.json"]


def found_by_precompute(folder, word):
    with contextlib.chdir(folder):
        return precompute.found(word)


def test_what_has_no_documents(answers):
    (answers / "empty").mkdir()
    assert "empty has no documents" in run(answers, "check", "order.json", "empty", code=4).stderr
    assert "no*.json matches no file" in run(answers, "check", "order.json", "no*.json", code=4).stderr
    assert "is no file; the output itself" in run(answers, "check", "order.json", '{"a*": [1]}', code=2).stderr


def test_the_line_of_a_text_says_what_could_have_stood_there(folder):
    grammar = 'grammar:start: "say " "y " "end"'
    alone = run(folder, "check", grammar, "--text", "say i", code=1).stdout
    assert 'allowed there: y\n  must follow: "y end"' in alone
    lines = run(folder, "check", grammar, "--text", "say i", "--text", "say y end", code=1).stdout.splitlines()
    said = 'line 1, column 5: "i" does not fit the grammar here; allowed there: y; must follow: "y end"'
    assert lines[0] == f"say i: refused: {said}"
    done = run(folder, "check", "order.json", "--text", '{"itme": "tea"}', "--text", '{"item": "tea"}', code=1)
    assert "more reason" in done.stdout
    done = run(folder, "check", 'choices:["tea","milk"]', "--text", "te", "--text", "tea", code=1)
    assert '(did you mean "tea"?)' in done.stdout


def test_behind_two_dashes_every_word_is_a_file(tmp_path):
    (tmp_path / "-s.json").write_text('{"type": "object", "required": ["a"]}')
    (tmp_path / "-d.json").write_text('{"a": 1}')
    (tmp_path / "--").write_text("{}")
    assert run(tmp_path, "check", "--", "-s.json", "-d.json").stdout.startswith("accepted")
    done = run(tmp_path, "check", "--valid", "--json", "--", "-s.json", "-d.json", "--", code=1)
    found = json.loads(done.stdout)["documents"]
    assert [(one["name"], one["accepted"]) for one in found] == [("-d.json", True), ("--", False)]
    assert run(tmp_path, "diff", "--", "-s.json", "-s.json").stdout.startswith("equal")
    assert run(tmp_path, "inspect", "--quiet", "--", "-s.json").stdout


def test_a_folder_without_documents_says_what_it_would_have(tmp_path):
    (tmp_path / "d").mkdir()
    said = run(tmp_path, "check", "schema:{}", "d", code=4).stderr
    assert said.endswith("name a folder that has files that end in .json, .jsonl, .ndjson, or the file itself\n")
    assert run(tmp_path, "check", "pattern:a", "d", code=4).stderr.endswith(
        "a folder that has files, or the file itself\n"
    )
