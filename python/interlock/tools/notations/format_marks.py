"""The delimiters of a tool format that no name may hold, wherever names stand: ``</tool_call>``, ``[TOOL_CALLS]``.

Even inside of a JSON string such a text would be the special token of that name where the vocabulary has one, and end
the call for every reader that looks for the delimiter first.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from interlock.tools.notations import template
from interlock.tools.notations.tool_format import ToolFormat

__all__ = ["literal_texts", "marks_of"]

#: ``<tool_call>``, ``</function>``, and ``<function=`` where a placeholder follows.
_MARK = re.compile(r"<[^<>\s\"]+>|<[^<>\s\"]{2,}")


def marks_of(form: ToolFormat) -> tuple[str, ...]:
    """The special tokens of a format, and what stands in angles in its delimiters.

    >>> from interlock.tools import tool_format
    >>> marks_of(tool_format("minicpm5"))
    ('<function', '</function>', '<think>', '</think>', '<param', '</param>')
    """
    return _marks(form.special_tokens, tuple(_delimiters(form)))


def _delimiters(form: ToolFormat) -> Iterator[str]:
    for notation in form.notations:
        yield from (notation.section_begin, notation.begin, notation.end, notation.section_end, notation.separator)
        yield from notation.other_separators
    layout = form.layout
    yield from (layout.text_begin, layout.text_end, layout.preamble_begin, layout.preamble_end, layout.separator)
    yield layout.end
    if form.reasoning is not None:
        yield from (form.reasoning.begin, form.reasoning.end)
    yield from (form.arguments.begin, form.arguments.end)


def literal_texts(form: ToolFormat) -> Iterator[str]:
    """Every text that the format writes around names, values and identifiers, also where no name stands.

    >>> from interlock.tools import tool_format
    >>> list(literal_texts(tool_format("functionary_v3_1")))
    ['<function=', '>', '</function>']
    """
    style = form.arguments
    written = [*_delimiters(form), style.item_begin, style.item_end, style.string_begin, style.string_end, style.quote]
    if form.reasoning is not None:
        written.append(form.reasoning.after)
    for texts in style.types.values():
        for text in [texts] if isinstance(texts, str) else texts:
            written += [one.replace("${type}", text) for one in (style.begin, style.item_begin)]
    for one in written:
        yield from (text for kind, text in template.pieces(one) if kind == "text")


@functools.lru_cache(maxsize=64)
def _marks(special_tokens: tuple[str, ...], delimiters: tuple[str, ...]) -> tuple[str, ...]:
    texts = (text for one in delimiters for kind, text in template.pieces(one) if kind == "text")
    found = (mark for text in texts for mark in _MARK.findall(text))
    return tuple(dict.fromkeys((*special_tokens, *found)))
