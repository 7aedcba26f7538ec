"""Draw a source: the structure of a schema or a grammar, the automaton of a pattern.

  interlock draw order.json -o order.html
  interlock draw order.json -o order.svg
  interlock draw pattern:'(GET|POST) /[a-z]+' -o request.html
  interlock draw order.json --form jumps --whitespace compact -o states.svg
  interlock draw order.json -o order.mmd
  interlock draw order.json --format dot -o - | dot -Tpdf > order.pdf

The end of the name says the format, or --format does: html (zoom at the pointer, drag, tooltips, an output with what is
forced in it), svg, mmd (Mermaid) or dot (Graphviz); - is the standard output.

Of a schema, boxes show objects, their keys and types, and alternatives; of a grammar, rules with their alternatives,
and the terminals; of a structural tag, and of tools, those of its grammar. --form jumps draws the automaton with forced
runs as single edges, --form states all of its states; characters beyond ASCII are drawn as characters, not as bytes,
and states that differ by how many more characters may follow are one in jumps.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path

import interlock
from interlock.cli.arguments.number_arguments import at_least
from interlock.cli.comparing import recursion
from interlock.cli.comparing.open_objects import has_open_objects
from interlock.cli.comparing.whole_schemas import whole
from interlock.cli.sources import kind_options, overwriting, source_notes, vocabularies
from interlock.cli.sources import source_arguments as sources
from interlock.cli.terminal import atomic_files, exits, streams
from interlock.cli.terminal.output import Output, facts, size
from interlock.cli.terminal.place_in_source import PlaceInSource
from interlock.cli.terminal.style import NOTE, Line
from interlock.drawing import FORMS, SUFFIXES, draw
from interlock.drawing.drawing import MOST_STATES
from interlock.output_types import Grammar
from interlock.tools.tags.tag_index import grammar_of_any_vocabulary
from interlock.util.near_words import nearest
from interlock.util.plurals import counted

OTHER_ENDINGS = {".mermaid": ".mmd", ".md": ".mmd", ".gv": ".dot", ".graphviz": ".dot", ".htm": ".html"}
"""Other endings of the formats, and those that are written here."""
FEW_STATES = 4000
"""States that are drawn in seconds."""
MANY_STATES = 100_000
"""A limit of states up to which the search for them alone may take long."""
STATE_BYTES = 7_000
"""What a state takes in a file, with its edges, where a drawing has many."""
FORMATS = tuple(suffix[1:] for suffix in SUFFIXES)


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    sources.add_arguments(parser)
    parser.add_argument("-o", "--out", metavar="FILE", required=True, help="a file, or - for the standard output")
    overwriting.add_force(parser)
    parser.add_argument(
        "--format",
        type=lambda word: OTHER_ENDINGS.get(f".{word}", f".{word}")[1:],
        choices=FORMATS,
        help="default: by the end of the file's name",
    )
    parser.add_argument(
        "--form", choices=FORMS, help="default: structure of a schema or a grammar, jumps of anything else"
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="of structures: every box, row and value (default: 80 boxes of 40 rows, and values as a row holds them)",
    )
    parser.add_argument(
        "--max-states",
        type=at_least(1),
        metavar="N",
        help="of automata: states over bytes at most (default: 2000)",
    )


def run(args: argparse.Namespace, output: Output) -> int:
    """Explore, lay out, write."""
    suffix = _suffix(args, output)
    source = sources.read(args.source, args)
    if args.form == "structure" and source.kind not in ("json_schema", "grammar", "structural_tag", "tools"):
        raise exits.UsageError(
            "--form structure: only a schema or a grammar has a structure; leave it out, or take jumps or states"
        )
    if source.kind == "grammar" and args.form not in (None, "structure"):
        raise exits.UsageError(f"--form {args.form}: a grammar has no finite automaton; leave it out")
    drawn: interlock.Index | Grammar | None = None
    if source.kind == "grammar":
        drawn = _grammar(source)
    elif source.kind == "structural_tag":
        drawn = _tag(source)
    elif source.kind == "tools":
        drawn = _tools(source, output)
    if source.kind in ("structural_tag", "tools") and drawn is not None and args.form not in (None, "structure"):
        what = kind_options.NAMES[source.kind]
        raise exits.UsageError(f"--form {args.form}: {what} has no finite automaton; leave it out")
    if drawn is None:
        index = source.compile(vocabularies.byte_vocabulary())
        source_notes.say_notes(source, index, output)
        drawn = index
    most = MOST_STATES if args.max_states is None else args.max_states
    if most >= MANY_STATES:
        output.note(Line(("note: ", NOTE), f"looking for up to {most} states may take minutes before any is drawn"))
    with _limits(source, args.max_states):
        drawing = draw(drawn, args.form, args.source, most, args.all)
        if suffix in (".svg", ".html") and drawing.form != "structure":
            states = len((drawing.jumps if drawing.form == "jumps" else drawing.states).states)
            if states > FEW_STATES:
                said = f"laying out {states} states may take minutes; as .mmd or .dot they take seconds"
                output.note(Line(("note: ", NOTE), said))
        text = drawing.text(suffix)
    if args.max_states is not None and drawing.form == "structure":
        raise exits.UsageError("--max-states is for automata: leave it out, or give --form jumps or states")
    if args.all and drawing.form != "structure":
        raise exits.UsageError("--all is for structures: leave it out; --max-states N draws larger automata")
    if args.out in atomic_files.STANDARD_OUTPUT:
        streams.write(text)
        if missing := drawing.counts().get("left_out"):
            said = f"{missing} boxes, rows or values are left out of the drawing; --all draws them"
            output.note(Line(("note: ", NOTE), said))
        return exits.OK
    atomic_files.write_text(args.out, text)
    written = Path(args.out).stat().st_size
    machine = {"file": args.out, "bytes": written, "form": drawing.form, **drawing.counts()}
    shown = {"file": args.out, "size": size(written), "form": drawing.form, **drawing.counts()}
    if shown.get("left_out"):
        shown["left_out"] = f"{shown['left_out']} boxes, rows or values; --all draws them"
    output.answer(machine, facts([(name.replace("_", " "), str(value)) for name, value in shown.items()]))
    return exits.OK


def _suffix(args: argparse.Namespace, output: Output) -> str:
    """The ending of the format that is asked for."""
    if args.out in atomic_files.STANDARD_OUTPUT:
        if output.json:
            raise exits.UsageError("--json and the drawing both want the standard output: name a file with -o")
        if args.format is None:
            raise exits.UsageError(
                f"-o {args.out} has no ending that says the format", "--format dot, svg, mmd or html"
            )
        return f".{args.format}"
    atomic_files.refuse_folder(args.out)
    suffix = Path(args.out).suffix.lower()
    if args.format is not None:
        if suffix in SUFFIXES and suffix != f".{args.format}":
            raise exits.UsageError(f"{args.out} ends in {suffix}, and --format says {args.format}: leave out --format")
        return f".{args.format}"
    if suffix not in SUFFIXES:
        meant = OTHER_ENDINGS.get(suffix) or nearest(suffix, SUFFIXES)
        if meant:
            named = Path(args.out).with_suffix(meant)
            raise exits.UsageError(
                f"--out {args.out}: the name must end in {', '.join(SUFFIXES)}",
                f"did you mean {named}? --format {meant[1:]} writes that format under any name",
            )
        raise exits.UsageError(
            f"--out {args.out}: the name must end in {', '.join(SUFFIXES)}", "-o NAME.html, or --format html"
        )
    return suffix


@contextlib.contextmanager
def _limits(source: sources.Source, max_states: int | None) -> Iterator[None]:
    """Say of a source with too many states what helps here."""
    try:
        yield
    except interlock.LimitError as error:
        if "states" not in str(error):
            raise
        if recursion.recurses(source):
            message = f"{source.name} recurses, so its automaton has no end and cannot be drawn"
            raise interlock.UnsupportedError(message) from error
        raise _too_large(error, source, max_states) from error


def _more_states(count: int) -> str:
    """The option that draws so many states, with what it costs where that is much."""
    if count <= FEW_STATES:
        return f"--max-states {count} draws it"
    return f"--max-states {count} may take minutes and write up to {-(-count * STATE_BYTES // 10**6)} MB"


def _too_large(error: interlock.LimitError, source: sources.Source, max_states: int | None) -> interlock.LimitError:
    """The same error in the words of a drawing, with the option that helps."""
    told = str(error)
    said = f"the automaton of {source.name} is too large to draw: "
    ways, is_open = [], False
    if source.kind == "json_schema":
        ways.append("--form structure draws a schema of any size")
        if is_open := has_open_objects(whole(source)):
            ways.append('"additionalProperties": false beside each "properties" makes far fewer states')
        elif source.options.get("whitespace") != "compact":
            ways.append("--whitespace compact makes fewer states")
        elif source.options.get("spelling") != "plain":
            ways.append("--spelling plain makes fewer states")
    if "of the automaton" in told:
        said += f"{counted(error.value or 0, 'state')}, and {error.limit} at most are drawn"
        ways.insert(0 if (error.value or 0) <= FEW_STATES else len(ways), _more_states(error.value or 0))
    else:
        said += f"more than {error.limit} {'transitions' if 'transitions' in told else 'states'}"
        said += ", since any key may come beside the named ones of an object" if is_open else ""
        if source.kind != "json_schema" or error.limit in source.options.get("limits", {}).values():
            both = f", and --max-states N draws more than {MOST_STATES} of them" if max_states is None else ""
            ways.append(f"--limit max_flat_states=N takes more{both}")
    remedy = "; ".join(ways)
    made = interlock.LimitError(said)
    made.limit, made.value = error.limit, error.value
    made.located = PlaceInSource("", 0, 0, remedy, found=False)  # type: ignore[attr-defined]
    return made


def _grammar(source: sources.Source) -> Grammar | None:
    """A grammar whose special tokens bytes cannot spell, which is drawn from its text alone."""
    try:
        source.compile(vocabularies.byte_vocabulary())
    except interlock.VocabularyError:
        options = {name: value for name, value in source.options.items() if name != "limits"}
        return Grammar(source.text, **options)
    return None


def _tag(source: sources.Source) -> Grammar | None:
    """The grammar of a structural tag; ``None`` where its whole output is one document, which its index draws."""
    text = grammar_of_any_vocabulary(source.text)
    if text is None:
        return None
    # What is wrong with a tag is said with its place in the tag.
    interlock.check_structural_tag(source.text, **source.options)
    return Grammar(text, lexer="any")


def _tools(source: sources.Source, output: Output) -> Grammar | None:
    """The grammar of the structural tag that a list of tools asks for; ``None`` where the whole output is one document,
    which the index draws.
    """
    from interlock.tools import structural_tag

    options = {name: value for name, value in source.options.items() if name != "limits"}
    # What is wrong with a tool is said with its place in the list.
    index = source.compile(vocabularies.byte_vocabulary())
    text = grammar_of_any_vocabulary(structural_tag(source.text, **options))
    if text is None:
        return None
    source_notes.say_notes(source, index, output)
    return Grammar(text, lexer="any")
