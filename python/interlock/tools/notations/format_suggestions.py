"""Which tool formats were probably meant by a word that names none: by their names, and by the models of each."""

from __future__ import annotations

import re
from collections.abc import Iterable

from interlock.tools.notations.tool_format import ToolFormat
from interlock.util.near_words import nearest

__all__ = ["suggested_formats"]

_PARTS = re.compile(r"[a-z]+|[0-9]+(?:\.[0-9]+)*")


def suggested_formats(word: str, forms: Iterable[ToolFormat]) -> list[tuple[str, str]]:
    """The names of formats, each with the model by which it was found; empty for one found by its own name.

    ``word`` may be the beginning of a name or of a family, or the name of a model, perhaps with its owner.

    >>> from interlock.tools import format_names, tool_format
    >>> forms = list(map(tool_format, format_names()))
    >>> suggested_formats("olmo", forms), suggested_formats("Qwen/Qwen3-8B", forms)
    ([('olmo_3', '')], [('hermes', 'Qwen 3')])

    A word that begins like none may be a slip.

    >>> suggested_formats("hermess", forms), suggested_formats("Quen 3", forms), suggested_formats("x", forms)
    ([('hermes', '')], [('hermes', 'Qwen 3')], [])
    """
    labels = [
        (label, form.name, "" if label in (form.name, form.title) else label)
        for form in forms
        for label in (form.name, form.title, *form.families)
    ]
    asked = _parts(word.rpartition("/")[2])
    best = (0, True)
    found: dict[str, str] = {}
    for label, name, model in labels:
        parts = _parts(label)
        size = min(len(parts), len(asked))
        # A model of the family, rather than one whose name goes on.
        alike = (size, len(parts) == size)
        if size and parts[:size] == asked[:size] and alike >= best:
            best, found = alike, found if alike == best else {}
            found.setdefault(name, model)
    if found:
        return list(found.items())
    # Another version is no slip.
    numbers = [part for part in asked if part[0].isdigit()]
    alike_labels = [label for label, _, _ in labels if [part for part in _parts(label) if part[0].isdigit()] == numbers]
    near = nearest(word, alike_labels)
    return [(name, model) for label, name, model in labels if label == near][:1]


def _parts(name: str) -> list[str]:
    """Words and versions, of which 4.0 is 4, and Qwen 3 no beginning of Qwen 3.5."""
    return [re.sub(r"(?:\.0)+$", "", part) for part in _PARTS.findall(name.lower())]
