"""An automaton as SVG."""

from __future__ import annotations

from interlock.drawing.layers import Box, Route, layered
from interlock.drawing.simplified_automaton import Edge, Graph, label, ranges_label
from interlock.drawing.theme import LETTER, clean, svg_root
from interlock.util.quoting import shortened

RADIUS = 13.0
LINE = 20.0
MARGIN = 30.0


def automaton_svg(graph: Graph, title: str) -> str:
    """The drawing. Double circles accept; thick edges are forced runs; what is cut off is in the tooltip."""
    states = graph.states
    place = {s: i for i, s in enumerate(states)}
    ends = [(place[e.src], place[e.dst]) for e in graph.edges]
    texts = [label(e) for e in graph.edges]
    widths = [len(t) * LETTER + 10 for t in texts]
    plan = layered(len(states), ends, widths, LINE, RADIUS, 16.0)
    body: list[str] = []
    labels: list[str] = []
    loops: dict[int, int] = {}
    for edge, text, wide, route in zip(graph.edges, texts, widths, plan.routes):
        thick = edge.forced > 0 and len(edge.run) > 1
        if route is None:
            box = plan.states[place[edge.src]]
            number = loops.get(edge.src, 0)
            loops[edge.src] = number + 1
            if not number:
                x, y = box.x, box.y - RADIUS
                body.append(
                    _path(
                        f"M{x - 6:.1f} {y + 1:.1f}C{x - 18:.1f} {y - 26:.1f} "
                        f"{x + 18:.1f} {y - 26:.1f} {x + 6:.1f} {y:.1f}",
                        thick,
                    )
                )
            labels.append(_label(edge, text, wide, box.x, box.y - RADIUS - 26 - number * LINE))
        else:
            body.append(_path(_curve(route), thick))
            labels.append(_label(edge, text, wide, route.label.x, route.label.y))
    circles = []
    for s in states:
        box = plan.states[place[s]]
        circles.append(f'<circle class="s" cx="{box.x:.1f}" cy="{box.y:.1f}" r="{RADIUS}"/>')
        if s in graph.accepting:
            circles.append(f'<circle class="a" cx="{box.x:.1f}" cy="{box.y:.1f}" r="{RADIUS - 3}"/>')
        circles.append(f'<text class="n" x="{box.x:.1f}" y="{box.y + 3.5:.1f}">{s}</text>')
    start = plan.states[0]
    body.append(_path(f"M{start.x - RADIUS - 24:.1f} {start.y:.1f}H{start.x - RADIUS:.1f}", False))
    width, height = plan.width + 2 * MARGIN, plan.height + 2 * MARGIN
    marks = "".join(
        f'<marker id="ilk-{name}" viewBox="0 0 10 10" refX="9" refY="5" markerUnits="userSpaceOnUse" '
        f'markerWidth="{size}" markerHeight="{size}" orient="auto"><path class="{css}" d="M0 1L10 5L0 9z"/></marker>'
        for name, size, css in (("thin", 9, "p"), ("thick", 14, "q"))
    )
    return svg_root(-MARGIN, -MARGIN, width, height, title, f"<defs>{marks}</defs>", [*body, *labels, *circles])


def _path(d: str, thick: bool) -> str:
    kind, mark = ("f", "thick") if thick else ("e", "thin")
    return f'<path class="{kind}" d="{d}" marker-end="url(#ilk-{mark})"/>'


def _label(edge: Edge, text: str, wide: float, x: float, y: float) -> str:
    full = edge.run or shortened(ranges_label(edge.ranges, len(edge.ranges)), 400)
    full = f"forced: {full}" if edge.forced else full
    chosen = len(edge.run) - edge.forced
    # The characters before the forced ones are chosen; escapes make a label longer than its run.
    head = len(label(Edge(0, 0, (), edge.run[:chosen]))) if edge.forced and chosen else 0
    left = x - len(text) * LETTER / 2
    parts = [("", 0, text[:head]), ("r", head, text[head:])] if edge.forced else [("", 0, text)]
    shown = "".join(
        f'<text class="{css}" x="{left + at * LETTER:.1f}" y="{y + 4.5:.1f}">{clean(part)}</text>'
        for css, at, part in parts
        if part
    )
    return (
        f'<g><title>{clean(full)}</title><rect class="b" x="{x - wide / 2:.1f}" y="{y - LINE / 2 + 1:.1f}" '
        f'width="{wide:.1f}" '
        f'height="{LINE - 2}" rx="4"/>{shown}</g>'
    )


def _curve(route: Route) -> str:
    boxes = route.boxes
    if boxes[0].rank == boxes[-1].rank:
        src, middle, dst = boxes
        edge = middle.x - middle.width / 2
        return (
            f"M{src.x + RADIUS:.1f} {src.y:.1f}C{edge:.1f} {src.y:.1f} {edge:.1f} {middle.y:.1f} "
            f"{middle.x:.1f} {middle.y:.1f}"
            f"C{edge:.1f} {middle.y:.1f} {edge:.1f} {dst.y:.1f} {dst.x + RADIUS:.1f} {dst.y:.1f}"
        )
    way = 1.0 if boxes[0].rank < boxes[-1].rank else -1.0
    points: list[tuple[float, float]] = [_leave(boxes[0], way)]
    for box in boxes[1:-1]:
        points += [(box.x - way * box.width / 2, box.y), (box.x + way * box.width / 2, box.y)]
    points.append(_leave(boxes[-1], -way))
    d = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        half = (x1 - x0) / 2
        d += (
            f"L{x1:.1f} {y1:.1f}"
            if y0 == y1
            else f"C{x0 + half:.1f} {y0:.1f} {x1 - half:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
        )
    return d


def _leave(box: Box, way: float) -> tuple[float, float]:
    """Where a line leaves a state; lines back leave a little lower, apart from those forward."""
    return box.x + way * (RADIUS + 1), box.y
