"""What the pages name is there: the files and headings of their links, and what a reader is told to install."""

import re
import tomllib
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[3]
if not (ROOT / "docs").is_dir():
    pytest.skip("the pages are not here", allow_module_level=True)
PAGES = sorted(
    [*ROOT.glob("*.md"), *(path for name in ("docs", "examples", "tests") for path in (ROOT / name).rglob("*.md"))]
)
FOR_USERS = [path for path in PAGES if path.parent == ROOT or path.is_relative_to(ROOT / "docs")]
UNPUBLISHED = "on no package index yet"
INSTALL = re.compile(r"pip install ([^`#\n]*)")
FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)


def links(text):
    """The targets of the links of a page, without those in code."""
    prose = re.sub(r"`[^`\n]*`", "code", FENCED.sub("", text))
    return [target for target in re.findall(r"\]\(\s*<?([^)\s>]+)>?\)", prose) if not re.match(r"[a-z]+:", target)]


def anchors(text):
    """The names that the headings of a page have as targets, as GitHub makes them."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", FENCED.sub("", text), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
        name = base = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        again = 0
        while name in found:
            again += 1
            name = f"{base}-{again}"
        found.add(name)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    dead = []
    for target in links(page.read_text(encoding="utf-8")):
        path, _, anchor = unquote(target).partition("#")
        other = page.parent / path if path else page
        if not other.exists():
            dead.append(f"{target}: there is no such file")
        elif anchor and other.suffix == ".md" and anchor not in anchors(other.read_text(encoding="utf-8")):
            dead.append(f"{target}: there is no such heading")
    assert not dead, f"{page.relative_to(ROOT)} has dead links:\n" + "\n".join(dead)


def test_what_is_a_link():
    text = "[a](b.md#c) `[x](y)`\n```\n[d](e)\n```\n[f](https://g) [h](#i)\n"
    assert links(text) == ["b.md#c", "#i"]
    assert anchors("# A `b` c!\n## A b c\n```\n# no\n```\n") == {"a-b-c", "a-b-c-1"}


def installs(page):
    """What each ``pip install`` of a page installs."""
    text = page.read_text(encoding="utf-8").replace("`pip install interlock` finds nothing", "")
    return [word.strip("\"'").rstrip(",") for line in INSTALL.findall(text) for word in line.split()]


def test_no_page_takes_the_package_from_an_index_that_does_not_have_it():
    if UNPUBLISHED not in (ROOT / "README.md").read_text(encoding="utf-8"):
        pytest.skip("the package is published")
    wrong = [
        f"{page.relative_to(ROOT)}: pip install {word}"
        for page in FOR_USERS
        for word in installs(page)
        if re.fullmatch(r"interlock(\[.*\])?", word)
    ]
    assert not wrong, "README says that interlock is on no package index, and these pages take it from one"


def test_extras_on_the_pages_are_those_of_the_package():
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {}
    for page in FOR_USERS:
        for word in installs(page):
            for extra in re.findall(r"(?:^\.|\.whl|^interlock)\[([\w-]+)\]", word):
                named[extra] = page.name
    assert len(named) >= 5 and named.keys() <= known.keys()
