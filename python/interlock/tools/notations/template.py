"""Texts with placeholders, such as ``<function=${name}>``: how delimiters of tool formats are written down.

A placeholder is ``${word}``. A dollar sign that no brace follows is itself.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping

from interlock.tools.errors import ToolFormatError

__all__ = ["fill", "literal_after", "pieces", "placeholders"]

_PLACEHOLDER = re.compile(r"\$\{([^{}]*)\}")


@functools.lru_cache(maxsize=256)
def pieces(template: str) -> tuple[tuple[str, str], ...]:
    """``template`` as pairs ``("text", literal)`` and ``("placeholder", word)``, in order. No empty literals.

    >>> pieces("<a ${name}>")
    (('text', '<a '), ('placeholder', 'name'), ('text', '>'))
    """
    found: list[tuple[str, str]] = []
    at = 0
    for match in _PLACEHOLDER.finditer(template):
        if match.start() > at:
            found.append(("text", template[at : match.start()]))
        found.append(("placeholder", match[1]))
        at = match.end()
    if at < len(template):
        found.append(("text", template[at:]))
    return tuple(found)


def placeholders(template: str) -> list[str]:
    """The words of the placeholders, in order.

    >>> placeholders("${name}:${id}")
    ['name', 'id']
    """
    return [word for kind, word in pieces(template) if kind == "placeholder"]


def fill(template: str, values: Mapping[str, str]) -> str:
    """``template`` with a text for each placeholder. ``ToolFormatError`` for a placeholder without one.

    >>> fill("functions.${name}:${id}", {"name": "add", "id": "0"})
    'functions.add:0'
    """
    written = []
    for kind, text in pieces(template):
        if kind == "placeholder":
            if text not in values:
                raise ToolFormatError(f"the placeholder ${{{text}}} has no value here")
            text = values[text]
        written.append(text)
    return "".join(written)


def literal_after(template: str, word: str) -> Iterable[str]:
    """The literal texts that follow ``${word}`` in ``template``; ``""`` where another placeholder or the end follows.

    >>> list(literal_after("<a ${name}>", "name"))
    ['>']
    """
    found = pieces(template)
    for index, (kind, text) in enumerate(found):
        if kind == "placeholder" and text == word:
            after = found[index + 1] if index + 1 < len(found) else ("text", "")
            yield after[1] if after[0] == "text" else ""
