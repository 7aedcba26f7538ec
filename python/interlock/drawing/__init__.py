"""Drawings of sources: the structure of a schema or a grammar, the automaton of a pattern.

>>> import interlock.drawing
>>> drawing = interlock.drawing.draw({"properties": {"item": {"type": "string"}}})
>>> drawing.form, "item" in drawing.svg(), drawing.mermaid().splitlines()[0]
('structure', True, 'flowchart LR')

In a notebook, the value of ``draw`` shows itself. ``save`` writes SVG, HTML (zoom, tooltips, light and dark), Mermaid
or DOT, by the end of the name.
"""

from interlock.drawing.drawing import FORMS, SUFFIXES, Drawing, draw

__all__ = ["FORMS", "SUFFIXES", "Drawing", "draw"]
