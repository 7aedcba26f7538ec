"""A trace as a self-contained HTML page: the text in tokens, a chart of what was allowed, and each token in detail."""

from __future__ import annotations

import json
import statistics
from html import escape

from interlock.drawing.theme import clean, part, variables
from interlock.drawing.trace import Trace


def trace_page(trace: Trace) -> str:
    """The page, which loads nothing."""
    count = len(trace.steps)
    chosen = sum(not step.forced and not step.refused for step in trace.steps)
    masks = [step.mask_us for step in trace.steps] or [0.0]
    facts: list[tuple[str, ...]] = [
        (f"{count}", "tokens"),
        (f"{trace.forced}", "forced: no model is asked", "forced"),
        (f"{chosen}", "chosen by the model"),
        (_time(statistics.median(masks)), "a mask, median"),
        (_time(max(masks)), "the slowest mask"),
    ]
    if trace.max_tokens is not None:
        left = next((step.budget_left for step in reversed(trace.steps) if not step.refused), trace.max_tokens)
        facts.append((f"{left} of {trace.max_tokens}", "tokens of the budget left"))
    facts.append(("complete", "output", "") if trace.complete else ("refused", "output", "bad"))
    shown = "".join(map(_fact, facts))
    places = [f"{place}: " for place in trace.places] or [""] * len(trace.problems)
    told = [place + problem for place, problem in zip(places, trace.problems)]
    problems = "".join(f"<li>{clean(problem)}</li>" for problem in told[:12])
    listed = f"<ul class='bad'>{problems}</ul>" if problems else ""
    data = json.dumps(trace.machine(), ensure_ascii=True).replace("<", "\\u003c")
    other = "the model's own wishes" if trace.own_alternatives else "everyday continuations, tried at each place"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{clean(trace.title)}</title>
<meta name="viewport" content="width=device-width,initial-scale=1">
<style>{variables()}{part("trace.css")}</style></head><body><main><h1>{clean(trace.title)}</h1>
<div class="facts">{shown}</div>{listed}
<div class="both"><div><h2>The output, token by token</h2><div id="text"></div><div class="legend">
<span><b class="forced">orange</b> forced</span><span><b>plain</b> chosen</span>
<span><b class="bad">red</b> refused</span><span>click a token, or use the arrow keys</span></div>
<h2>How many tokens were allowed</h2><div id="chart"></div><div class="legend">
<span>one bar a token, on a logarithmic scale up to {trace.vocabulary:,}</span></div></div>
<div><h2>One token</h2><div id="step"></div><div class="legend"><span>alternatives: {other}</span></div></div>
</div></main><script type="application/json" id="data">{data}</script><script>{part("trace.js")}</script></body></html>
"""


def _fact(fact: tuple[str, ...]) -> str:
    value, name, css = (*fact, "")[:3]
    return f"<div class='fact'><b class='{css}'>{escape(value)}</b><span>{escape(name)}</span></div>"


def _time(microseconds: float) -> str:
    if microseconds >= 1000:
        return f"{microseconds / 1000:.1f} ms"
    return f"{microseconds:.2f} \u00b5s" if microseconds < 10 else f"{microseconds:.0f} \u00b5s"
