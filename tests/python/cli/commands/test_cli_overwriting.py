"""No command writes over what it reads."""

import json
import os

import pytest
from command_line import here

SCHEMA = json.dumps({"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False})


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["compile", "user.json", "-t", "bytes", "-o", "user.json"], "--out"),
        (["compile", "schema:@user.json", "-t", "bytes", "-o", "./user.json"], "--out"),
        (["compile", "user.json", "-t", "bytes", "-o", "link.json"], "--out"),
        (["draw", "user.json", "-o", "user.json", "--format", "svg"], "--out"),
        (["precompute", "user.json", "-t", "bytes", "-o", "store", "--report", "user.json"], "--report"),
        (["precompute", "folder", "-t", "bytes", "-o", "store", "--report", "folder/event.json"], "--report"),
    ],
)
def test_an_input_is_never_replaced(tmp_path, arguments, option):
    (tmp_path / "folder").mkdir()
    for path in ("user.json", "folder/event.json"):
        (tmp_path / path).write_text(SCHEMA)
    os.symlink("user.json", tmp_path / "link.json")
    done = here(tmp_path, *arguments)
    assert done.returncode == 2 and f"{option} {arguments[-1] if option == '--report' else ''}".strip() in done.stderr
    assert "is a file that this command reads" in done.stderr
    assert (tmp_path / "user.json").read_text() == (tmp_path / "folder" / "event.json").read_text() == SCHEMA
    assert not (tmp_path / "store").exists()


def test_other_files_are_replaced(tmp_path):
    (tmp_path / "user.json").write_text(SCHEMA)
    (tmp_path / "old.svg").write_text("old")
    for _ in range(2):
        assert here(tmp_path, "draw", "user.json", "-o", "old.svg", "--format", "svg").returncode == 0
    assert (tmp_path / "old.svg").read_text().startswith("<svg")


def test_a_file_of_another_kind_is_replaced_by_force_alone(tmp_path):
    (tmp_path / "user.json").write_text(SCHEMA)
    (tmp_path / "date.regex").write_text("[0-9]+\n")
    commands = (
        ["compile", "user.json", "-t", "bytes"],
        ["draw", "user.json", "--format", "svg"],
        ["vocab", "bytes"],
    )
    for command in commands:
        done = here(tmp_path, *command, "-o", "date.regex")
        assert done.returncode == 2 and "--force" in done.stderr and "writes no files of such a name" in done.stderr
        assert (tmp_path / "date.regex").read_text() == "[0-9]+\n"
    compiling = [*commands[0], "-o", "date.regex"]
    assert here(tmp_path, *compiling, "--force").returncode == 0
    # Now it is an artifact, whatever its name is.
    assert here(tmp_path, *compiling).returncode == 0
