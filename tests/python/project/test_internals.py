"""The examples of docs/internals run and print what the pages say, and the pages name files that exist.

Run as a program, this file writes what the examples print into the pages.
"""

import contextlib
import io
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = sorted((ROOT / "docs" / "internals").glob("*.md"))
RECIPES = sorted((ROOT / "docs" / "internals" / "recipes").glob("*.md"))
BLOCK = re.compile(r"```python\n(.*?)```(?:\s*```output\n(.*?)```)?", re.DOTALL)


def printed(code: str, names: dict[str, object], page: Path) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, f"<{page.name} example>", "exec"), names)
    return output.getvalue()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples(page: Path) -> None:
    names: dict[str, object] = {}
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    assert blocks or page.stem == "README"
    for code, expected in blocks:
        assert printed(code, names, page) == expected, code


def short_names_that_lead_nowhere(text: str, is_essay: bool = False) -> list[str]:
    """Names of files, in backticks, that are not where the text has them.

    A short name counts from the folder of the path that stands last before it in its section, or from a folder above
    that one. An essay is about one part of the code, and its short names count from any folder that the page names.
    """
    missing = []
    named = re.findall(r"`((?:src|tests|python|benches)/[\w./-]*)`", text) if is_essay else []
    everywhere = [path if path.is_dir() else path.parent for path in (ROOT / name for name in named)]
    for section in re.split(r"^#+ ", text, flags=re.MULTILINE):
        folders: list[Path] = []
        for name in re.findall(r"`([\w.]+(?:/[\w.-]+)*(?:\.(?:rs|py|pyi|toml|lark)|/))`", section):
            if "NAME." in name:
                folders.append(ROOT / Path(name).parent)
                continue
            bases = [
                base
                for folder in folders[-1:] + everywhere
                for base in (folder, *folder.parents)
                if ROOT in base.parents
            ]
            found = next((base / name for base in (ROOT, *bases, ROOT / "src") if (base / name).exists()), None)
            if found is None:
                missing.append(name)
            else:
                folders.append(found if found.is_dir() else found.parent)
    return missing


def test_short_names_are_read_in_the_folder_that_was_named_last() -> None:
    there = "`src/schema/format/` has `abnf.rs`; `python/interlock/cli/terminal/NAME.py` uses `atomic_files.py`."
    assert short_names_that_lead_nowhere(there) == []
    gone = (
        "`src/schema/format/` has `grammar.rs`; `python/interlock/cli/NAME.py` uses `files.py`, `grammar/builder.rs`."
    )
    assert short_names_that_lead_nowhere(gone) == ["grammar.rs", "files.py", "grammar/builder.rs"]


@pytest.mark.parametrize(
    "page", [*PAGES, *RECIPES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: page.stem
)
def test_files_exist(page: Path) -> None:
    """Paths in backticks that begin with a folder of the repository, and links to other pages."""
    text = page.read_text(encoding="utf-8")
    folders = "src|tests|benches|docs|examples|fuzz|python"
    named = [name for name in re.findall(rf"`((?:{folders})/[\w./-]+)`", text) if "/NAME." not in name]
    missing = [name for name in named if not (ROOT / name).exists() and not (ROOT / "src" / name).exists()]
    missing += short_names_that_lead_nowhere(text, is_essay=page in PAGES)
    links = [link for link in re.findall(r"\]\(([^)#:]+)\)", text) if not (page.parent / link).exists()]
    assert not missing and not links, (missing, links)


def test_architecture_is_one_page() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split()) <= 1_800


def test_contributing_is_read_in_five_minutes():
    assert len((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()) <= 200


def test_contributing_and_the_site_have_every_recipe() -> None:
    linked = re.findall(r"\]\(docs/internals/recipes/([\w-]+)\.md", (ROOT / "CONTRIBUTING.md").read_text("utf-8"))
    in_site = re.findall(r": internals/recipes/([\w-]+)\.md$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.M)
    assert set(linked) == set(in_site) == {page.stem for page in RECIPES} and len(RECIPES) >= 10


@pytest.mark.parametrize(
    "page", [page for page in RECIPES if page.stem != "builds-and-tests"], ids=lambda page: page.stem
)
def test_recipes_begin_with_the_files(page: Path) -> None:
    title, _, rest = page.read_text(encoding="utf-8").partition("\n")
    assert title.startswith("# How to add ")
    before, _, steps = rest.partition("\n1. ")
    assert len(before.split()) < 70, "what is more than an example stands behind the steps"
    assert re.search(r"`[\w/-]+(?:\.\w+|/)`", steps.partition("\n2. ")[0]), "the first step names no file"


def test_functions_of_a_mask_miss_are_in_their_files() -> None:
    page = (ROOT / "docs/internals/mask-miss.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \d+ \| `([\w/.]+)` \| ([^|]+) \|", page, re.M)
    assert len(rows) == 12
    for file, functions in rows:
        source = (ROOT / file).read_text(encoding="utf-8")
        for name in re.findall(r"`(\w+)`", functions):
            assert re.search(rf"\bfn {name}\b", source), f"{file} has no function {name}"


def test_there_is_one_table_of_where_to_look() -> None:
    """What it leaves out is in the pages of docs/internals, and a second table would say some of it again."""
    pages = [*PAGES, *RECIPES, *ROOT.glob("*.md")]
    with_table = [page.name for page in pages if re.search(r"^\| question \| file \|", page.read_text("utf-8"), re.M)]
    assert with_table == ["ARCHITECTURE.md"]
    for name in ("CONTRIBUTING.md", "docs/internals/README.md"):
        assert "ARCHITECTURE.md#where-do-i-look-for-)" in (ROOT / name).read_text("utf-8"), name


def test_questions_of_the_map_lead_to_files() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text[text.index("## Where do I look for") : text.index("## Tests")]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 25
    for _, question, files, _ in rows:
        names = re.findall(r"`([\w/-]+(?:\.\w+|/))`", files)
        assert names, question
        folder = Path()
        for name in names:
            found = [base / name for base in (ROOT / "src", ROOT, folder) if (base / name).exists()]
            assert found, (question, name)
            folder = found[0].parent


def main() -> None:
    for page in PAGES:
        names: dict[str, object] = {}

        def block(match: re.Match[str], page: Path = page, names: dict[str, object] = names) -> str:
            output = printed(match[1], names, page)
            return f"```python\n{match[1]}```" + (f"\n\n```output\n{output}```" if output else "")

        text = page.read_text(encoding="utf-8")
        page.write_text(BLOCK.sub(block, text), encoding="utf-8")


def test_the_tree_has_every_module_and_folder_of_the_package() -> None:
    """Those at the top of python/interlock: a reader of the map finds each of them in the table."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    tree = text[text.index("## Tree") : text.index("## Glossary")]
    package = ROOT / "python" / "interlock"
    modules = {file.name for file in package.glob("*.py") if not file.name.startswith("__")}
    folders = {f"{file.parent.name}/" for file in package.glob("*/__init__.py")}
    missing = [name for name in sorted(modules | folders) if name not in tree]
    assert not missing, f"the table below Tree in ARCHITECTURE.md says nothing of python/interlock: {missing}"


if __name__ == "__main__":
    sys.exit(main())
