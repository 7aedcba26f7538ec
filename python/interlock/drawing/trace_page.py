"""A trace as a self-contained HTML page: the text in tokens, a chart of what was allowed, and each token in detail."""

from __future__ import annotations

import json
import statistics
from html import escape

from interlock.drawing.theme import FONT, SANS, clean, variables
from interlock.drawing.trace import Trace

CSS = f"""\
body{{margin:0;background:var(--back);color:var(--text);font:14px/1.5 {SANS}}}
main{{max-width:1400px;margin:0 auto;padding:20px 24px 40px}}
h1{{font-size:20px;margin:0 0 2px;overflow-wrap:anywhere}}h2{{font-size:15px;margin:24px 0 8px}}
.facts{{display:flex;flex-wrap:wrap;gap:10px;margin:12px 0 0}}
.fact{{border:1px solid var(--line);border-radius:10px;padding:8px 14px;background:var(--card);min-width:96px}}
.fact b{{display:block;font-size:18px}}.fact span{{color:var(--quiet);font-size:12px}}
.bad{{color:var(--bad)}}.forced{{color:var(--forced)}}
ul.bad{{margin:12px 0 0;padding:10px 14px 10px 30px;border:1px solid var(--bad);border-radius:10px}}
.both{{display:grid;grid-template-columns:minmax(0,1fr) 400px;gap:18px;align-items:start}}
@media (max-width:900px){{.both{{grid-template-columns:1fr}}}}
#text{{font:14px/1.9 {FONT};white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid var(--line);border-radius:10px;
padding:12px 16px;background:var(--card)}}
#text span{{border-radius:3px;padding:2px 0;cursor:pointer;box-shadow:inset 0 -2px var(--line)}}
#text span:nth-child(even){{box-shadow:inset 0 -2px var(--edge)}}
#text .f{{background:var(--forcedback);color:var(--forced);font-weight:bold}}
#text .x{{background:var(--bad);color:var(--back)}}#text .s{{color:var(--quiet);font-style:italic}}
#text .on,#chart .on{{outline:2px solid var(--number);outline-offset:1px}}
#chart{{display:flex;align-items:flex-end;height:130px;border:1px solid var(--line);border-radius:10px;
padding:8px 12px;overflow-x:auto;background:var(--card)}}
#chart div{{flex:1 0 4px;min-height:2px;max-width:26px;background:var(--number);margin-right:1px;border-radius:2px 2px 0 0;
cursor:pointer}}#chart .f{{background:var(--forced)}}#chart .x{{background:var(--bad)}}
#step{{border:1px solid var(--line);border-radius:10px;padding:14px 16px;background:var(--card);position:sticky;top:12px}}
#step h3{{margin:0 0 8px;font:600 16px {FONT};white-space:pre-wrap;overflow-wrap:anywhere}}
#step dl{{display:grid;grid-template-columns:auto 1fr;gap:2px 14px;margin:0}}#step dt{{color:var(--quiet)}}
#step dd{{margin:0;overflow-wrap:anywhere}}
#step table{{width:100%;border-collapse:collapse;margin-top:10px;font-size:13px}}
#step td{{border-top:1px solid var(--line);padding:4px 6px 4px 0;vertical-align:top;overflow-wrap:anywhere}}
#step td:first-child{{font-family:{FONT};white-space:pre-wrap;min-width:48px}}
.legend{{display:flex;flex-wrap:wrap;gap:4px 20px;margin:8px 2px 0;color:var(--quiet);font-size:13px}}
.legend b{{color:var(--text)}}.legend b.forced{{color:var(--forced)}}.legend b.bad{{color:var(--bad)}}
"""
SCRIPT = """\
(() => {
const data = JSON.parse(document.getElementById('data').textContent), steps = data.steps;
const $ = id => document.getElementById(id), shown = t => t.replace(/\\n/g, '\\\\n\\n').replace(/\\t/g, '\\\\t');
const el = (tag, text, css) => { const e = document.createElement(tag); if (text !== undefined) e.textContent = text;
  if (css) e.className = css; return e; };
const us = t => t < 10 ? t.toFixed(2) : t.toFixed(1);
const quoted = s => s.special && !s.text ? '(stop)' : JSON.stringify(s.text);
const kind = s => s.refused ? 'x' : s.forced ? 'f' : s.special ? 's' : '';
const top = Math.log(data.vocabulary + 1);
let at = -1;
steps.forEach((s, i) => {
  const span = el('span', s.special && !s.text ? ' (stop)' : shown(s.text), kind(s));
  const bar = el('div', undefined, kind(s));
  bar.style.height = Math.max(2, 100 * Math.log(s.allowed + 1) / top) + '%';
  span.title = bar.title = `${quoted(s)}: ${s.allowed} allowed`;
  for (const e of [span, bar]) e.onclick = () => select(i);
  $('text').append(span); $('chart').append(bar);
});
function row(list, name, value, css) { list.append(el('dt', name), el('dd', value, css)); }
function select(i) {
  if (i < 0 || i >= steps.length) return;
  for (const holder of [$('text'), $('chart')]) {
    if (at >= 0) holder.children[at].classList.remove('on');
    holder.children[i].classList.add('on');
  }
  at = i;
  const s = steps[i], box = $('step'), list = el('dl');
  box.replaceChildren(el('h3', quoted(s)), list);
  row(list, 'token', `${i + 1} of ${steps.length}, id ${s.id}, at byte ${s.at}`);
  row(list, 'allowed', `${s.allowed.toLocaleString('en')} of ${data.vocabulary.toLocaleString('en')} tokens`);
  row(list, 'it was', s.refused ? 'refused' : s.forced ? 'forced: no model is asked' : 'chosen', s.refused ? 'bad' :
    s.forced ? 'forced' : '');
  if (s.probability !== null) row(list, 'probability', (100 * s.probability).toFixed(1) + ' %');
  if (s.to_finish !== null) row(list, 'to the end', s.to_finish ? `${s.to_finish} tokens more do it` : 'it may end here');
  if (s.budget_left !== null) row(list, 'budget left', `${s.budget_left} tokens`);
  row(list, 'time', `mask ${us(s.mask_us)} \\u00b5s, advance ${us(s.advance_us)} \\u00b5s`);
  if (s.alternatives.length) {
    const table = el('table');
    for (const a of s.alternatives) {
      const tr = el('tr'), why = el('td', a.allowed ? 'allowed' : 'refused: ' + a.reason);
      why.className = a.allowed ? '' : 'bad';
      tr.append(el('td', a.text ? JSON.stringify(a.text).slice(1, -1) : '(stop)'));
      if (data.own_alternatives) tr.append(el('td', a.probability === null ? '' : (100 * a.probability).toFixed(1) + ' %'));
      tr.append(why); table.append(tr);
    }
    box.append(el('h2', data.own_alternatives ? 'What the model wanted besides' : 'Everyday tokens instead'), table);
  }
}
addEventListener('keydown', e => {
  if (e.key === 'ArrowRight') { e.preventDefault(); select(at + 1); }
  if (e.key === 'ArrowLeft') { e.preventDefault(); select(at - 1); }
});
const first = steps.findIndex(s => s.refused);
select(first < 0 ? 0 : first);
})();
"""


def trace_page(trace: Trace) -> str:
    """The page, which loads nothing."""
    count = len(trace.steps)
    chosen = count - trace.forced
    masks = [step.mask_us for step in trace.steps] or [0.0]
    facts = [
        (f"{count}", "tokens"),
        (f"{trace.forced}", "forced: calls of the model saved", "forced"),
        (f"{chosen}", "chosen by the model"),
        (f"{statistics.median(masks):.2f} \u00b5s", "a mask, in the middle"),
        (f"{max(masks):.1f} \u00b5s", "the slowest mask"),
    ]
    if trace.max_tokens is not None:
        left = next((step.budget_left for step in reversed(trace.steps) if not step.refused), trace.max_tokens)
        facts.append((f"{left} of {trace.max_tokens}", "tokens of the budget left"))
    facts.append(("complete", "output", "") if trace.complete else ("refused", "output", "bad"))
    shown = "".join(
        f'<div class="fact"><b class="{fact[2] if len(fact) > 2 else ""}">{escape(fact[0])}</b><span>{escape(fact[1])}</span></div>'
        for fact in facts
    )
    problems = "".join(f"<li>{clean(problem)}</li>" for problem in trace.problems[:12])
    data = json.dumps(trace.machine(), ensure_ascii=True).replace("<", "\\u003c")
    other = "the model's own wishes" if trace.own_alternatives else "everyday continuations, tried at each place"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{clean(trace.title)}</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>{variables()}{CSS}</style></head><body><main><h1>{clean(trace.title)}</h1>"
        f'<div class="facts">{shown}</div>{f"<ul class=bad>{problems}</ul>" if problems else ""}'
        '<div class="both"><div><h2>The output, token by token</h2><div id="text"></div><div class="legend">'
        '<span><b class="forced">orange</b> forced</span><span><b>plain</b> chosen</span>'
        '<span><b class="bad">red</b> refused</span><span>click a token, or use the arrow keys</span></div>'
        '<h2>How many tokens were allowed</h2><div id="chart"></div><div class="legend">'
        f"<span>one bar a token, on a logarithmic scale up to {trace.vocabulary:,}</span></div></div>"
        f'<div><h2>One token</h2><div id="step"></div><div class="legend"><span>alternatives: {other}</span></div></div>'
        f'</div></main><script type="application/json" id="data">{data}</script><script>{SCRIPT}</script></body></html>\n'
    )
