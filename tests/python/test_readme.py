"""The examples of the README and of docs/guide run, in order, and print what the pages say; the docstrings too."""

import contextlib
import doctest
import io
import re
from pathlib import Path

import interlock
import interlock.masks
import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs" / "guide").glob("*.md"))]
#: Pages whose only examples need a model's tokenizer.
WITHOUT_CODE = {"vocabularies.md"}


def blocks(page):
    """Pairs of code and expected output."""
    pattern = r"```python\n(.*?)```(?:\s*```output\n(.*?)```)?"
    return re.findall(pattern, page.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_print_what_the_page_says(page):
    examples = blocks(page)
    assert examples or page.name in WITHOUT_CODE
    names = {}
    for code, expected in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "<README example>", "exec"), names)
        assert printed.getvalue() == expected, code


def test_the_readme_is_short():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 200


@pytest.mark.parametrize("page", [*PAGES, *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists(), target


def test_docstrings():
    for module in (interlock, interlock.masks):
        assert doctest.testmod(module).failed == 0
