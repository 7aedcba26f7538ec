"""Drawings as Mermaid flowcharts, for Markdown that renders them."""

from __future__ import annotations

from interlock.drawing.simplified_automaton import Graph, label
from interlock.drawing.structure import Cards
from interlock.drawing.theme import readable


def structure_mermaid(structure: Cards) -> str:
    """The cards of a structure, each as one node."""
    lines = ["flowchart LR"]
    for number, card in enumerate(structure.cards):
        rows = [f"<b>{_text(card.title)}</b> <i>{_text(card.kind)}</i>"]
        for row in card.rows:
            name = f"<b>{_text(row.name)}</b> *" if row.required else _text(row.name)
            rows.append(f"{name}: {_text(row.type)}" if row.name else _text(row.type))
        rows += [f"<i>{_text(note)}</i>" for note in card.notes]
        lines.append(f'    c{number}["{"<br/>".join(rows)}"]')
    for number, card in enumerate(structure.cards):
        for row in card.rows:
            if row.target is not None:
                arrow = "-.->" if row.again else "-->"
                name = f'|"{_text(row.name)}"| ' if row.name else " "
                lines.append(f"    c{number} {arrow}{name}c{row.target}")
    return "\n".join(lines) + "\n"


def automaton_mermaid(graph: Graph) -> str:
    """States as circles, accepting ones as double circles; thick arrows are forced runs."""
    lines = ["flowchart LR", "    start(( )) --> s0"]
    for state in graph.states:
        lines.append(f"    s{state}((({state})))" if state in graph.accepting else f"    s{state}(({state}))")
    for edge in graph.edges:
        arrow = "==>" if edge.forced and len(edge.run) > 1 else "-->"
        lines.append(f'    s{edge.src} {arrow}|"{_text(label(edge))}"| s{edge.dst}')
    return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    """Text inside quotes: everything that Mermaid or HTML could read becomes a character reference."""
    return "".join(c if c.isalnum() or c in " .,:_-+|" or ord(c) > 0x7F else f"#{ord(c)};" for c in readable(text))
