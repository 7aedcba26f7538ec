"""A layered drawing of a graph, left to right (Sugiyama, Tagawa and Toda 1981).

A state's rank is the length of the longest way to it from the start, edges left out that close a circle, so all others
point to the right. Between two ranks of states lies a rank of labels: every edge passes through a box that is as large
as its text, and boxes of one rank never overlap, so labels cannot. An edge over several ranks passes through dummies;
an edge back to an earlier rank is laid out as if it led forward, and drawn the other way. Loops are boxes above their
state. Crossings are reduced by barycentres, sweeping to and fro; heights then move towards the mean of their
neighbours, as far as the order and the gaps allow.
"""

from __future__ import annotations

from dataclasses import dataclass, field

GAP = 14.0
"""Least distance between boxes of one rank."""
BETWEEN = 34.0
"""Distance between neighbouring ranks."""
SWEEPS = 24


@dataclass
class Box:
    """Something that takes room: a state, a label or a dummy. ``x`` and ``y`` are the middle."""

    rank: int
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0
    before: list[Box] = field(default_factory=list, repr=False)
    after: list[Box] = field(default_factory=list, repr=False)


@dataclass
class Route:
    """One edge: the boxes that its line passes, from its source to its target, and the box of its label."""

    boxes: list[Box]
    label: Box


@dataclass
class Layout:
    """Boxes of the states, a route for each edge (``None`` for a loop, whose label is above its state), the size."""

    states: dict[int, Box]
    routes: list[Route | None]
    width: float
    height: float


def layered(
    count: int, edges: list[tuple[int, int]], widths: list[float], line: float, radius: float, loop_height: float
) -> Layout:
    """Place ``count`` states and the labels of ``edges``; ``widths`` are those of the labels, ``line`` their height.

    Loops of a state share one stack of labels above it, so its box grows by ``loop_height`` and a line for each.
    """
    ranks = _ranks(count, edges)
    loops = [[i for i, e in enumerate(edges) if e == (s, s)] for s in range(count)]
    states = {}
    for s in range(count):
        width = max([2 * radius, *(widths[i] for i in loops[s])])
        above = loop_height + line * len(loops[s]) if loops[s] else 0.0
        states[s] = Box(2 * ranks[s], width, 2 * radius + 2 * above)
    layers: dict[int, list[Box]] = {}
    for s in sorted(states, key=lambda s: (ranks[s], s)):
        layers.setdefault(2 * ranks[s], []).append(states[s])
    routes: list[Route | None] = []
    for i, (src, dst) in enumerate(edges):
        routes.append(None if src == dst else _route(states[src], states[dst], widths[i], line, layers))
    order = [layers[rank] for rank in sorted(layers)]
    _untangle(order)
    _heights(order)
    left = 0.0
    for layer in order:
        wide = max(box.width for box in layer)
        for box in layer:
            box.x = left + wide / 2
        left += wide + BETWEEN
    boxes = [box for layer in order for box in layer]
    top = min(box.y - box.height / 2 for box in boxes)
    for box in boxes:
        box.y -= top
    return Layout(states, routes, left - BETWEEN, max(box.y + box.height / 2 for box in boxes))


def _ranks(count: int, edges: list[tuple[int, int]]) -> list[int]:
    """The longest way to each state along edges that close no circle, found depth first from the start."""
    onward: list[list[int]] = [[] for _ in range(count)]
    for src, dst in edges:
        onward[src].append(dst)
    open_, seen, ended = {0}, {0}, []
    forward: list[list[int]] = [[] for _ in range(count)]
    stack = [(0, iter(onward[0]))]
    while stack:
        s, rest = stack[-1]
        t = next(rest, None)
        if t is None:
            stack.pop()
            open_.discard(s)
            ended.append(s)
        elif t not in open_:
            forward[s].append(t)
            if t not in seen:
                seen.add(t)
                open_.add(t)
                stack.append((t, iter(onward[t])))
    ranks = [0] * count
    for s in reversed(ended):
        for t in forward[s]:
            ranks[t] = max(ranks[t], ranks[s] + 1)
    return ranks


def _route(src: Box, dst: Box, width: float, line: float, layers: dict[int, list[Box]]) -> Route:
    if src.rank == dst.rank:
        label = Box(src.rank + 1, width, line)
        layers.setdefault(label.rank, []).append(label)
        label.before = [src, dst]
        src.after.append(label)
        dst.after.append(label)
        return Route([src, label, dst], label)
    first, last = (src, dst) if src.rank < dst.rank else (dst, src)
    # The label stands next to the source, where the reader chooses a way.
    place = src.rank + 1 if src is first else src.rank - 1
    chain = [first]
    label = first
    for rank in range(first.rank + 1, last.rank):
        box = Box(rank, width, line) if rank == place else Box(rank, 1.0, line / 2)
        label = box if rank == place else label
        layers.setdefault(rank, []).append(box)
        chain.append(box)
    chain.append(last)
    for a, b in zip(chain, chain[1:]):
        a.after.append(b)
        b.before.append(a)
    return Route(chain if src is first else chain[::-1], label)


def _untangle(order: list[list[Box]]) -> None:
    place: dict[int, float] = {}

    def number(layer: list[Box]) -> None:
        for i, box in enumerate(layer):
            place[id(box)] = float(i)

    def crossings() -> int:
        total = 0
        for layer in order:
            ends = [sorted(place[id(b)] for b in box.after if b.rank > box.rank) for box in layer]
            flat = [e for part in ends for e in part]
            total += sum(a > b for i, a in enumerate(flat) for b in flat[i + 1 :]) if len(flat) < 400 else 0
        return total

    for layer in order:
        number(layer)
    best, kept = crossings(), [list(layer) for layer in order]
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for layer in order if down else reversed(order):

            def key(box: Box) -> float:
                near = box.before if down else box.after
                return sum(place[id(b)] for b in near) / len(near) if near else place[id(box)]

            layer.sort(key=key)
            number(layer)
        found = crossings()
        if found < best:
            best, kept = found, [list(layer) for layer in order]
    for layer, saved in zip(order, kept):
        layer[:] = saved


def _heights(order: list[list[Box]]) -> None:
    for layer in order:
        y = 0.0
        for box in layer:
            box.y = y + box.height / 2
            y += box.height + GAP
        for box in layer:
            box.y -= y / 2
    for sweep in range(SWEEPS):
        for layer in order if sweep % 2 == 0 else reversed(order):
            wanted = []
            for box in layer:
                near = (box.before if sweep % 2 == 0 else box.after) or [*box.before, *box.after]
                wanted.append(sum(b.y for b in near) / len(near) if near else box.y)
            _settle(layer, wanted)


def _settle(layer: list[Box], wanted: list[float]) -> None:
    """Bring boxes as near to the wanted heights as order and gaps allow: runs that collide share their mean shift
    (pool adjacent violators, which is the least squares solution)."""
    offsets, at = [], 0.0
    for box in layer:
        offsets.append(at + box.height / 2)
        at += box.height + GAP
    pools: list[tuple[float, int]] = []
    for want, offset in zip(wanted, offsets):
        total, count = want - offset, 1
        while pools and pools[-1][0] / pools[-1][1] >= total / count:
            other = pools.pop()
            total, count = total + other[0], count + other[1]
        pools.append((total, count))
    shifts = [total / count for total, count in pools for _ in range(count)]
    for box, offset, shift in zip(layer, offsets, shifts):
        box.y = offset + shift
