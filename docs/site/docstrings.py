"""Docstrings as Markdown: examples of doctest and literal blocks become fenced code."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import griffe


class PlainDocstrings(griffe.Extension):
    """A Griffe extension that rewrites each docstring before it is rendered."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the docstring of one module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """``text`` with fences around its examples.

    >>> print(fenced("Words.\\n\\n>>> 1 + 1\\n2"))
    Words.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    """
    paragraphs: list[str] = []
    literal = False
    for paragraph in re.split(r"\n{2,}", text):
        if paragraph.startswith(">>> "):
            paragraphs.append(f"```pycon\n{paragraph}\n```")
        elif literal and paragraph.startswith("    "):
            paragraphs.append(f"```python\n{textwrap.dedent(paragraph)}\n```")
            continue
        else:
            paragraphs.append(re.sub(r"::$", ":", paragraph))
        literal = paragraph.endswith("::")
    return "\n\n".join(paragraphs)
