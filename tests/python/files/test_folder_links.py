"""Links in folders and below globs: those to files are followed, those to folders are not, and none goes in circles."""

import os

import pytest

from interlock.cli.commands.precompute import ignored
from interlock.cli.terminal.named_files import in_folder, matching


@pytest.fixture
def tree(tmp_path, monkeypatch):
    for name in ("in/sub/.hidden", "out/deep"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("in/a.json", "in/sub/b.json", "in/sub/.hidden/c.json", "out/d.json", "out/deep/e.json"):
        (tmp_path / name).write_text("{}")
    try:
        (tmp_path / "in" / "file.json").symlink_to("../out/d.json")
        (tmp_path / "in" / "around").symlink_to("..")
        (tmp_path / "in" / "sub" / "out").symlink_to("../../out")
    except OSError:
        pytest.skip("no links can be made here")
    monkeypatch.chdir(tmp_path)
    return tmp_path


OWN = ["in/a.json", "in/file.json", "in/sub/b.json"]


def names(paths):
    return [os.fspath(path).replace(os.sep, "/") for path in paths]


def test_a_folder_and_a_glob_have_the_same_files(tree):
    assert names(in_folder("in", (".json",))) == OWN
    assert names(matching("in/**/*.json")) == OWN
    assert names(matching("in/**")) == OWN
    assert names(matching("**/*.json")) == [*OWN, "out/d.json", "out/deep/e.json"]
    assert names(matching("**/**/*.json")) == names(matching("**/*.json"))


def test_what_begins_a_name_stays_as_it_is_written(tree):
    assert names(matching("./in/**/*.json")) == [f"./{name}" for name in OWN]
    assert names(matching(f"{tree}/in/**/[ab].json")) == [
        f"{tree.as_posix()}/in/a.json",
        f"{tree.as_posix()}/in/sub/b.json",
    ]


def test_a_link_that_a_glob_names_is_followed(tree):
    assert names(matching("in/sub/out/**/*.json")) == ["in/sub/out/d.json", "in/sub/out/deep/e.json"]
    assert names(matching("in/sub/*/*.json")) == ["in/sub/out/d.json"]
    assert names(matching("in/**/out/*.json")) == ["in/sub/out/d.json"]


def test_marks_in_the_names_of_folders_are_no_marks_of_a_glob(tree):
    (tree / "in" / "[x]").mkdir()
    (tree / "in" / "[x]" / "f.json").write_text("{}")
    assert "in/[x]/f.json" in names(matching("in/**/*.json"))


def test_precompute_names_the_links_that_it_does_not_follow(tree):
    assert [file.name for file in ignored("in") if "a link to a folder" in file.reason] == ["around", "sub/out"]
