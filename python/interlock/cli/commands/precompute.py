"""Compile a folder, a JSONL file or a glob of sources into a store, in parallel.

  interlock precompute schemas/ -t tokenizer.json -o store/
  interlock precompute schemas.jsonl --schema-key schema -t vocabulary.ilk -o store/
  interlock precompute schemas/*.json -t tokenizer.json -o store/ --for-server
  interlock precompute 'schemas/**/*.json' -t tokenizer.json -o store/ --shard 3/8

Run it again after any interruption: what the store has is skipped, and so is what was refused before (--retry tries it
again); a damaged pack is replaced and named. A JSON file without any keyword of JSON Schema, such as an answer that
lies among the schemas, is left out and named (--take-all takes it). The report has a line for each source. Exit code
0: all are in the store; 1: some were refused. "Sources" is a sum: those that this run compiled, those that the store
had, those that say the same as another and share its pack, and those that were refused. What was left out is not in
it. "Tables" says of the packs how many are complete, so that loading them compiles nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import interlock
from interlock.cli.arguments.number_arguments import at_least
from interlock.cli.precomputing.process_pool import Alone, Pool, are_little
from interlock.cli.precomputing.summary import ALIKE, Ignored, Summary, one_reason, remedy_of
from interlock.cli.precomputing.worker import Item, Task, kind_of, none_is_source
from interlock.cli.sources import kind_options, source_words, vocabularies
from interlock.cli.sources import source_arguments as sources
from interlock.cli.sources.yaml_files import from_yaml, yaml_name
from interlock.cli.terminal import atomic_files, exits
from interlock.cli.terminal.exits import InputError, UsageError
from interlock.cli.terminal.named_files import in_folder, is_glob, links_to_folders, matching
from interlock.cli.terminal.output import Output, Progress, clock, facts
from interlock.cli.terminal.style import NOTE, Line
from interlock.cli.terminal.suggest import near_file
from interlock.core_methods import index_files
from interlock.util.plurals import counted

NOT_MEANT = (".ilk", ".jsonl", ".partial")
"""Files of a store, which may lie in the folder of the sources."""


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument(
        "sources", metavar="SOURCES", nargs="+", help="a folder (with those in it), a .jsonl file, files, or a glob"
    )
    vocabularies.add_arguments(parser, required=True)
    parser.add_argument("-o", "--out", metavar="STORE", required=True, help="the folder of the store, or an fsspec URL")
    parser.add_argument(
        "--shard", metavar="I/N", default="1/1", help="only every Nth source, from the Ith on; 1/N to N/N"
    )
    parser.add_argument("-j", "--jobs", type=at_least(1), metavar="N", help="worker processes (default: one a core)")
    parser.add_argument("--no-tables", action="store_true", help="store what indexes are compiled from, and no tables")
    parser.add_argument(
        "--for-server",
        action="store_true",
        help="compile as a RequestCompiler does by default, so that a server finds them: compact, spelling plain, "
        "ASCII classes in patterns",
    )
    parser.add_argument("--report", metavar="FILE", help="default: report.jsonl in the store")
    parser.add_argument("--retry", action="store_true", help="try again what was refused before")
    sources.add_arguments(parser, positional=False)


def run(args: argparse.Namespace, output: Output) -> int:
    """List, compile what is missing, and write the report."""
    number, count = _shard(args.shard)
    if args.jobs is not None and args.jobs < 1:
        raise UsageError("--jobs must be at least 1")
    if any(pair.endswith("=-") for pair in args.document):
        raise UsageError("--document URI=-: the standard input cannot be read by several processes; give a file")
    if found := re.match(r"([a-z][a-z0-9+.-]+):/(?!/)", args.out):
        raise UsageError(
            f"-o {args.out}: a URL has two slashes", f"did you mean {found[1]}://{args.out[found.end() :]}?"
        )
    if args.for_server:
        from interlock.cli.precomputing import server_defaults

        server_defaults.refuse_contradictions(args)
    for kind in source_words.KINDS.values():  # What makes no sense is said once, not for each source.
        sources.options_of(args, kind)
    if "-" in args.sources:
        raise UsageError(
            "SOURCES -: the standard input cannot be read by several processes", "a .jsonl file of schemas"
        )
    shown = " ".join(args.sources[:3]) + (" ..." if len(args.sources) > 3 else "")
    items = found_in(args.sources)[number - 1 :: count]
    kinds = {source_words.KINDS[kind_of(item)] for item in items}
    if "json_schema" in kinds:  # A file of JSON may hold tools.
        kinds.add("tools")
    kind_options.refuse_others(args, kinds, f"each source in {shown}")
    vocabulary = vocabularies.read(args)
    if left_out := none_is_source(items, args):
        raise _no_sources(shown, left_out)  # Before there is a store, which would hold nothing.
    with exits.around_source():
        store = interlock.Store(args.out)
    name = "report.jsonl" if count == 1 else f"report-{number}-of-{count}.jsonl"
    report = Path(args.report) if args.report else store.path / name
    old = earlier(report)
    tried = [] if args.retry else sorted(key for key, row in old.items() if _stays_refused(row))
    arguments = {option: getattr(args, option) for option in (*kind_options.OPTIONS, "limit", "for_server")}
    task = Task(args.out, str(store.add_vocabulary(vocabulary)), arguments, tried, not args.no_tables)
    began = time.monotonic()
    rows: dict[str, dict[str, Any]] = {}
    refused = 0
    # None where the shard is empty, of sources that are fewer than shards.
    jobs = min(args.jobs if args.jobs is not None else _cores(), len(items))
    workers: Alone | Pool
    if args.jobs is None and are_little(items):  # Whoever names a number of processes gets them.
        jobs, workers = 1, Alone(task, vocabulary)
    else:
        workers = Pool(task, jobs)
    with workers, Journal(report) as journal, Progress("compiling", len(items), output) as bar:
        for row in workers.rows(items):
            row = _full(row, old)
            rows[row["name"]] = row
            refused += not row["ok"] and "left_out" not in row
            if not row.get("skipped") and "left_out" not in row:
                journal.add(row)
                old[row["key"] or row["name"]] = row  # for those that say the same
            bar.show(len(rows), f"{refused} refused" if refused else "")
            if len(rows) == ALIKE < len(items) and (remedy := remedy_of(one_reason(list(rows.values())))):
                output.note(Line(("note: ", NOTE), f"none of the first {ALIKE} sources was taken; try: {remedy}"))
    # Of two that say the same, the one that was skipped may have come before the one that was compiled.
    ordered = [_full(rows[item.name], old) for item in items]
    # The journal becomes the report: a line for each source, in the order of the sources.
    atomic_files.write_text(report, "".join(json.dumps(row) + "\n" for row in ordered))
    others = [file for word in args.sources for file in ignored(word)] if count == 1 else []
    paths = {item.name: item.shown for item in items}
    summary = Summary(ordered, others, paths, "" if args.no_tables else _why_no_tables(vocabulary))
    machine = {
        **summary.counts(),
        "seconds": round(time.monotonic() - began, 3),
        "processes": jobs,
        "store": args.out,
        "report": str(report),
    }
    people = [
        *summary.lines(),
        ("time", f"{clock(time.monotonic() - began)}, {counted(jobs, 'process', 'processes')}"),
        ("report", str(report)),
    ]
    output.answer(machine, [*facts(people), *summary.details()])
    return exits.NO if summary.refused else exits.OK


def _no_sources(shown: str, left_out: list[tuple[str, str]]) -> InputError:
    """The error of a run that was given nothing to compile."""
    name, why = left_out[0]
    many = f"all {len(left_out)} were left out; the first, " if len(left_out) > 1 else ""
    was = "" if many else " was left out"
    remedy = remedy_of(why)
    if "--take-all" in remedy:  # Where nothing is a schema, the documents were named by mistake.
        remedy = f"interlock check SCHEMA {shown} looks at documents; {remedy}"
    return InputError(f"no sources in {shown}: {many}{name}{was}: {why}", remedy)


def _why_no_tables(vocabulary: interlock.Vocabulary) -> str:
    """Why packs over this vocabulary may have no tables; empty where that is not its fault."""
    missing = index_files.missing_bytes(vocabulary)
    return f"the vocabulary has no token for {counted(len(missing), 'single byte')}" if missing else ""


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _shard(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)/(\d+)", text, re.ASCII)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise UsageError(f"--shard {text}: write I/N with I from 1 to N, for example --shard 1/4")
    return int(match[1]), int(match[2])


def found_in(words: list[str]) -> list[Item]:
    """The sources that all words name, each file once. Files of one name in several folders are named by their path."""
    if len(words) == 1:
        return found(words[0])
    named = [(word, item) for word in words for item in found(word)]
    taken = Counter(item.name for _, item in named)
    items: dict[tuple[str, int], Item] = {}
    for word, item in named:
        inside = os.path.join(word, item.name) if os.path.isdir(word) else item.path
        inside += f":{item.name.rpartition(':')[2]}" if item.length >= 0 else ""
        name = Path(inside).as_posix() if taken[item.name] > 1 else item.name
        items.setdefault((os.path.realpath(item.path), item.start), item._replace(name=name))
    return list(items.values())


def found(word: str) -> list[Item]:
    """The sources that ``word`` names, in the same order on every machine. ``InputError`` if there are none."""
    path = Path(word)
    if path.is_dir():
        # A link to nothing is a source that cannot be read, and is refused by name.
        files = in_folder(path, source_words.SUFFIXES)
        items = [Item(p.relative_to(path).as_posix(), str(p), top=str(path)) for p in files]
    elif path.suffix.lower() in (".jsonl", ".ndjson"):
        items = list(_lines(path))
    elif path.is_file() and path.suffix.lower() not in source_words.SUFFIXES and _is_list(path):
        raise InputError(
            f"{word} is a list of names, and no source", f"the files themselves: interlock precompute $(cat {word}) ..."
        )
    elif path.is_file():
        items = [Item(path.name, str(path))]
    else:
        items = [Item(p, p) for p in matching(word)] if is_glob(word) else []
    if not items and not path.exists() and not is_glob(word):
        meant = near_file(word)
        way = f"did you mean {meant}?" if meant else "check the spelling of the path"
        file, mark, place = word.partition("#/")
        if mark and os.path.isfile(file):
            way = f"{file} --schema-key '/{place}'"
        raise InputError(f"no such file or folder: {word}", way)
    if not items:
        wanted = ", ".join(source_words.SUFFIXES)
        raise InputError(f"no sources in {word}: give a folder with {wanted}, a .jsonl file, or a glob")
    return items


def _is_list(path: Path) -> bool:
    """Whether the lines of a file are names of files, from here or from the folder that it lies in."""
    lines = path.read_bytes()[:100_000].decode("utf-8", "replace").splitlines()
    names = [name for line in lines if (name := line.strip())][:20]
    return bool(names) and all(len(n) < 1000 and (os.path.isfile(n) or (path.parent / n).is_file()) for n in names)


def _lines(path: Path) -> Iterator[Item]:
    start = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield Item(f"{path.name}:{number}", str(path), start, len(line))
            start += len(line)


def earlier(report: Path) -> dict[str, dict[str, Any]]:
    """The rows of an earlier run by key. A line that a killed run has torn is no row."""
    rows: dict[str, dict[str, Any]] = {}
    try:
        with report.open("rb") as file:
            for line in file:
                try:
                    row = json.loads(line)
                except ValueError:
                    continue
                if isinstance(row, dict) and isinstance(row.get("key"), str):
                    rows[row["key"]] = _full(row, rows)
    except FileNotFoundError:
        pass
    return rows


def _stays_refused(row: dict[str, Any]) -> bool:
    """Whether trying again is in vain: the source itself was refused, by this version, as the key says."""
    error = row.get("error")
    return isinstance(error, dict) and error.get("type") in exits.SOURCE_ERRORS


def _full(row: dict[str, Any], old: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A skipped row with what the earlier run said of it."""
    before = old.get(row["key"]) if row.get("skipped") else None
    if before is None or before.get("ok") != row["ok"]:
        return row
    own = ("replaced", "notes", "notes_of_reading")
    full = {name: value for name, value in before.items() if name not in own} | row
    # How the source was read is said of this run, which may have other options than the earlier one.
    of_reading = before.get("notes_of_reading", [])
    notes = [*row.get("notes_of_reading", []), *(note for note in before.get("notes", []) if note not in of_reading)]
    return full | ({"notes": notes} if notes else {})


def ignored(word: str) -> list[Ignored]:
    """Files of a folder that its name says are no sources."""
    path = Path(word)
    if not path.is_dir():
        return []
    others = [p.relative_to(path) for p in in_folder(path) if p.suffix.lower() not in source_words.SUFFIXES]
    taken = ", ".join(source_words.SUFFIXES)
    links = [p.relative_to(path) for p in links_to_folders(path)]
    named = [
        (p, _yaml(path / p) if yaml_name(p.name) else f"its name ends in none of {taken}")
        for p in others
        if p.suffix not in NOT_MEANT
    ] + [(link, "it is a link to a folder, and those are not followed; name it, too, for its files") for link in links]
    return [Ignored(inside.as_posix(), str(path / inside), reason) for inside, reason in named]


def _yaml(path: Path) -> str:
    return f"it is YAML by its name, and sources are JSON; {from_yaml(str(path))}"


class Journal:
    """Rows as they come, at the end of the report, so that a killed run loses none."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Journal:
        self.file = self.path.open("ab+")
        if self.file.tell():
            self.file.seek(-1, os.SEEK_END)
            if self.file.read() != b"\n":  # The last run was killed while it wrote a line.
                self.file.write(b"\n")
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def add(self, row: dict[str, Any]) -> None:
        """Write a row at once."""
        self.file.write(json.dumps(row).encode() + b"\n")
        self.file.flush()
