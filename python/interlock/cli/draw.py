"""Draw a source: the structure of a schema or a grammar, the automaton of a pattern.

  interlock draw order.json -o order.html
  interlock draw order.json -o order.svg
  interlock draw pattern:'(GET|POST) /[a-z]+' -o request.html
  interlock draw order.json --form jumps --whitespace compact -o states.svg
  interlock draw order.json -o order.mmd

The end of the name says the format: .html (zoom at the pointer, drag, tooltips, an output with what is forced in it),
.svg, .mmd (Mermaid) or .dot (Graphviz). Of a schema, boxes show objects, their keys and types, and alternatives; of a
grammar, rules with their alternatives, and the terminals. --form
jumps draws the automaton with forced runs as single edges, --form states all of its states; characters beyond ASCII are
drawn as characters, not as bytes, and states that differ by how many more characters may follow are one in jumps.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import interlock
from interlock.cli import exits, atomic_files, sources, vocabularies
from interlock.cli.output import Output, facts, size
from interlock.cli.number_arguments import at_least
from interlock.drawing import FORMS, SUFFIXES, draw
from interlock.drawing.drawn import MOST_STATES
from interlock.output_types import Grammar


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    sources.add_arguments(parser)
    parser.add_argument("-o", "--out", metavar="FILE", required=True, help="a file .html, .svg, .mmd or .dot")
    parser.add_argument(
        "--form", choices=FORMS, help="default: structure of a schema or a grammar, jumps of anything else"
    )
    parser.add_argument(
        "--max-states",
        type=at_least(1),
        metavar="N",
        help="of automata: states over bytes at most (default: 2000)",
    )


def run(args: argparse.Namespace, output: Output) -> int:
    """Explore, lay out, write."""
    suffix = Path(args.out).suffix.lower()
    if suffix not in SUFFIXES:
        raise exits.UsageError(f"--out {args.out}: the name must end in {', '.join(SUFFIXES)}")
    source = sources.read(args.source, args)
    if args.form == "structure" and source.kind not in ("json_schema", "grammar"):
        raise exits.UsageError(
            "--form structure: only a schema or a grammar has a structure; leave it out, or take jumps or states"
        )
    if source.kind == "structural_tag":
        raise exits.UsageError("a structural tag cannot be drawn; trace shows a text under it, token by token")
    if source.kind == "grammar" and args.form not in (None, "structure"):
        raise exits.UsageError(f"--form {args.form}: a grammar has no finite automaton; leave it out")
    drawn: interlock.Index | Grammar | None = _grammar(source) if source.kind == "grammar" else None
    if drawn is None:
        index = source.compile(vocabularies.byte_vocabulary())
        sources.remarks(source, index, output)
        drawn = index
    drawing = draw(drawn, args.form, args.source, MOST_STATES if args.max_states is None else args.max_states)
    if args.max_states is not None and drawing.form == "structure":
        raise exits.UsageError("--max-states is for automata: leave it out, or give --form jumps or states")
    atomic_files.write_text(args.out, drawing.text(suffix))
    written = Path(args.out).stat().st_size
    machine = {"file": args.out, "bytes": written, "form": drawing.form, **drawing.counts()}
    shown = {**machine, "bytes": size(written)}
    output.result(machine, facts([(name.replace("_", " "), str(value)) for name, value in shown.items()]))
    return exits.OK


def _grammar(source: sources.Source) -> Grammar | None:
    """A grammar whose special tokens bytes cannot spell, which is drawn from its text alone."""
    try:
        source.compile(vocabularies.byte_vocabulary())
    except interlock.VocabularyError:
        options = {name: value for name, value in source.options.items() if name != "limits"}
        return Grammar(source.text, **options)
    return None
