"""A graph as SVG, and as an HTML page that holds several of them."""

from __future__ import annotations

from html import escape

from interlock.cli.graph import Edge, Graph, label, ranges_label
from interlock.cli.layout import Box, Route, layered

RADIUS = 13.0
LINE = 20.0
LETTER = 7.6
"""Width of a letter of the monospaced font."""
MARGIN = 30.0
STYLE = """\
.e{fill:none;stroke:#6b7280;stroke-width:1.3}.f{fill:none;stroke:#c2410c;stroke-width:4}
.s{fill:#fff;stroke:#111827;stroke-width:1.5}.a{fill:none;stroke:#111827;stroke-width:1.2}
text{font:12.6px 'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#111827;}
.n{text-anchor:middle;font-size:10px;fill:#4b5563}.r{font-weight:bold;fill:#9a3412}.b{fill:#fff;stroke:#e5e7eb}
.p{fill:#6b7280}.q{fill:#c2410c}"""


def svg(graph: Graph, title: str) -> str:
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
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-MARGIN} {-MARGIN} {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}">'
    )
    marks = "".join(
        f'<marker id="{name}" viewBox="0 0 10 10" refX="9" refY="5" markerUnits="userSpaceOnUse" markerWidth="{size}" '
        f'markerHeight="{size}" orient="auto"><path class="{css}" d="M0 1L10 5L0 9z"/></marker>'
        for name, size, css in (("thin", 9, "p"), ("thick", 14, "q"))
    )
    back = f'<rect x="{-MARGIN}" y="{-MARGIN}" width="{width:.0f}" height="{height:.0f}" fill="#fff"/>'
    parts = [
        head,
        f"<title>{_text(title)}</title><style>{STYLE}</style><defs>{marks}</defs>",
        back,
        *body,
        *labels,
        *circles,
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def page(drawings: list[tuple[str, str]], title: str) -> str:
    """An HTML page with these named drawings; the wheel zooms, dragging moves. It loads nothing."""
    parts = "".join(f"<h2>{escape(name)}</h2><div class='v'>{drawing}</div>" for name, drawing in drawings)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{_text(title)}</title><style>
body{{font-family:sans-serif;margin:1em}}.v{{border:1px solid #d1d5db;height:80vh;overflow:hidden;cursor:grab}}
.v svg{{width:100%;height:100%}}</style></head><body><h1>{_text(title)}</h1>{parts}<script>
for (const svg of document.querySelectorAll('.v svg')) {{
  const box = svg.viewBox.baseVal; let from = null;
  const scale = () => Math.max(box.width / svg.clientWidth, box.height / svg.clientHeight);
  svg.addEventListener('wheel', e => {{ e.preventDefault(); const k = e.deltaY < 0 ? 0.85 : 1.18;
    box.x += box.width * (1 - k) / 2; box.y += box.height * (1 - k) / 2; box.width *= k; box.height *= k;
    }}, {{passive: false}});
  svg.addEventListener('pointerdown', e => {{ from = [e.clientX, e.clientY]; svg.setPointerCapture(e.pointerId); }});
  svg.addEventListener('pointermove', e => {{ if (!from) return; const k = scale();
    box.x -= (e.clientX - from[0]) * k; box.y -= (e.clientY - from[1]) * k; from = [e.clientX, e.clientY]; }});
  svg.addEventListener('pointerup', () => from = null);
}}
</script></body></html>
"""


def _text(text: str) -> str:
    """``text`` as XML may hold it: control characters and lone surrogates may not occur there."""
    return escape("".join(c if c.isprintable() else "\ufffd" for c in text))


def _path(d: str, thick: bool) -> str:
    kind, mark = ("f", "thick") if thick else ("e", "thin")
    return f'<path class="{kind}" d="{d}" marker-end="url(#{mark})"/>'


def _label(edge: Edge, text: str, wide: float, x: float, y: float) -> str:
    full = edge.run or ranges_label(edge.ranges)
    chosen = len(edge.run) - edge.forced
    # The characters before the forced ones are chosen; escapes make a label longer than its run.
    head = len(label(Edge(0, 0, (), edge.run[:chosen]))) if edge.forced and chosen else 0
    left = x - len(text) * LETTER / 2
    parts = [("", 0, text[:head]), ("r", head, text[head:])] if edge.forced else [("", 0, text)]
    shown = "".join(
        f'<text class="{css}" x="{left + at * LETTER:.1f}" y="{y + 4.5:.1f}">{_text(part)}</text>'
        for css, at, part in parts
        if part
    )
    return (
        f'<g><title>{_text(full)}</title><rect class="b" x="{x - wide / 2:.1f}" y="{y - LINE / 2 + 1:.1f}" '
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
