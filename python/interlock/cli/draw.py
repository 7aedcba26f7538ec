"""Draw the automaton of a source, and its compressed form with forced runs as thick edges.

  interlock draw order.json -o order.svg
  interlock draw pattern:'(GET|POST) /[a-z]+' -o request.html
  interlock draw order.json --form states --whitespace compact -o states.svg

An .html file holds both forms, to be zoomed and dragged; an .svg file the one that --form names. Characters beyond
ASCII are drawn as characters, not as bytes. A blank is written as a small open box. In the compressed form, states that
differ by how many more characters may follow are one state, with a loop that says how many.
"""

from __future__ import annotations

import argparse

from interlock.cli import exits, files, sources, vocabularies
from interlock.cli.graph import bytewise, characters, counted, jumps
from interlock.cli.output import Output, facts
from interlock.cli.svg import page, svg


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    sources.add_arguments(parser)
    parser.add_argument("-o", "--out", metavar="FILE", required=True, help="an .svg or .html file")
    parser.add_argument("--form", choices=["jumps", "states"], default="jumps", help="what an .svg file shows")
    parser.add_argument(
        "--max-states", type=int, default=2000, metavar="N", help="states over bytes at most (default: 2000)"
    )


def run(args: argparse.Namespace, output: Output) -> int:
    """Explore, lay out, write."""
    if not args.out.endswith((".svg", ".html")):
        raise exits.UsageError(f"--out {args.out}: the name must end in .svg or .html")
    index = sources.read(args.source, args).compile(vocabularies.byte_vocabulary())
    full = characters(*bytewise(index.automaton(args.max_states)))
    short = jumps(counted(full))
    if args.out.endswith(".html"):
        drawings = [("Forced runs as single edges", svg(short, args.source)), ("All states", svg(full, args.source))]
        text = page(drawings, args.source)
    else:
        text = svg(short if args.form == "jumps" else full, args.source)
    files.write_text(args.out, text)
    forced = sum(edge.forced for edge in short.edges)
    machine = {
        "file": args.out,
        "states": len(full.states),
        "edges": len(full.edges),
        "compressed_states": len(short.states),
        "compressed_edges": len(short.edges),
        "forced_characters": forced,
    }
    counts = [(name.replace("_", " "), str(value)) for name, value in machine.items()]
    output.result(machine, facts(counts))
    return exits.OK
