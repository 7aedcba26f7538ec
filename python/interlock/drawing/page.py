"""A self-contained HTML page with drawings: zoom at the pointer, drag, tooltips, a legend, light and dark."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape

from interlock.drawing.runs import Run
from interlock.drawing.theme import FONT, SANS, clean, variables

CSS = f"""\
body{{margin:0;background:var(--back);color:var(--text);font:14px/1.5 {SANS}}}
main{{max-width:1500px;margin:0 auto;padding:20px 24px 40px}}
h1{{font-size:20px;margin:0 0 2px;overflow-wrap:anywhere}}h2{{font-size:15px;margin:26px 0 8px}}
.about{{color:var(--quiet);margin:0}}
.view{{position:relative;border:1px solid var(--line);border-radius:10px;overflow:hidden;background:var(--back)}}
.view svg{{display:block;width:100%;height:100%;cursor:grab;touch-action:none}}.view svg:active{{cursor:grabbing}}
.tools{{position:absolute;right:10px;top:10px;display:flex;gap:4px}}
button{{font:600 14px/1 {SANS};min-width:32px;height:30px;border:1px solid var(--line);border-radius:7px;
background:var(--card);color:var(--text);cursor:pointer}}button:hover{{background:var(--head)}}
.legend{{display:flex;flex-wrap:wrap;gap:6px 20px;margin:10px 2px 0;color:var(--quiet);font-size:13px}}
.legend b{{color:var(--text)}}.legend .forced{{color:var(--forced);font-weight:bold}}
pre{{font:13px/1.6 {FONT};white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid var(--line);border-radius:10px;
padding:12px 16px;margin:0;background:var(--card)}}
.run{{color:var(--forced);background:var(--forcedback);font-weight:bold;border-radius:3px}}
#tip{{position:fixed;z-index:9;max-width:440px;padding:7px 11px;border-radius:8px;background:var(--text);color:var(--back);
font:12px/1.5 {FONT};white-space:pre-wrap;overflow-wrap:anywhere;pointer-events:none;display:none}}
.flash rect.c,.flash path.h{{stroke:var(--forced)!important;stroke-width:3!important}}
"""
SCRIPT = """\
(() => {
const tip = document.getElementById('tip');
for (const view of document.querySelectorAll('.view')) {
  const svg = view.querySelector('svg'), box = svg.viewBox.baseVal;
  const all = {x: box.x, y: box.y, width: box.width, height: box.height};
  svg.removeAttribute('width'); svg.removeAttribute('height');
  for (const title of svg.querySelectorAll('title')) {
    if (title.parentNode !== svg) title.parentNode.dataset.tip = title.textContent;
    title.remove();
  }
  const set = (x, y, width, height) => Object.assign(box, {x, y, width, height});
  const fit = whole => {
    const w = svg.clientWidth, h = svg.clientHeight;
    const least = Math.max(all.width / w, all.height / h);
    const k = whole ? Math.max(least, 0.6) : Math.min(Math.max(least, 0.7), 1.25);
    const x = all.width <= w * k ? all.x - (w * k - all.width) / 2 : all.x;
    const y = all.height <= h * k ? all.y - (h * k - all.height) / 2 : all.y;
    set(x, y, w * k, h * k);
  };
  const zoom = (k, cx, cy) => {
    const r = svg.getBoundingClientRect();
    const px = box.x + (cx - r.left) / r.width * box.width, py = box.y + (cy - r.top) / r.height * box.height;
    if (box.width * k < 40 || box.width * k > 40 * all.width + 4000) return;
    set(px - (px - box.x) * k, py - (py - box.y) * k, box.width * k, box.height * k);
  };
  const middle = k => { const r = svg.getBoundingClientRect(); zoom(k, r.left + r.width / 2, r.top + r.height / 2); };
  view.querySelector('.in').onclick = () => middle(0.8);
  view.querySelector('.out').onclick = () => middle(1.25);
  view.querySelector('.fit').onclick = () => fit(true);
  svg.addEventListener('wheel', e => { e.preventDefault(); zoom(Math.exp(e.deltaY * 0.0015), e.clientX, e.clientY); },
    {passive: false});
  let from = null, moved = 0;
  svg.addEventListener('pointerdown', e => { from = [e.clientX, e.clientY]; moved = 0; });
  addEventListener('pointermove', e => {
    if (!from) return;
    const k = box.width / svg.clientWidth, dx = e.clientX - from[0], dy = e.clientY - from[1];
    moved += Math.abs(dx) + Math.abs(dy); from = [e.clientX, e.clientY];
    set(box.x - dx * k, box.y - dy * k, box.width, box.height);
  });
  addEventListener('pointerup', () => from = null);
  svg.addEventListener('click', e => {
    const go = e.target.closest('[data-go]');
    if (!go || moved > 4) return;
    const card = svg.getElementById(go.dataset.go), b = card.getBBox();
    set(b.x + b.width / 2 - box.width / 2, b.y + b.height / 2 - box.height / 2, box.width, box.height);
    card.classList.add('flash'); setTimeout(() => card.classList.remove('flash'), 900);
  });
  view.tabIndex = 0;
  view.addEventListener('keydown', e => {
    const step = box.width / 12;
    const keys = {'+': () => middle(0.8), '-': () => middle(1.25), '0': () => fit(true),
      ArrowLeft: () => set(box.x - step, box.y, box.width, box.height),
      ArrowRight: () => set(box.x + step, box.y, box.width, box.height),
      ArrowUp: () => set(box.x, box.y - step, box.width, box.height),
      ArrowDown: () => set(box.x, box.y + step, box.width, box.height)};
    if (keys[e.key]) { e.preventDefault(); keys[e.key](); }
  });
  fit(false);
  let size = [svg.clientWidth, svg.clientHeight];
  new ResizeObserver(() => {
    const now = [svg.clientWidth, svg.clientHeight];
    set(box.x, box.y, box.width * now[0] / size[0], box.height * now[1] / size[1]); size = now;
  }).observe(svg);
}
addEventListener('pointermove', e => {
  const over = e.target.closest && e.target.closest('[data-tip]');
  tip.style.display = over ? 'block' : 'none';
  if (!over) return;
  tip.textContent = over.dataset.tip;
  tip.style.left = Math.max(4, Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 8)) + 'px';
  tip.style.top = Math.max(4, Math.min(e.clientY + 18, innerHeight - tip.offsetHeight - 8)) + 'px';
});
})();
"""
STRUCTURE_LEGEND = (
    "<span><b>bold</b> <span class='forced'>*</span> required key</span><span>plain: may be left out</span>"
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

    def html(self) -> str:
        """The page, which loads nothing."""
        parts = [_view(view) for view in self.views]
        if self.runs:
            parts.insert(1, _runs(self.runs))
        return (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{clean(self.title)}</title>'
            '<meta name="viewport" content="width=device-width,initial-scale=1">'
            f"<style>{variables()}{CSS}</style></head><body><main><h1>{clean(self.title)}</h1>"
            f'<p class="about">{clean(self.about)}</p>{"".join(parts)}</main><div id="tip"></div>'
            f"<script>{SCRIPT}</script></body></html>\n"
        )


def _view(view: View) -> str:
    tools = "".join(f'<button class="{c}" title="{t}">{s}</button>' for c, t, s in TOOLS)
    return (
        f"<section><h2>{escape(view.title)}</h2><div class='view' style='height:{view.height}'>{view.svg}"
        f"<div class='tools'>{tools}</div></div><div class='legend'>{view.legend}{HOW}</div></section>"
    )


TOOLS = (("in", "zoom in (+)", "+"), ("out", "zoom out (-)", "&minus;"), ("fit", "show all (0)", "fit"))


def _runs(runs: list[Run]) -> str:
    shown = "".join(f"<span class='run'>{clean(r.text)}</span>" if r.forced else clean(r.text) for r in runs)
    forced, whole = sum(len(r.text) for r in runs if r.forced), sum(len(r.text) for r in runs)
    return (
        f"<section><h2>One output</h2><pre>{shown}</pre><div class='legend'><span><span class='forced'>orange</span> "
        f"forced: it must come next, so no model is asked</span><span>{forced} of {whole} characters are forced</span>"
        "</div></section>"
    )
