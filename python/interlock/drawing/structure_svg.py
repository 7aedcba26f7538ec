"""Cards of a structure as SVG: one column for each level, an edge from a row to the card that it leads to."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.drawing.structure import Card, Cards, Row
from interlock.drawing.theme import clean, svg_root, wide

ROW = 22.0
HEAD = 28.0
PAD = 12.0
BETWEEN = 70.0
GAP = 22.0
SMALL = 6.4
"""Width of a letter at 11 pixels, about."""
CLASSES = {"string": "ts", "number": "tn", "boolean": "tb", "object": "to"}
CROSS = "\u2197"
AROUND = "\u21ba"


@dataclass
class Placed:
    """A card and where it is."""

    card: Card
    x: float
    y: float
    width: float
    height: float
    names: float


def structure_svg(structure: Cards, title: str) -> str:
    """The drawing. Bold keys are required, orange text is the only one possible; tooltips say more."""
    levels = _levels(structure)
    placed = _places(structure, levels)
    body: list[str] = []
    for box in placed.values():
        for i, row in enumerate(box.card.rows):
            if row.target is not None and not row.again and row.target in placed:
                body.append(_edge(box, i, placed[row.target]))
    for number, box in placed.items():
        body.append(_card(number, box, placed))
    right = max(box.x + box.width for box in placed.values())
    bottom = max(box.y + box.height for box in placed.values())
    if structure.left_out:
        bottom += 24
        text = f"{structure.left_out} more are not drawn"
        body.append(f'<text class="u" x="0" y="{bottom - 6:.0f}">{text}</text>')
    marker = (
        '<defs><marker id="ilk-go" viewBox="0 0 10 10" refX="9" refY="5" markerUnits="userSpaceOnUse" markerWidth="8" '
        'markerHeight="8" orient="auto"><path class="p" d="M0 1L10 5L0 9z"/></marker></defs>'
    )
    return svg_root(-20, -20, right + 40, bottom + 40, title, marker, body)


def _levels(structure: Cards) -> dict[int, int]:
    """The column of each card that a row leads to first."""
    levels = {0: 0}
    stack = [0]
    while stack:
        number = stack.pop()
        for row in reversed(structure.cards[number].rows):
            if row.target is not None and not row.again and row.target not in levels:
                levels[row.target] = levels[number] + 1
                stack.append(row.target)
    return levels


def _places(structure: Cards, levels: dict[int, int]) -> dict[int, Placed]:
    sizes = {number: _size(structure.cards[number]) for number in levels}
    columns: dict[int, float] = {}
    for number, level in levels.items():
        columns[level] = max(columns.get(level, 0.0), sizes[number][0])
    lefts: dict[int, float] = {}
    x = 0.0
    for level in sorted(columns):
        lefts[level] = x
        x += columns[level] + BETWEEN
    free: dict[int, float] = {}
    placed: dict[int, Placed] = {}

    def put(number: int, wanted: float) -> None:
        card = structure.cards[number]
        width, height, names = sizes[number]
        level = levels[number]
        y = max(wanted, free.get(level, 0.0))
        placed[number] = Placed(card, lefts[level], y, width, height, names)
        free[level] = y + height + GAP
        for i, row in enumerate(card.rows):
            if row.target in levels and row.target not in placed and not row.again:
                assert row.target is not None
                put(row.target, y + HEAD + i * ROW - HEAD / 2)

    put(0, 0.0)
    return placed


def _size(card: Card) -> tuple[float, float, float]:
    names = max([wide(_name(row)) for row in card.rows], default=0.0)
    types = max([wide(_shown(row)) for row in card.rows], default=0.0)
    notes = max([wide(note, SMALL) for note in card.notes], default=0.0)
    title = wide(card.title, 8.2) + wide(card.kind, SMALL) + 24
    width = max(names + types + (18 if names else 0), notes, title) + 2 * PAD
    height = HEAD + ROW * len(card.rows) + 16 * len(card.notes) + (8 if card.notes or card.rows else 0)
    return width, height, names


def _name(row: Row) -> str:
    return row.name + (" *" if row.required and row.name else "")


def _shown(row: Row) -> str:
    return row.type + (f" {CROSS}" if row.again else "")


def _card(number: int, box: Placed, placed: dict[int, Placed]) -> str:
    card = box.card
    x, y = box.x, box.y
    where = card.pointer or "the whole document"
    right, top = x + box.width, y + HEAD
    parts = [
        f'<g id="ilk-{number}"><rect class="c" x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="8"/>',
        f'<path class="h" d="M{x:.1f} {top:.1f}V{y + 8:.1f}a8 8 0 0 1 8 -8H{right - 8:.1f}a8 8 0 0 1 8 8V{top:.1f}Z"/>',
        f'<g><title>{clean(where)}</title><text class="t" x="{x + PAD:.1f}" y="{y + 19:.1f}">{clean(card.title)}</text>'
        f'<text class="u" x="{right - PAD:.1f}" y="{y + 18:.1f}" text-anchor="end">{clean(card.kind)}</text></g>',
    ]
    at = y + HEAD + 4
    for row in card.rows:
        parts.append(_row(row, box, at, placed))
        at += ROW
    at += 4 if card.rows else 8
    for note in card.notes:
        parts.append(f'<text class="u" x="{x + PAD:.0f}" y="{at + 9:.0f}">{clean(note)}</text>')
        at += 16
    return "".join(parts) + "</g>"


def _row(row: Row, box: Placed, y: float, placed: dict[int, Placed]) -> str:
    left, baseline = box.x + PAD, y + 15
    go = f' data-go="ilk-{row.target}"' if row.target in placed else ""
    name = ""
    if row.name:
        style = ' class="k"' if row.required else ""
        star = '<tspan class="r"> *</tspan>' if row.required else ""
        name = f'<text{style} x="{left:.0f}" y="{baseline:.0f}">{clean(row.name)}{star}</text>'
    start = left + box.names + (18 if box.names else 0)
    css = "r" if row.forced else CLASSES.get(row.kind, "")
    kind = f'<text{f" class={css!r}" if css else ""} x="{start:.0f}" y="{baseline:.0f}">{clean(_shown(row))}</text>'
    tip = row.tip or (row.name and f"{row.name}: {row.type}")
    title = f"<title>{_lines(tip)}</title>" if tip else ""
    back = f'<rect x="{box.x:.0f}" y="{y:.0f}" width="{box.width:.0f}" height="{ROW:.0f}" fill="transparent"/>'
    return f"<g{go}>{title}{back}{name}{kind}</g>"


def _lines(text: str) -> str:
    return clean(text, "\n")


def _edge(box: Placed, i: int, target: Placed) -> str:
    x0, y0 = box.x + box.width, box.y + HEAD + 4 + i * ROW + ROW / 2
    x1, y1 = target.x, target.y + HEAD / 2
    # Straight to the end of the column, then over: so no edge crosses a card of its own column.
    turn = max(x0, x1 - BETWEEN)
    half = (x1 - turn) / 2
    return (
        f'<path class="e" d="M{x0:.1f} {y0:.1f}H{turn:.1f}C{turn + half:.1f} {y0:.1f} {x1 - half:.1f} {y1:.1f} '
        f'{x1 - 1:.1f} {y1:.1f}" marker-end="url(#ilk-go)"/>'
    )
