"""A self-contained HTML page with drawings: zoom at the pointer, drag, tooltips, a legend, light and dark."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape

from interlock.drawing.forced_runs import Run, count_forced
from interlock.drawing.theme import clean, part, variables

STRUCTURE_LEGEND = (
    "<span><b>bold</b> <span class='forced'>*</span> required key</span><span>plain: may be left out</span>"
    "<span><span class='forced'>orange</span> the only text possible</span><span>&#8599; drawn elsewhere: click</span>"
)
GRAMMAR_LEGEND = (
    "<span>a box: a rule</span><span>a line: one of its alternatives</span>"
    "<span><span class='forced'>orange</span> the only text possible</span><span>&#8599; drawn elsewhere: click</span>"
)
AUTOMATON_LEGEND = (
    "<span><span class='forced'>thick orange</span> forced: must follow, no model is asked</span>"
    "<span>thin: a choice</span><span>double ring: the output may end</span><span>&#9251; a blank</span>"
    "<span>a loop: more of the same</span>"
)
HOW = "<span>wheel: zoom at the pointer</span><span>drag: move</span><span>hover: more</span>"


@dataclass
class View:
    """A drawing of a page: its heading, the SVG, and what its signs mean."""

    title: str
    svg: str
    legend: str
    most: int = 62
    """The height of its window at most, in hundredths of the page's."""

    @property
    def height(self) -> str:
        """The height of its window: no more than the drawing needs."""
        found = re.search(r'viewBox="\S+ \S+ \S+ (\d+)"', self.svg)
        return f"min({self.most}vh, {int(found[1]) * 5 // 4 + 20 if found else 600}px)"


@dataclass
class Page:
    """What is on a page."""

    title: str
    about: str
    views: list[View]
    runs: list[Run] = field(default_factory=list)
    """An output, with what is forced in it."""
    otherwise: str = ""
    """What of it would be forced with other options, in words."""

    def html(self) -> str:
        """The page, which loads nothing."""
        parts = [_view(view) for view in self.views]
        if self.runs:
            parts.insert(1, _runs(self.runs, self.otherwise))
        return (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{clean(self.title)}</title>'
            '<meta name="viewport" content="width=device-width,initial-scale=1">'
            f"<style>{variables()}{part('page.css')}</style></head><body><main><h1>{clean(self.title)}</h1>"
            f'<p class="about">{clean(self.about)}</p>{"".join(parts)}</main><div id="tip"></div>'
            f"<script>{part('page.js')}</script></body></html>\n"
        )


def _view(view: View) -> str:
    tools = "".join(f'<button class="{c}" title="{t}">{s}</button>' for c, t, s in TOOLS)
    return (
        f"<section><h2>{escape(view.title)}</h2><div class='view' style='height:{view.height}'>{view.svg}"
        f"<div class='tools'>{tools}</div></div><div class='legend'>{view.legend}{HOW}</div></section>"
    )


TOOLS = (("in", "zoom in (+)", "+"), ("out", "zoom out (-)", "&minus;"), ("fit", "show all (0)", "fit"))


def _runs(runs: list[Run], otherwise: str) -> str:
    texts = [(clean(run.text, "\n\t"), run.forced) for run in runs]
    shown = "".join(f"<span class='run'>{text}</span>" if forced else text for text, forced in texts)
    forced, whole = count_forced(runs)
    more = f"<span>{escape(otherwise)}</span>" if otherwise else ""
    return (
        f"<section><h2>One output</h2><pre>{shown}</pre><div class='legend'><span><span class='forced'>orange</span> "
        f"forced: it must come next, so no model is asked</span><span>{forced} of {whole} characters are forced</span>"
        f"{more}</div></section>"
    )
