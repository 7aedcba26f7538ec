"""docs/grammars.md runs: its examples print what it says, and each row of its table accepts and refuses as it says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

import interlock

PAGE = Path(__file__).parents[2] / "docs" / "grammars.md"
BLOCK = re.compile(r"```python\n(.*?)```\s*```output\n(.*?)```", re.DOTALL)


def page() -> str:
    if not PAGE.is_file():
        pytest.skip("the page is not here")
    return PAGE.read_text(encoding="utf-8")


def is_read(syntax: str, vocabulary: interlock.Vocabulary) -> bool:
    """Whether the core reads a notation at all."""
    try:
        interlock.Index.from_grammar('root ::= "a"\n', vocabulary, syntax=syntax)
    except interlock.UnsupportedError:
        return False
    return True


def test_examples(byte_vocabulary):
    names: dict[str, object] = {}
    left_out = []
    blocks = BLOCK.findall(page())
    assert len(blocks) >= 10
    for code, expected in blocks:
        needs = re.search(r"# runs where the core reads (\w+)", code)
        if needs and not is_read(needs[1].lower(), byte_vocabulary):
            left_out.append(needs[1])
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "<example of grammars.md>", "exec", dont_inherit=True), names)
        assert printed.getvalue() == expected, code
    if left_out:
        pytest.skip(f"all but the examples in {' and '.join(left_out)} ran: the core does not read them yet")


def rows() -> list[tuple[str, str, str]]:
    if not PAGE.is_file():
        return []
    table = PAGE.read_text(encoding="utf-8").partition("| construct | grammar |")[2].partition("\n\n")[0]
    found = []
    for line in table.splitlines()[2:]:
        # A bar inside of code is escaped.
        cells = [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        grammar = "\n".join(part.strip().strip("`") for part in cells[1].split("⏎"))
        found.append((grammar, *(cell[1:-1] for cell in cells[2:])))
    return found


@pytest.mark.parametrize(("grammar", "accepted", "refused"), rows())
def test_each_construct(grammar, accepted, refused, byte_vocabulary):
    index = interlock.Index.from_grammar(grammar + "\n", byte_vocabulary)

    def accepts(text):
        guide = index.guide()
        data = list(text.encode())
        return guide.advance_many(data) == len(data) and guide.is_accepting

    assert accepts(accepted) and not accepts(refused)


def test_the_table_is_whole():
    page()
    assert len(rows()) >= 28
