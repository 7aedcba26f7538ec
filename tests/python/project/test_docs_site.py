"""The pages of the site run, and print what they say; their tables name what exists.

Run as a program, this file writes what the examples print into the pages that are named.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("tokenizers", reason="tokenizers is not installed")
pytest.importorskip("pydantic", reason="pydantic is not installed")

from scripted_generator import ScriptedGenerator

import interlock
import interlock.generators
from interlock.cli.commands.completion import commands
from interlock.integrations import server_counts

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
PAGES = [
    *(DOCS / f"{name}.md" for name in ("index", "quick-start", "how-to", "options", "limits", "errors", "faq")),
    *sorted((DOCS / "tutorials").glob("*.md")),
    DOCS / "servers" / "own.md",
    DOCS / "servers" / "one-file.md",
    DOCS / "servers" / "production.md",
    DOCS / "servers" / "rollouts.md",
    *sorted((DOCS / "coming-from").glob("*.md")),
]
BLOCK = re.compile(r"```python\n(.*?)```(?:\s*```output\n(.*?)```)?", re.DOTALL)
#: Pages of text and tables alone.
WITHOUT_CODE = {"options", "faq"}

#: What the model of the pages writes after which text.
ANSWERS = {
    "Make up a user.": '{"name": "Ada", "age": 36}',
    "Name three primes.": "[2, 3, 5]",
    "Is water wet?": "yes",
    "Sort: I was charged twice.": "billing",
    "changed my life!'": "Positive",
    "water in Celsius?": "100",
    "but it runs hot.": (
        '{"rating": 3, "pros": ["great battery life"], "cons": ["runs hot"], "summary": "Good, with thermal issues."}'
    ),
    "John is 25 years old": '{"name": "John", "age": 25}',
    "What is your name?": "I am a model with five answers.",
    "How old are you?": "13",
    "D) Oslo\n": "C",
    "taken from the arm": '{"systolic": 301, "diastolic": 15, "location": "arm"}',
    "Greet LMQL:": " Hi there, LMQL! Welcome.",
    "victorian-era English: ": "Good morrow to thee.",
    "victorian:\n-": " It says morrow.",
    ".\n-": " It says thee.",
    "To summarize:": " a greeting of long ago",
}


def page_id(page: Path) -> str:
    return page.relative_to(DOCS).with_suffix("").as_posix()


def run(page: Path, patch) -> list[tuple[str, str, str]]:
    """The code of each example, what the page says that it prints, and what it prints."""
    generator = ScriptedGenerator(dict(ANSWERS))
    patch(interlock, "generate", lambda model, tokenizer, *given, **options: generator(*given, **options))
    patch(interlock, "from_transformers", lambda model, tokenizer: generator)
    patch(server_counts, "_counts", None)  # Pages show numbers of their own.
    names = {"model": None, "tokenizer": None, "answers": generator.script, "__name__": "example"}
    done = []
    for code, expected in BLOCK.findall(page.read_text(encoding="utf-8")):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, f"<example of {page.name}>", "exec", dont_inherit=True), names)
        done.append((code, expected, printed.getvalue()))
    return done


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_examples(page, monkeypatch):
    if not DOCS.is_dir():
        pytest.skip("the pages are not here")
    done = run(page, monkeypatch.setattr)
    assert done or page_id(page) in WITHOUT_CODE
    for code, expected, printed in done:
        assert printed == expected, code


def test_every_option_is_on_the_page():
    page = (DOCS / "options.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(-*\w[\w-]*)`", page))
    callables = [
        *(interlock.Vocabulary, interlock.Vocabulary.from_tokenizer, interlock.Vocabulary.from_file),
        *(getattr(interlock.Index, name) for name in dir(interlock.Index) if name.startswith("from_")),
        *(
            getattr(interlock.Index, name)
            for name in "guide build warm_up save load automaton random_member sample draw".split()
        ),
        *(interlock.Guide.fill_bitmask, interlock.Guide.fill_draft_bitmasks, interlock.fill_bitmasks),
        *(interlock.apply_bitmask, interlock.allocate_bitmask, interlock.advance_each),
        *(interlock.generate, interlock.from_transformers, interlock.from_llama_cpp, interlock.from_mlx_lm),
        *(interlock.from_vllm, interlock.from_openai, interlock.generators.Generator.__call__),
        *(interlock.Program, interlock.Program.gen, interlock.Program.select, interlock.Program.call),
        *(interlock.Store, interlock.Store.get_or_compile),
    ]
    for function in callables:
        for parameter, found in inspect.signature(function).parameters.items():
            if found.kind is found.VAR_POSITIONAL:  # What is refused, whatever it is.
                continue
            said = f"docs/options.md has no row for `{parameter}` of {function.__qualname__}"
            assert parameter in named or parameter in ("self", "cls"), said


def test_the_commands_of_every_option_are_on_the_page():
    """In docs/options.md, a row of an option names the commands that have it, as the parser says."""
    have: dict[str, set[str]] = {}
    for command, (_, options) in commands().items():
        for option in options:
            if option.names:
                have.setdefault(option.names[-1], set()).add(command)
    # Which commands a table is for, unless it has a column for them.
    of_tables = {"Every command": set(commands()), "Commands that take a source": have["--schema-key"]}
    page = (DOCS / "options.md").read_text(encoding="utf-8").partition("\n## The command line\n")[2]
    rows: dict[str, set[str]] = {}
    for title, header, body in re.findall(r"^(.+):\n\n\| (.*) \|\n\|[-|]+\n((?:\|.*\n)+)", page, re.MULTILINE):
        has_column = header.split(" | ")[1] == "of"
        for line in body.splitlines():
            cells = line.strip("| ").split(" | ")
            said = set(re.findall(r"`([\w-]+)`", cells[1])) if has_column else of_tables[title]
            rows |= {name: said for name in re.findall(r"`(--[\w-]+)`", cells[0])}
    for name in sorted(have.keys() | rows.keys()):
        assert name in rows, f"docs/options.md has no row for `{name}` of {', '.join(sorted(have[name]))}"
        said, found = sorted(rows[name]), sorted(have.get(name, ()))
        assert said == found, f"docs/options.md: the row of `{name}` is for {said}, and the parser has it in {found}"


def test_every_limit_is_on_the_page():
    page = (DOCS / "limits.md").read_text(encoding="utf-8")
    page = page.partition("### Of strangers")[0]  # Those of a server follow.
    rows = dict(re.findall(r"^\| `(max_\w+)` \| ([\d,]+) \|", page, re.MULTILINE))
    limits = interlock.Limits()
    fields = {name for name in dir(limits) if name.startswith("max_")}
    assert {name: int(value.replace(",", "")) for name, value in rows.items()} == {
        name: getattr(limits, name) for name in fields
    }


def test_every_error_is_on_the_page():
    page = (DOCS / "errors.md").read_text(encoding="utf-8").partition("## Attributes")
    rows = set(re.findall(r"^\| `(\w+)` \|", page[0], re.MULTILINE))
    errors = {name for name in interlock.__all__ if name.endswith(("Error", "Rejected"))}
    differ = sorted(rows ^ errors - {"InterlockError"})
    assert not differ, f"docs/errors.md has one row for each error of interlock.__all__; not so: {differ}"
    for name in vars(interlock.InterlockError):
        assert name.startswith("_") or f"`{name}`" in page[2], name
    reference = (DOCS / "api" / "errors.md").read_text(encoding="utf-8")
    differ = sorted(set(re.findall(r"::: interlock\.(\w+)", reference)) ^ errors)
    assert not differ, f"docs/api/errors.md has `::: interlock.NAME` for each error; not so: {differ}"


def test_everything_public_has_a_place_in_the_reference():
    text = "".join(page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md"))
    documented = set(re.findall(r"^::: interlock\.(\w+)$", text, re.MULTILINE))
    assert set(interlock.__all__) - {"__version__"} <= documented


#: What the words before a dot stand for in tables.
OWNERS = {
    "interlock": interlock,
    "index": interlock.Index,
    "guide": interlock.Guide,
    "vocabulary": interlock.Vocabulary,
    "gen": interlock.generators.LocalGenerator,
    "program": interlock.Program,
    "limits": interlock.Limits,
    "store": interlock.Store,
}


@pytest.mark.parametrize("page", sorted((DOCS / "coming-from").glob("*.md")), ids=page_id)
def test_names_of_ours_exist(page):
    text = page.read_text(encoding="utf-8")
    checked = 0
    for line in re.findall(r"^\| `.*", text, re.MULTILINE):
        for owner, name in re.findall(r"\b([A-Za-z]\w*)\.([a-z]\w*)", line.split(" | ")[-1]):
            if owner.lower() in OWNERS:
                assert hasattr(OWNERS[owner.lower()], name) or find_spec(f"{owner}.{name}"), (owner, name)
                checked += 1
    assert checked >= 5 or page.stem == "front-pages"


def rows_of_tables(text: str) -> list[tuple[str, list[str]]]:
    """The header of each table of a page, with its other rows."""
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"^( *\|.*\n)( *\|[ :|-]+\n)((?: *\|.*(?:\n|\Z))*)", prose, re.MULTILINE)
    return [(header.strip(), [ruler.strip(), *map(str.strip, rows.splitlines())]) for header, ruler, rows in found]


def cells(row: str) -> int:
    """How many cells a row has. A ``|`` parts them in code, too, unless a backslash stands before it."""
    return len(re.findall(r"(?<!\\)\|", row)) - 1


def test_a_bar_in_code_parts_cells():
    page = "text\n| a | b |\n|---|---|\n| `x | y` | 1 |\n| `x \\| y` | 1 |\n"
    ((header, rows),) = rows_of_tables(page)
    assert (cells(header), *map(cells, rows)) == (2, 2, 3, 2)


@pytest.mark.parametrize("page", sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")]), ids=lambda page: page.stem)
def test_each_row_of_a_table_has_the_cells_of_its_header(page):
    tables = rows_of_tables(page.read_text(encoding="utf-8"))
    wrong = [row for header, rows in tables for row in rows if cells(row) != cells(header)]
    assert not wrong, "a | inside of a cell is written \\|"
    assert tables or page.stem != "options"


def lines_of(code: str) -> int:
    """Lines that are neither blank nor a comment."""
    return sum(1 for line in code.splitlines() if line.strip() and not line.strip().startswith("#"))


def test_lines_of_the_front_pages():
    """The table's numbers of our lines are those of the examples."""
    text = (DOCS / "coming-from" / "front-pages.md").read_text(encoding="utf-8")
    table = {name: int(ours) for name, ours in re.findall(r"^\| \[([^\]]+)\]\(#[^)]*\) \| \d+ \| (\d+) \|", text, re.M)}
    counted = {}
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title = section.partition("\n")[0]
        blocks = BLOCK.findall(section)
        if blocks and title in table:
            counted[title] = sum(lines_of(code) for code, _ in blocks)
    assert counted == table and len(table) >= 7


def main(names: list[str]) -> None:
    """Write what the examples print into the pages."""
    for page in [DOCS / name for name in names]:
        results = iter(run(page, setattr))

        def block(match: re.Match[str], results=results) -> str:
            code, _, printed = next(results)
            return f"```python\n{code}```" + (f"\n\n```output\n{printed}```" if printed else "")

        page.write_text(BLOCK.sub(block, page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
