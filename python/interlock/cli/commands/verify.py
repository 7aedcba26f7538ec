"""Check every pack of a store, from its first byte to its last. Nothing is changed.

  interlock verify store/

Exit code 0: all are sound; 1: some are damaged, or were made by another version, or there are none. precompute
replaces damaged packs of a folder when it is run again; remove the others. 4: the folder is no store.
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

import interlock
from interlock.cli.terminal import exits
from interlock.cli.terminal.output import Output, facts, size
from interlock.cli.terminal.style import BAD, Line
from interlock.store import VOCABULARIES

WHAT = "a store is a folder that interlock precompute wrote"


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("store", metavar="STORE", help="the folder of the store, or its URL")


def run(args: argparse.Namespace, output: Output) -> int:
    """Check and report."""
    if "://" not in args.store and not Path(args.store).is_dir():
        raise exits.InputError(f"{args.store} is no folder: {WHAT}", _way(args.store))
    with exits.around_source():
        store = interlock.Store(args.store)
    problems = store.verify()
    entries = store.entries()
    if not entries and not problems:
        if "://" not in args.store and not (Path(args.store) / VOCABULARIES).is_dir():
            raise exits.InputError(f"{args.store} is no store, it holds no packs: {WHAT}", _way(args.store))
        problems = ["the store holds no packs"]
    total = sum(entry.bytes for entry in entries)
    machine = {"store": args.store, "packs": len(entries), "bytes": total, "problems": problems}
    people = facts([("packs", str(len(entries))), ("size", size(total)), ("problems", str(len(problems)))])
    output.answer(machine, people + [Line((f"  {problem}", BAD)) for problem in problems])
    return exits.NO if problems else exits.OK


def _way(name: str) -> str:
    """What to do with what is no store."""
    quoted = shlex.quote(name)
    if name.endswith(".index") and Path(name).is_file():
        return f"interlock inspect {quoted}, which reads an index file"
    if not Path(name).exists():
        return "check the spelling of the path; interlock precompute SOURCES -t FILE -o STORE writes a store"
    return f"interlock precompute {quoted} -t FILE -o STORE makes a store of sources, which verify then checks"
