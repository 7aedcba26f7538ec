"""What ``draw`` returns."""

from __future__ import annotations

import contextlib
import json
import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import interlock
from interlock._recipe import Recipe, byte_vocabulary
from interlock.drawing.automaton_svg import automaton_svg
from interlock.drawing.dot import automaton_dot, structure_dot
from interlock.drawing.forced_runs import Run, example_runs, forced_otherwise
from interlock.drawing.grammar_structure import GrammarStructure
from interlock.drawing.mermaid import automaton_mermaid, structure_mermaid
from interlock.drawing.page import AUTOMATON_LEGEND, GRAMMAR_LEGEND, STRUCTURE_LEGEND, Page, View
from interlock.drawing.simplified_automaton import Graph, bytewise, characters, counted, jumps
from interlock.drawing.structure import Cards, Structure, loads
from interlock.drawing.structure_svg import structure_svg
from interlock.output_types import Grammar
from interlock.util.argument_types import require
from interlock.util.quoting import shortened

FORMS = ("structure", "jumps", "states")
"""What can be drawn: the structure of a schema or a grammar, the automaton with forced runs as single edges, the
automaton.
"""
SUFFIXES = (".svg", ".html", ".mmd", ".dot")
MOST_STATES = 2000
SMALL = 150
"""Edges of an automaton that an HTML page shows beside the compressed form."""


@dataclass
class Drawing:
    """A drawing of a source in one of ``FORMS``. It is made when it is first asked for."""

    recipe: Recipe
    form: str
    title: str
    max_states: int = MOST_STATES
    everything: bool = False

    @cached_property
    def structure(self) -> Cards:
        """The cards of a schema or a grammar."""
        if self.recipe.method == "from_grammar":
            options = self.recipe.options
            return GrammarStructure(self.recipe.source, options["syntax"], options["start"], self.everything)
        documents = {uri: loads(text) for uri, text in self.recipe.options["documents"].items()}
        return Structure(loads(self.recipe.source), documents, _short(self.title), self.everything)

    @cached_property
    def states(self) -> Graph:
        """The automaton over characters. ``LimitError`` if it has more than ``max_states`` states over bytes."""
        return characters(*bytewise(self.recipe.compile().automaton(self.max_states)))

    @cached_property
    def jumps(self) -> Graph:
        """The automaton with forced runs as single edges."""
        return jumps(counted(self.states))

    @cached_property
    def runs(self) -> list[Run]:
        """A plausible output, as stretches that are forced and stretches that are chosen."""
        return example_runs(self.recipe)

    def svg(self) -> str:
        """The drawing as SVG. It needs nothing else, and follows the reader's light or dark mode."""
        if self.form == "structure":
            return structure_svg(self.structure, self.title)
        return automaton_svg(self.jumps if self.form == "jumps" else self.states, self.title)

    def html(self) -> str:
        """A page with the drawing, an output, and a legend; the wheel zooms, dragging moves. It loads nothing."""
        if self.form == "structure":
            legend = GRAMMAR_LEGEND if self.recipe.method == "from_grammar" else STRUCTURE_LEGEND
            views = [View("Structure", self.svg(), legend)]
        elif self.form == "states":
            views = [View("All states", self.svg(), AUTOMATON_LEGEND)]
        else:
            views = [View("Automaton, forced runs as single edges", self.svg(), AUTOMATON_LEGEND)]
            if len(self.jumps.edges) < len(self.states.edges) <= SMALL:
                drawing = automaton_svg(self.states, self.title)
                views.append(View("All states", drawing, AUTOMATON_LEGEND, 50))
        return Page(self.title, self.about, views, self.runs, forced_otherwise(self.recipe, self.runs)).html()

    def mermaid(self) -> str:
        """The drawing as a Mermaid flowchart."""
        if self.form == "structure":
            return structure_mermaid(self.structure)
        return automaton_mermaid(self.jumps if self.form == "jumps" else self.states)

    def dot(self) -> str:
        """The drawing in Graphviz's language."""
        if self.form == "structure":
            return structure_dot(self.structure, self.title)
        return automaton_dot(self.jumps if self.form == "jumps" else self.states, self.title)

    def text(self, suffix: str) -> str:
        """The drawing as a file of this kind holds it; ``ArgumentError`` for a suffix that is not in ``SUFFIXES``."""
        require(suffix=(suffix, "text"))
        makers = {".svg": self.svg, ".html": self.html, ".mmd": self.mermaid, ".dot": self.dot}
        if suffix not in makers:
            raise interlock.ArgumentError(f"a drawing is written to {', '.join(SUFFIXES)}, not to {suffix or 'this'}")
        return makers[suffix]()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing to a file; the end of its name says the format: .svg, .html, .mmd (Mermaid) or .dot."""
        require(path=(path, "path"))
        Path(path).write_text(self.text(Path(path).suffix.lower()), encoding="utf-8")

    @property
    def about(self) -> str:
        """One line about what is drawn."""
        if self.form == "structure":
            cards = len(self.structure.cards)
            rows = sum(len(card.rows) for card in self.structure.cards)
            if self.recipe.method == "from_grammar":
                return (
                    f"grammar, {cards} box{'es' if cards > 1 else ''} with {rows} alternative{'s' if rows != 1 else ''}"
                )
            return f"JSON Schema, {cards} box{'es' if cards > 1 else ''} with {rows} row{'s' if rows != 1 else ''}"
        what = {"from_json_schema": "JSON Schema", "from_regex": "pattern", "from_choices": "choices"}[
            self.recipe.method
        ]
        number = len(self.states.states)
        states = f"{number} state{'s' if number != 1 else ''}"
        return f"{what}, {states}, {len(self.jumps.states)} with forced runs as single edges"

    def counts(self) -> dict[str, int]:
        """The drawing in numbers."""
        if self.form == "structure":
            cards = self.structure.cards
            return {
                "boxes": len(cards),
                "rows": sum(len(card.rows) for card in cards),
                "left_out": self.structure.left_out + self.structure.left_out_inside,
            }
        return {
            "states": len(self.states.states),
            "edges": len(self.states.edges),
            "compressed_states": len(self.jumps.states),
            "compressed_edges": len(self.jumps.edges),
            "forced_characters": sum(edge.forced for edge in self.jumps.edges),
        }

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        # Wider than the notebook, it scrolls; its own rules name nothing outside of it.
        return f'<div style="overflow:auto;max-height:640px">{self.svg()}</div>'

    def __repr__(self) -> str:
        return f"<interlock.drawing.Drawing of {shortened(self.title, 40)!r}: {self.form}>"


def draw(
    source: Any,
    form: str | None = None,
    title: str | None = None,
    max_states: int = MOST_STATES,
    everything: bool = False,
) -> Drawing:
    """A drawing of an index or of a source.

    ``source`` is an ``Index``, a JSON Schema (a ``dict``, a ``bool``, ``bytes``, a pydantic class, or the text of an
    object), a pattern (a ``re.Pattern``, or any other ``str``) or a list of choices. ``form`` is ``"structure"`` (of
    schemas alone, and their default), ``"jumps"`` (the automaton over characters, forced runs as single edges) or
    ``"states"`` (all of its states); these two are refused with ``LimitError`` beyond ``max_states`` states over bytes.
    Of a structure with many boxes, rows or values the first are drawn, and ``counts()["left_out"]`` says how many are
    not; ``everything`` draws all of them.

    Errors of a source are those of the ``Index`` method that compiles it; ``ArgumentError`` for a form that does not
    exist or does not fit. Costs milliseconds for a structure.
    """
    require(title=(title, "text?"), max_states=(max_states, "count"), everything=(everything, "flag"))
    recipe = _recipe(source)
    structured = recipe.method in ("from_json_schema", "from_grammar")
    fitting = "structure" if structured else "jumps"
    form = form or fitting
    if form not in FORMS:
        raise interlock.ArgumentError(f"form is one of {', '.join(FORMS)}, not {form!r}")
    if form == "structure" and fitting != form:
        raise interlock.ArgumentError("only a schema or a grammar has a structure; form is jumps or states here")
    if recipe.method == "from_grammar" and form != fitting:
        raise interlock.ArgumentError("a grammar has no finite automaton; form is structure here")
    return Drawing(recipe, form, title or _title(recipe), max_states, everything)


def _recipe(source: Any) -> Recipe:
    if isinstance(source, Grammar):
        options = dict.fromkeys(("start", "lexer", "imports", "grammars")) | source.options
        # Bytes cannot spell the special tokens that a grammar may name.
        with contextlib.suppress(interlock.VocabularyError):
            source.index(byte_vocabulary())
        return Recipe("from_grammar", source.text, options)
    return Recipe.of(source if isinstance(source, interlock.Index) else _compiled(source))


def _compiled(source: Any) -> interlock.Index:
    if isinstance(source, list):
        return interlock.Index.from_choices(source, byte_vocabulary())
    if isinstance(source, re.Pattern):
        return interlock.Index.from_regex(source, byte_vocabulary())
    if isinstance(source, str) and not source.lstrip().startswith("{"):
        return interlock.Index.from_regex(source, byte_vocabulary())
    if not isinstance(source, str | bytes | dict | bool | type):
        raise interlock.ArgumentError(
            f"source must be an Index, a JSON Schema, a pattern or a list of choices, not {type(source).__name__}"
        )
    return interlock.Index.from_json_schema(source, byte_vocabulary())


def _title(recipe: Recipe) -> str:
    if recipe.method == "from_choices":
        return shortened(", ".join(recipe.source), 60)
    if recipe.method == "from_grammar":
        return "grammar"
    if recipe.method == "from_regex":
        return shortened(str(recipe.source), 80)
    schema = json.loads(recipe.source)
    name = schema.get("title") if isinstance(schema, dict) else None
    return name if isinstance(name, str) and name else "document"


def _short(title: str) -> str:
    """A file's name without folder and ending, as the title of a box."""
    name = title.rpartition("/")[2]
    return re.sub(r"\.(json|schema)$", "", name) if not title.startswith("schema:") else "document"
