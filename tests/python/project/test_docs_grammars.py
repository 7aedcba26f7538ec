"""docs/grammars.md runs: its examples print what it says, and each row of its table accepts and refuses as it says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

import interlock

PAGE = Path(__file__).parents[3] / "docs" / "grammars.md"
BLOCK = re.compile(r"```python\n(.*?)```\s*```output\n(.*?)```", re.DOTALL)


def page() -> str:
    if not PAGE.is_file():
        pytest.skip("the page is not here")
    return PAGE.read_text(encoding="utf-8")


def test_examples():
    names: dict[str, object] = {}
    blocks = BLOCK.findall(page())
    assert len(blocks) >= 11
    for code, expected in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "<example of grammars.md>", "exec", dont_inherit=True), names)
        assert printed.getvalue() == expected, code


def rows() -> list[tuple[str, str, str, str]]:
    """Notation, grammar, accepted and refused text of each row of the page's tables."""
    if not PAGE.is_file():
        return []
    found = []
    for syntax, table in zip(("lark", "gbnf", "ebnf"), PAGE.read_text(encoding="utf-8").split("| construct |")[1:]):
        for line in table.partition("\n\n")[0].splitlines()[2:]:
            # A bar inside of code is escaped.
            cells = [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            grammar = "\n".join(part.strip().strip("`") for part in cells[1].split("⏎"))
            found.append((syntax, grammar, *(cell[1:-1] for cell in cells[2:])))
    return found


@pytest.mark.parametrize(("syntax", "grammar", "accepted", "refused"), rows())
def test_each_construct(syntax, grammar, accepted, refused, byte_vocabulary):
    index = interlock.Index.from_grammar(grammar + "\n", byte_vocabulary, syntax=syntax)

    def accepts(text):
        guide = index.guide()
        data = list(text.encode())
        return guide.advance_many(data) == len(data) and guide.is_accepting

    assert accepts(accepted) and not accepts(refused)


def test_the_tables_are_whole():
    page()
    assert len(rows()) >= 37 and {syntax for syntax, *_ in rows()} == {"lark", "gbnf", "ebnf"}


def test_the_library_of_grammars():
    """The examples of docs/grammars-library.md run, in order, and their comments say what lines are."""
    library = PAGE.parent / "grammars-library.md"
    if not library.is_file():
        pytest.skip("the page is not here")
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", library.read_text(encoding="utf-8"), re.DOTALL)
    assert any("accepts(" in code for code in blocks)
    for code in blocks:
        exec(compile(code, "<example of grammars-library.md>", "exec", dont_inherit=True), names)
        for line, said in re.findall(r"^(\S.*?)  # (\[.*|'.*|True|False)$", code, re.MULTILINE):
            assert repr(eval(line, names)) == said, line
