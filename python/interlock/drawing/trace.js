(() => {
const data = JSON.parse(document.getElementById('data').textContent), steps = data.steps;
const $ = id => document.getElementById(id), shown = t => t.replace(/\n/g, '\\n\n').replace(/\t/g, '\\t');
const el = (tag, text, css) => { const e = document.createElement(tag); if (text !== undefined) e.textContent = text;
  if (css) e.className = css; return e; };
const us = t => t < 10 ? t.toFixed(2) + ' \u00b5s' : t < 1000 ? t.toFixed(1) + ' \u00b5s' : (t / 1000).toFixed(1) + ' ms';
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
if (data.rest) $('text').append(el('i', shown(data.rest), 'rest'));
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
  if (s.to_finish !== null) row(list, 'to the end', s.to_finish ? `${s.to_finish} more tokens complete it` : 'it may end here');
  if (s.budget_left !== null) row(list, 'budget left', `${s.budget_left} tokens`);
  row(list, 'time', `mask ${us(s.mask_us)}, advance ${us(s.advance_us)}`);
  if (s.alternatives.length) {
    const table = el('table');
    for (const a of s.alternatives) {
      const tr = el('tr'), why = el('td', a.allowed ? 'allowed' : 'refused: ' + a.reason);
      why.className = a.allowed ? '' : 'bad';
      tr.append(el('td', a.text ? a.text.replace(/\n/g, '\\n') : '(stop)'));
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
