"""A text as HTML for notebooks, in which what a model wrote stands out from what was fixed."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

__all__ = ["marked_text"]

_STYLE = "white-space:pre-wrap;font-family:ui-monospace,monospace;line-height:1.6"
# Translucent, so that it can be read on white and on black.
_MARK = "background:rgba(230,126,34,.28);color:inherit;border-radius:3px"


def marked_text(pieces: Sequence[tuple[str, bool, str]], below: str = "") -> str:
    """``pieces`` in turn: a text, whether a model wrote it, and its name, which is shown when one points at it.

    >>> marked_text([("2 + 2 = ", False, ""), ("4", True, "sum")])[-98:]
    'background:rgba(230,126,34,.28);color:inherit;border-radius:3px" title="sum">4</mark></div>'
    """
    made = ""
    for text, is_generated, name in pieces:
        title = f' title="{escape(name, quote=True)}"' if name else ""
        made += f'<mark style="{_MARK}"{title}>{escape(text)}</mark>' if is_generated else escape(text)
    note = f'<div style="opacity:.65;font-size:.85em">{escape(below)}</div>' if below else ""
    return f'<div style="{_STYLE}">{made}</div>{note}'
