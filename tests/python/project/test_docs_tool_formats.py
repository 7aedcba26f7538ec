"""docs/tools.md and docs/formats.md: their examples run, and the page of formats shows every format.

``python tests/python/project/test_docs_tool_formats.py`` writes the examples of the formats again.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import pkgutil
import re
from pathlib import Path

import interlock.tools
import pytest
from interlock.tools import Call, format_names, render, tool_format
from interlock.tools.notations.argument_writing import write_arguments
from interlock.tools.notations.parser_names import PARSER_NAMES
from interlock.tools.spec import STYLES

DOCS = Path(__file__).parents[3] / "docs"
CALLS = [Call("get_weather", {"city": "Rome", "days": 3}), Call("now")]


def formats_section():
    parts = []
    for name in format_names():
        form = tool_format(name)
        written = render(name, CALLS, "I will look.", "Rome." if form.reasoning else None)
        others = ", ".join(f"`{other}`" for other, meant in PARSER_NAMES.items() if meant == name)
        also = f" Also named {others}." if others else ""
        parts.append(f"### `{name}`\n\n{form.title}: {', '.join(form.families)}.{also} Source: {form.source}.\n")
        if form.layout.kind == "blocks" and form.reasoning and form.reasoning.opened_by_prompt:
            begin = f"`{form.layout.text_begin}`"
            parts.append(f"Without reasoning, the prompt ends with {begin}, and an output begins behind it.\n")
        parts.append(f"~~~text\n{written}\n~~~\n")
    return "\n".join(parts)


def styles_table():
    rows = []
    for name, style in STYLES.items():
        written = write_arguments(style, {"a": "x", "b": [1]}).replace("|", "\\|")
        rows.append(f"| `{name}` | `{written}` |")
    return "\n".join(rows) + "\n"


def with_examples(page):
    head, _, rest = page.partition("## The formats\n")
    _, _, tail = rest.partition("## A format's file\n")
    tail, _, _ = tail.partition("| style | encoding |\n|---|---|\n")
    return (
        f"{head}## The formats\n\n{formats_section()}\n## A format's file\n{tail}"
        f"| style | encoding |\n|---|---|\n{styles_table()}"
    )


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md"])
def test_pages_count_the_formats(name):
    page = DOCS.parent / name
    if not page.is_file():
        pytest.skip(f"{name} is not here")
    counted = f"has {len(format_names())} formats of tool calls"
    assert counted in page.read_text("utf-8"), f"{name} says how many formats there are: write {counted!r} there"


@pytest.mark.parametrize("page", ["tools.md", "formats.md"])
def test_examples(page):
    if not DOCS.is_dir():
        pytest.skip("the pages are not here")
    text = re.sub(r"^~~~text\n.*?^~~~\n", "", (DOCS / page).read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    names: dict[str, object] = {}
    found = re.findall(r"```python\n(.*?)```(?:\s*```output\n(.*?)```)?", text, re.DOTALL)
    assert len(found) >= 2
    for code, expected in found:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, f"<example of {page}>", "exec", dont_inherit=True), names)
        assert printed.getvalue() == expected


def test_every_format_is_shown():
    if not DOCS.is_dir():
        pytest.skip("the pages are not here")
    page = (DOCS / "formats.md").read_text("utf-8")
    # No comparison of the texts, which are too long to be shown.
    assert (page == with_examples(page)) is True, (
        "docs/formats.md shows the formats as they were: write it again with python "
        "tests/python/project/test_docs_tool_formats.py"
    )


def test_every_field_of_a_file_is_explained():
    import dataclasses

    from interlock.tools.notations.tool_format import Arguments, CallId, Layout, Notation, Reasoning, ToolFormat

    page = (DOCS / "formats.md").read_text("utf-8")
    for table in (Arguments, CallId, Layout, Notation, Reasoning, ToolFormat):
        for field in dataclasses.fields(table):
            name = {"notations": "[[notation]]", "layout": "[layout]", "reasoning": "[reasoning]"}.get(field.name)
            name = name or {"arguments": "[arguments]", "id": "[id]"}.get(field.name, field.name)
            assert f"`{name}" in page, f"docs/formats.md has no row for `{name}` ({table.__name__}.{field.name})"


def test_the_recipe_names_the_files_that_know_the_encodings():
    page = DOCS / "internals" / "recipes" / "tool-format.md"
    if not page.is_file():
        pytest.skip("the pages are not here")
    folder = Path(interlock.tools.__path__[0])
    complete = {
        file.relative_to(folder).as_posix()
        for file in folder.rglob("*.py")
        if re.search(r"assert_never\(.*encoding", file.read_text("utf-8"))
    }
    assert len(complete) >= 5
    assert set(re.findall(r"`([\w/]+\.py)` \*\*\(m\)\*\*", page.read_text("utf-8"))) == complete


def test_docstrings():
    for module in pkgutil.walk_packages(interlock.tools.__path__, "interlock.tools."):
        assert doctest.testmod(importlib.import_module(module.name)).failed == 0, module.name


if __name__ == "__main__":
    path = DOCS / "formats.md"
    path.write_text(with_examples(path.read_text("utf-8")), "utf-8")
