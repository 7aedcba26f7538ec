"""Walk documents or texts through a source, and say where and why they are refused.

  interlock check order.json answer.json
  interlock check pattern:'\\d{4}-\\d\\d' --text 2026-7
  interlock check order.json --ids 5018,606,794 -t tokenizer.json --trace
  interlock check order.json answers.jsonl answers/ 'more/**/*.json'

Accepted is what could be generated: keys in the order of the schema, say. --valid takes all that is valid, in any order
and spelling. Exit code 0: accepted; 1: refused. A file's last newline counts only where it is asked for. Of several
FILEs, folders, globs, --text, and the lines of .jsonl or .ndjson files (--lines: of any), each has a line.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from interlock.cli.checking import check_many, document_files, text_arguments
from interlock.cli.checking.final_newline import walk_either
from interlock.cli.checking.validity import in_any_form
from interlock.cli.checking.verdict import MOST, Walker
from interlock.cli.checking.walk import Speller
from interlock.cli.sources import source_arguments as sources
from interlock.cli.sources import source_notes, vocabularies
from interlock.cli.sources.kind_options import NAMES
from interlock.cli.sources.pattern_notes import say_pattern_notes
from interlock.cli.terminal import exits, style
from interlock.cli.terminal.output import Output
from interlock.cli.terminal.style import NAME, NOTE, TRY, Line


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    sources.add_arguments(parser)
    parser.add_argument(
        "given",
        metavar="FILE",
        nargs="*",
        default=[],
        help="the document; a folder; a glob; - is the standard input (repeatable)",
    )
    parser.add_argument("--valid", action="store_true", help="of a schema: take every valid document, however written")
    parser.add_argument("--text", action="append", help="the document itself (repeatable)")
    parser.add_argument("--ids", metavar="IDS", help="token ids with commas, as a model produced them")
    parser.add_argument(
        "--lines", action="store_true", help="each FILE has a document on each line; --json then writes JSON Lines"
    )
    parser.add_argument("--only-refused", action="store_true", help="say nothing of documents that are accepted")
    parser.add_argument("--summary", action="store_true", help="of several: how many of each, and the reasons, counted")
    parser.add_argument(
        "--all-reasons", action="store_true", help="every reason; of several documents, a line for each"
    )
    parser.add_argument("--trace", action="store_true", help="a line for every token: what was allowed before it")
    parser.add_argument("--bytes", action="store_true", help="show the refused token and byte, and those allowed there")
    parser.add_argument("--junit", metavar="FILE", help="also write the answers as JUnit XML, as CI systems read it")
    vocabularies.add_arguments(parser)


def run(args: argparse.Namespace, output: Output) -> int:
    """Walk and report."""
    text_arguments.one_of(args, {"FILE": args.given, "--text": args.text, "--ids": args.ids})
    if args.lines and not args.given:
        raise exits.UsageError("--lines is for a FILE: leave it out")
    if args.junit is not None and args.ids is not None:
        raise exits.UsageError("--junit is for documents and texts: leave it out, or give FILE or --text")
    if args.summary and (args.ids is not None or args.only_refused):
        other = "--ids are of one output" if args.ids is not None else "--only-refused leaves out lines that it has not"
        raise exits.UsageError(f"--summary counts documents, and {other}: leave out one of the two")
    if args.summary and args.all_reasons:
        raise exits.UsageError("--summary counts the reasons, and --all-reasons lists them: leave out one of the two")
    args.many = args.junit is not None or any(map(document_files.is_many, args.given))
    source = text_arguments.in_order(args)
    if args.valid:
        source = _any_form(args, source)
    reached = getattr(source.options.get("documents"), "paths", {}).values()
    args.left_out = document_files.left_out(args.given, source.kind)
    if args.left_out:
        output.note(Line(("note: ", NOTE), document_files.said_of(args.left_out)))
    args.given = document_files.expanded(args.given, args.source, source.kind, reached)
    vocabulary = vocabularies.read(args)
    if check_many.asked(args):
        return check_many.run(args, output, source, vocabulary)
    given, text = next(iter(args.given), None), next(iter(args.text or ()), None)
    ids: list[int] = []
    newline = b""
    if args.ids is not None:
        ids = text_arguments.token_ids(args, vocabulary)
        data = vocabulary.decode(ids)
    elif text is not None:
        data = text_arguments.of_text(text)
    else:
        data, newline = text_arguments.of_file_and_newline(given or "")
    speller = Speller(vocabulary)
    speller.spell(data)  # What no token spells is said before anything is compiled.
    index = source.compile(vocabulary)
    unknown = source_notes.say_notes(source, index, output)
    say_pattern_notes(source, output)
    if swapped := text_arguments.swapped_perhaps(args):
        output.note(Line(("warning: ", TRY), swapped))
    trace: list[dict[str, Any]] | None = [] if args.trace else None
    named = given is not None and given != "-"
    file = str(given) if named else ""
    walker = Walker(source, index, args.valid, file, None if args.all_reasons else MOST)
    if args.ids is not None:
        verdict = walker.walk(ids, data, trace, args.bytes)
    else:
        verdict = walk_either(walker, speller, data, newline, trace, args.bytes)
    if not verdict.accepted and given is not None and source.kind == "json_schema" and check_many.is_lines(data):
        verdict.people.append(Line(("  try: ", TRY), "--lines takes each line as a document of its own"))
    if not verdict.accepted and given is not None and source.kind == "json_schema":
        verdict.people += _yaml_answer(given, data)
    if named and not verdict.accepted:  # As where several files are given.
        is_one = len(verdict.machine.get("problems", ())) == 1
        place = f"{file}:{verdict.line}:{verdict.column}" if verdict.line and is_one else file
        verdict.people[:1] = style.fitting(Line((place, NAME), ": ") + verdict.people[0], sys.stdout)
    machine = (
        ({"name": given} if named else {})
        | verdict.machine
        | {name: found for name, found in unknown.items() if found}
        | ({"trace": trace} if trace else {})
    )
    people = [] if args.only_refused and verdict.accepted else verdict.people
    output.answer(machine, [*map(_step, trace or ()), *people])
    return exits.OK if verdict.accepted else exits.NO


def _any_form(args: argparse.Namespace, source: sources.Source) -> sources.Source:
    """The source of --valid. ``UsageError`` beside what is about the form or about tokens."""
    if source.kind != "json_schema":
        raise exits.UsageError(f"--valid is for a JSON Schema, and {args.source} is {NAMES[source.kind]}: leave it out")
    about = {name: getattr(args, name.removeprefix("--").replace("-", "_")) for name in _OF_FORM}
    given = [name for name, value in about.items() if value not in (None, False, vocabularies.BYTES)]
    if given:
        raise exits.UsageError(f"--valid takes documents however they are written: leave out it or {given[0]}")
    return in_any_form(source)


_OF_FORM = ("--property-order", "--whitespace", "--spelling", "--tokenizer", "--ids", "--trace", "--bytes")
"""Options that are about how documents are written, or about their tokens."""


def _yaml_answer(given: str, data: bytes) -> list[Line]:
    """What to do about an answer in YAML; nothing about others."""
    from interlock.cli.sources.yaml_files import from_yaml, is_yaml_answer

    try:
        json.loads(data)
    except (ValueError, RecursionError):
        if is_yaml_answer(given, data):
            return [Line(("  try: ", TRY), "this is YAML, and answers are JSON: " + from_yaml(given, "check"))]
    return []


def _step(step: dict[str, Any]) -> Line:
    """A token in one line: what was allowed before it."""
    line = f"{step['at']:>6}  token {step['token']:<7} {step['text']:<20} {step['allowed']:>7} allowed"
    return Line(line + (f", forced text {step['forced_text']}" if step["forced_text"] != '""' else ""))
