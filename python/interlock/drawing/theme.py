"""Colours of all drawings, light and dark, and text that XML may hold."""

from __future__ import annotations

import unicodedata
from functools import cache
from html import escape
from pathlib import Path

FONT = "'DejaVu Sans Mono',Menlo,Consolas,monospace"
SANS = "system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif"
LETTER = 7.6
"""Width of a letter at 12.6 pixels of the monospaced font."""
LIGHT = {
    "back": "#ffffff",
    "card": "#ffffff",
    "head": "#f1f5f9",
    "edge": "#64748b",
    "line": "#cbd5e1",
    "text": "#0f172a",
    "quiet": "#64748b",
    "forced": "#c2410c",
    "forcedback": "#ffedd5",
    "string": "#15803d",
    "number": "#1d4ed8",
    "boolean": "#7e22ce",
    "object": "#0e7490",
    "bad": "#b91c1c",
}
DARK = {
    "back": "#0f172a",
    "card": "#172033",
    "head": "#22304a",
    "edge": "#94a3b8",
    "line": "#3b4a63",
    "text": "#e2e8f0",
    "quiet": "#94a3b8",
    "forced": "#fb923c",
    "forcedback": "#4a2410",
    "string": "#86efac",
    "number": "#93c5fd",
    "boolean": "#d8b4fe",
    "object": "#67e8f9",
    "bad": "#fca5a5",
}
RULES = {
    ".bg": "fill:{back}",
    ".e": "fill:none;stroke:{edge};stroke-width:1.3",
    ".f": "fill:none;stroke:{forced};stroke-width:4",
    ".s": "fill:{card};stroke:{text};stroke-width:1.5",
    ".a": "fill:none;stroke:{text};stroke-width:1.2",
    ".c": "fill:{card};stroke:{line};stroke-width:1.2",
    ".h": "fill:{head};stroke:{line};stroke-width:1.2",
    ".b": "fill:{back};stroke:{line}",
    ".p": "fill:{edge}",
    ".q": "fill:{forced}",
    "text": "fill:{text}",
    ".n": "fill:{quiet}",
    ".u": "fill:{quiet}",
    ".r": "fill:{forced}",
    ".ts": "fill:{string}",
    ".tn": "fill:{number}",
    ".tb": "fill:{boolean}",
    ".to": "fill:{object}",
    ".ln": "stroke:{line};stroke-width:1",
}
SHAPE = (
    f".ilk text{{font:12.6px {FONT};white-space:pre}}.ilk .n{{text-anchor:middle;font-size:10px}}"
    f".ilk .r,.ilk .k{{font-weight:bold}}.ilk .t{{font:600 13px {SANS}}}.ilk .u{{font-size:11px}}"
    ".ilk .d{stroke-dasharray:4 3}.ilk [data-go]{cursor:pointer}"
)


def style() -> str:
    """The style sheet of a drawing. Values stand in every rule, because not every viewer of SVG knows variables."""

    def rules(colours: dict[str, str]) -> str:
        return "".join(f".ilk {name}{{{rule.format(**colours)}}}" for name, rule in RULES.items())

    return f"{SHAPE}{rules(LIGHT)}@media (prefers-color-scheme:dark){{{rules(DARK)}}}"


def variables() -> str:
    """The colours as variables of a page."""
    light = "".join(f"--{name}:{value};" for name, value in LIGHT.items())
    dark = "".join(f"--{name}:{value};" for name, value in DARK.items())
    fonts = f"--sans:{SANS};--mono:{FONT};"
    return f":root{{color-scheme:light dark;{fonts}{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"


@cache
def part(name: str) -> str:
    """The style sheet or the script of a page; it is a file beside this one."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def readable(text: str) -> str:
    r"""``text`` with escapes for what no line shows: ends of lines, tabs, control characters, lone surrogates.

    >>> print(readable("a\n\tb\x00"))
    a\n\tb\x00
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def clean(text: str, keep: str = "") -> str:
    """``text`` as XML may hold it, on one line; ``keep`` are characters that stay as they are beside printable ones."""
    return escape("".join(c if c in keep else readable(c) for c in text))


def wide(text: str, letter: float = LETTER) -> float:
    """The width of a text in the monospaced font, as ``readable`` writes it."""
    text = readable(text)
    return letter * sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def svg_root(left: float, top: float, width: float, height: float, title: str, defs: str, body: list[str]) -> str:
    """A drawing of this size with these parts."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ilk" viewBox="{left:.0f} {top:.0f} {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img">'
    )
    back = f'<rect class="bg" x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{height:.0f}"/>'
    parts = [head, f"<title>{clean(title)}</title><style>{style()}</style>", defs, back, *body, "</svg>"]
    return "\n".join(part for part in parts if part) + "\n"
