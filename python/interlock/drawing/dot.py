"""Drawings in the language of Graphviz."""

from __future__ import annotations

from interlock.drawing.simplified_automaton import Graph, label
from interlock.drawing.structure import Cards
from interlock.drawing.theme import clean, readable


def structure_dot(structure: Cards, title: str) -> str:
    """The cards of a structure as tables; an edge from a row to the card that it leads to."""
    lines = ["digraph structure {", "    rankdir=LR; node [shape=plain, fontname=monospace]; edge [color=gray40];"]
    lines.append(f"    label={_quoted(title)};")
    for number, card in enumerate(structure.cards):
        rows = [
            f'<TR><TD BGCOLOR="gray92" COLSPAN="2" PORT="head"><B>{clean(card.title)}</B> {clean(card.kind)}</TD></TR>'
        ]
        for i, row in enumerate(card.rows):
            name = f"<B>{clean(row.name)} *</B>" if row.required and row.name else clean(row.name) or " "
            kind = f'<FONT COLOR="chocolate3">{clean(row.type)}</FONT>' if row.forced else clean(row.type)
            rows.append(f'<TR><TD ALIGN="LEFT">{name}</TD><TD ALIGN="LEFT" PORT="r{i}">{kind}</TD></TR>')
        rows += [f'<TR><TD COLSPAN="2" ALIGN="LEFT"><I>{clean(note)}</I></TD></TR>' for note in card.notes]
        lines.append(
            f'    c{number} [label=<<TABLE BORDER="1" CELLBORDER="0" CELLSPACING="0">{"".join(rows)}</TABLE>>];'
        )
    for number, card in enumerate(structure.cards):
        for i, row in enumerate(card.rows):
            if row.target is not None:
                style = " [style=dashed]" if row.again else ""
                lines.append(f"    c{number}:r{i}:e -> c{row.target}:head{style};")
    return "\n".join([*lines, "}"]) + "\n"


def automaton_dot(graph: Graph, title: str) -> str:
    """States as circles, accepting ones as double circles; thick arrows are forced runs."""
    lines = [
        "digraph automaton {",
        "    rankdir=LR; node [shape=circle, fontname=monospace]; edge [fontname=monospace];",
    ]
    lines += [f"    label={_quoted(title)};", "    start [shape=point]; start -> 0;"]
    lines += [f"    {state} [shape=doublecircle];" for state in graph.states if state in graph.accepting]
    for edge in graph.edges:
        thick = ", penwidth=3, color=chocolate3" if edge.forced and len(edge.run) > 1 else ""
        lines.append(f"    {edge.src} -> {edge.dst} [label={_quoted(label(edge))}{thick}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    return '"' + readable(text).replace("\\", "\\\\").replace('"', '\\"') + '"'
