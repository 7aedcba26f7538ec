"""The tools of the documentation site: its link checker, and what it does with links that leave the folder."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "docs" / "site"
if not FOLDER.is_dir():
    pytest.skip("this is no checkout", allow_module_level=True)


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"site_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_broken_links_are_found(tmp_path, capsys):
    links = tool("check_links")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "index.html").write_text('<h1 id="there">B</h1>', encoding="utf-8")
    good = (
        '<a href="b/index.html#there">1</a><a href="b/">2</a><a href="https://example.org/x">3</a><a href="#own">4</a>'
    )
    (tmp_path / "a.html").write_text(f'<p id="own">{good}</p>', encoding="utf-8")
    assert links.problems(tmp_path) == ([], 3)
    assert links.main([str(tmp_path)]) == 0 and "3 links lead somewhere" in capsys.readouterr().out
    bad = '<a href="c.html">1</a><a href="b/index.html#not">2</a><script src="https://example.org/x.js"></script>'
    (tmp_path / "bad.html").write_text(bad, encoding="utf-8")
    found, _ = links.problems(tmp_path)
    assert [line.partition(": ")[2] for line in found] == [
        "c.html leads to no file",
        "b/index.html#not leads to no anchor",
        "loads https://example.org/x.js from elsewhere",
    ]
    assert links.main([str(tmp_path)]) == 1


def rewritten(markdown: str, page: str = "guide/masks.md", repo_url: str = "") -> str:
    hooks = tool("hooks")
    where = SimpleNamespace(file=SimpleNamespace(src_uri=page))
    return hooks.on_page_markdown(markdown, where, SimpleNamespace(repo_url=repo_url), None)


def test_links_that_leave_the_folder():
    assert (
        rewritten("see [cli](../cli.md#x) and [a](https://example.org)")
        == "see [cli](../cli.md#x) and [a](https://example.org)"
    )
    assert rewritten("the [log](../../CHANGELOG.md)") == "the [log](../changelog.md)"
    assert rewritten("the [engine](../../src/lib.rs)") == "the engine (`src/lib.rs`)"
    assert rewritten("[lib.rs](../../src/lib.rs)") == "lib.rs"
    assert rewritten("[x](../../src/lib.rs)", repo_url="https://h/r/") == "[x](https://h/r/blob/main/src/lib.rs)"
    fenced = "```text\n[x](../../src/lib.rs)\n```"
    assert rewritten(fenced) == fenced
    assert (
        rewritten("[cli](docs/cli.md#a), [map](ARCHITECTURE.md)", "changelog.md")
        == "[cli](cli.md#a), map (`ARCHITECTURE.md`)"
    )


def test_every_page_is_in_the_navigation():
    named = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    there = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    assert there <= named, there - named
    assert named - there == set(tool("hooks").ROOT_PAGES.values())


def test_docstrings_become_markdown():
    pytest.importorskip("griffe", reason="griffe is not installed: make docs-site")
    fenced = tool("docstrings").fenced
    assert fenced("Words.\n\n>>> 1 + 1\n2") == "Words.\n\n```pycon\n>>> 1 + 1\n2\n```"
    assert fenced("Example::\n\n    a = 1") == "Example:\n\n```python\na = 1\n```"
    assert fenced("A\n\nB") == "A\n\nB"
