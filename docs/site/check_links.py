"""Check the links of a built site: every file, and every anchor, that a page names is there.

python docs/site/check_links.py target/site
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, what it loads, and the anchors that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember what one tag names."""
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)
            elif name == "href" and tag in ("a", "area"):
                self.links.append(value)
            elif name in ("href", "src"):
                self.loads.append(value)


def problems(site: Path) -> tuple[list[str], int]:
    """What is wrong with the links of all pages below ``site``, and how many links there are."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found, count = [], 0
    for path, page in pages.items():
        where = path.relative_to(site.resolve()).as_posix()
        for link in page.links + page.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    found.append(f"{where}: loads {link} from elsewhere")
                continue
            count += 1
            if where == "404.html":
                # Served under any path, it names everything from the root.
                continue
            target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                found.append(f"{where}: {link} leads to no file")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{where}: {link} leads to no anchor")
    return found, count


def main(argv: list[str]) -> int:
    """Print what is wrong, or how many links were checked."""
    found, count = problems(Path(argv[0]))
    print("\n".join(found) or f"{count} links lead somewhere")
    return 1 if found or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
