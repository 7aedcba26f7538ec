"""Compile one source to an artifact that Index.load reads.

interlock compile order.json -t tokenizer.json -o order.index
interlock compile pattern:'\\d{4}-\\d\\d' -t bytes -o date.index
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from interlock.cli import exits, files, sources, vocabularies
from interlock.cli.output import Output, facts, size


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    sources.add_arguments(parser)
    vocabularies.add_arguments(parser, required=True)
    parser.add_argument("-o", "--out", metavar="FILE", required=True, help="the file to write")


def run(args: argparse.Namespace, output: Output) -> int:
    """Compile, and write the file whole or not at all."""
    source = sources.read(args.source, args)
    vocabulary = vocabularies.read(args)
    began = time.perf_counter()
    index = source.compile(vocabulary)
    milliseconds = (time.perf_counter() - began) * 1e3
    files.write(args.out, index.save)
    written = Path(args.out).stat().st_size
    machine = {
        "file": args.out,
        "bytes": written,
        "fingerprint": index.fingerprint,
        "milliseconds": round(milliseconds, 3),
    }
    rows = [
        ("file", args.out),
        ("size", size(written)),
        ("fingerprint", index.fingerprint),
        ("compiled in", f"{milliseconds:.2f} ms"),
    ]
    output.result(machine, facts(rows))
    return exits.OK
