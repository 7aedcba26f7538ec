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
