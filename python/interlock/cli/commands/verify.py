"""Check every pack of a store, or one file, from its first byte to its last. Nothing is changed.

  interlock verify store/
  interlock verify order.index

Exit code 0: all are sound; 1: some are damaged, or were made by another version, or there are none. precompute
replaces damaged packs of a folder when it is run again; remove the others. 4: this is neither a store nor a file that
compile, precompute or vocab wrote.
"""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path
from typing import Any

import interlock
from interlock import _core
from interlock.cli.sources.vocabularies import is_pack
from interlock.cli.terminal import exits
from interlock.cli.terminal.output import Output, facts, size
from interlock.cli.terminal.style import BAD, Line
from interlock.store import VOCABULARIES

ENDINGS = (".index", ".ilk")
WHAT = "a store is a folder that interlock precompute wrote"


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("store", metavar="STORE", help="the folder of the store, or its URL; an index file; a pack")


def run(args: argparse.Namespace, output: Output) -> int:
    """Check and report."""
    if "://" not in args.store and not Path(args.store).is_dir():
        if os.path.isfile(args.store) and (args.store.lower().endswith(ENDINGS) or is_pack(args.store)):
            return _file(args.store, output)
        raise exits.InputError(f"{args.store} is no index file and no folder: {WHAT}", _way(args.store))
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


def _file(name: str, output: Output) -> int:
    """Check one file, whose kind is written in it."""
    kind, problem = "index", ""
    fingerprint = vocabulary = None
    try:
        vocabulary, fingerprint, _ = _core._verify_pack(name)
    except interlock.ArtifactError as error:
        problem = str(error)
        if "holds a vocabulary" in problem:
            kind, problem = "vocabulary", ""
            try:
                fingerprint = _core._verify_vocabulary(name)
            except interlock.ArtifactError as other:
                problem = str(other)
    total = os.path.getsize(name)
    machine: dict[str, Any] = {"file": name, "kind": kind, "bytes": total, "fingerprint": fingerprint}
    machine |= {"vocabulary": vocabulary} if kind == "index" else {}
    machine["problems"] = [problem] if problem else []
    people = facts(
        [
            ("file", name),
            *([("kind", kind), ("fingerprint", str(fingerprint))] if not problem else []),
            *([("vocabulary", str(vocabulary))] if vocabulary else []),
            ("size", size(total)),
            ("problems", str(len(machine["problems"]))),
        ]
    )
    output.answer(machine, people + ([Line((f"  {problem}", BAD))] if problem else []))
    return exits.NO if problem else exits.OK


def _way(name: str) -> str:
    """What to do with what is no store."""
    quoted = shlex.quote(name)
    if not Path(name).exists():
        return "check the spelling of the path; interlock precompute SOURCES -t FILE -o STORE writes a store"
    return f"interlock precompute {quoted} -t FILE -o STORE makes a store of sources, which verify then checks"
