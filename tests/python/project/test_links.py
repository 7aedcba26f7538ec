"""Links between the pages of the repository lead somewhere: to a file that is there, and to a heading in it."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[3]
if not (ROOT / "docs").is_dir():
    pytest.skip("the pages are not here", allow_module_level=True)
PAGES = sorted(
    [*ROOT.glob("*.md"), *(path for name in ("docs", "examples", "tests") for path in (ROOT / name).rglob("*.md"))]
)
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
