"""What the site does that MkDocs does not: pages of the repository's root, and links that leave the folder docs."""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path
from typing import Any

#: Documents of the repository's root that the site shows as pages of its own.
ROOT_PAGES = {"CHANGELOG.md": "changelog.md"}

_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^(```.*?^```)", re.MULTILINE | re.DOTALL)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that stand in the repository's root."""
    from mkdocs.structure.files import File

    root = Path(config.config_file_path).parent
    for name, page in ROOT_PAGES.items():
        files.append(File.generated(config, page, content=(root / name).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Turn links to files outside docs into their text, or into links to the repository where its URL is known."""

    def rewritten(match: re.Match[str]) -> str:
        text, target = match[1], match[2]
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        path, _, anchor = target.partition("#")
        # A page from the root stands in the site's root, where docs is one folder further down.
        folder = "" if page.file.src_uri in ROOT_PAGES.values() else "docs/" + posixpath.dirname(page.file.src_uri)
        inside = posixpath.normpath(posixpath.join(folder, path))
        if page.file.src_uri in ROOT_PAGES.values() and inside.startswith("docs/"):
            return f"[{text}]({inside.removeprefix('docs/')}{'#' + anchor if anchor else ''})"
        if inside.startswith("docs/"):
            return match[0]
        if inside in ROOT_PAGES:
            up = os.path.relpath(ROOT_PAGES[inside], posixpath.dirname(page.file.src_uri) or ".")
            return f"[{text}]({up})"
        if config.repo_url:
            return f"[{text}]({config.repo_url.rstrip('/')}/blob/main/{inside})"
        return text if inside.rpartition("/")[2] in text else f"{text} (`{inside}`)"

    parts = _FENCE.split(markdown)
    return "".join(part if part.startswith("```") else _LINK.sub(rewritten, part) for part in parts)
