"""Compile one source to an artifact that Index.load reads.

The artifact holds the index's tables where it has few states, so that loading it compiles nothing, and the tables of
its first states otherwise.

  interlock compile order.json -t tokenizer.json -o order.index
  interlock compile pattern:'\\d{4}-\\d\\d' -t bytes -o date.index
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import interlock
from interlock.cli.sources import overwriting, source_notes, vocabularies
from interlock.cli.sources import source_arguments as sources
from interlock.cli.terminal import atomic_files, exits
from interlock.cli.terminal.output import Output, decimal, facts, size
from interlock.core_methods import index_files
from interlock.util.plurals import counted


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    sources.add_arguments(parser)
    vocabularies.add_arguments(parser, required=True)
    parser.add_argument("-o", "--out", metavar="FILE", required=True, help="the file to write")
    overwriting.add_force(parser)
    parser.add_argument("--no-tables", action="store_true", help="store what the index is compiled from, and no tables")


def run(args: argparse.Namespace, output: Output) -> int:
    """Compile, and write the file whole or not at all."""
    source = sources.read(args.source, args)
    vocabulary = vocabularies.read(args)
    began = time.perf_counter()
    index = source.compile(vocabulary)
    milliseconds = (time.perf_counter() - began) * 1e3
    unknown = source_notes.say_notes(source, index, output)
    atomic_files.write(args.out, lambda path: index_files.plain_save(index, path, tables=not args.no_tables))
    stored = interlock.Index.load(args.out, vocabulary)
    states = stored.num_states if index_files.has_tables(index, args.out) else None
    written = Path(args.out).stat().st_size
    machine = {
        "file": args.out,
        "bytes": written,
        "fingerprint": index.fingerprint,
        "states": states,
        "complete": stored.is_complete,
        "milliseconds": round(milliseconds, 3),
        **unknown,
    }
    tables = "none"
    if states is not None:
        tables = f"{counted(states, 'state')}, " + ("complete" if stored.is_complete else "the first ones")
    elif not args.no_tables and (missing := index_files.missing_bytes(vocabulary)):
        tables += f": the vocabulary has no token for {len(missing)} single bytes"
    rows = [
        ("file", args.out),
        ("size", size(written)),
        ("fingerprint", index.fingerprint),
        ("tables", tables),
        ("compiled in", f"{decimal(milliseconds)} ms"),
    ]
    output.answer(machine, facts(rows))
    return exits.OK
