"""A worker of ``precompute``: it compiles the sources that it is told, one after the other, into a store.

For more than a few small sources it is a process of its own, so that whatever happens to it happens to one source. That
process speaks JSON, a line at a time: the first line on its standard input is what it is for, every further line an
item; every answer is a row of the report. It ends with its standard input, so that nothing has to end it when the
process that started it is killed: what it was compiling then is finished, and kept.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import interlock
from interlock import schema_hints
from interlock.cli.sources import document_folders, schema_key, source_words, tool_sources
from interlock.cli.sources import source_arguments as sources
from interlock.cli.sources.schema_or_answer import is_answer, tools_in
from interlock.cli.sources.source_notes import definitions_alone, slips_of
from interlock.cli.terminal import exits


class Item(NamedTuple):
    """One source of a run: a file, or a line of one."""

    name: str
    """Its name in the report."""
    path: str
    start: int = 0
    length: int = -1
    """Bytes from ``start``; -1 is the whole file."""
    top: str = ""
    """The folder that was named and that it lies in, whose files its ``$ref`` reach; empty where a file was named."""

    @property
    def shown(self) -> str:
        """Where it is, as people and editors open it: its path from here, and of a line of a file its number."""
        return f"{self.path}:{self.name.rpartition(':')[2]}" if self.length >= 0 else self.path


class Task(NamedTuple):
    """What a worker is for."""

    store: str
    vocabulary: str
    """A vocabulary pack."""
    arguments: dict[str, Any]
    """The options of compiling, as the command line has them."""
    refused: Collection[str] = ()
    """Keys that were refused by an earlier run, and are not tried again."""
    tables: bool = True
    """Whether packs hold tables."""


class Worker:
    """A store, a vocabulary and options, opened once for many items."""

    def __init__(self, task: Task, vocabulary: interlock.Vocabulary | None = None) -> None:
        """``vocabulary``, if it is open in this process already, is the one that the task names."""
        self.store = interlock.Store(task.store, tables=task.tables)
        self.vocabulary = interlock.Vocabulary.load(task.vocabulary) if vocabulary is None else vocabulary
        self.arguments = argparse.Namespace(**task.arguments)
        self._inside: dict[str, argparse.Namespace] = {}
        self.refused = frozenset(task.refused)

    @schema_hints.quiet()
    def handle(self, item: Item) -> dict[str, Any]:
        """Compile one item unless the store has it, and say how that went: a row of the report.

        ``fatal`` is in the row if it is the store that failed, not the source.
        """
        key = source = None
        try:
            data = read(item)
            if reason := no_source(item, data, self.arguments):
                return {"name": item.name, "key": None, "ok": False, "left_out": reason}
            source = sources.from_bytes(kind_of(item), data, self._arguments_in(item.top), item.shown, path=item.path)
            if self.arguments.for_server:
                from interlock.cli.precomputing import server_defaults

                source = server_defaults.as_requested(source, self.arguments)
            if source.unknown_keywords == "error":
                # Without a key in the report, so that a run that takes slips compiles it.
                source.refuse_slips()
            key = self.store.key_of(source.kind, source.text, self.vocabulary, **source.options)
            head: dict[str, Any] = {"name": item.name, "key": key}
            head |= {"notes_of_reading": list(source.notes)} if source.notes else {}
            damage = ""
            if key in self.store:
                tables, damage = self._stored(key)
                if not damage:
                    return head | {"ok": True, "skipped": True} | tables
            if key in self.refused:
                return head | {"ok": False, "skipped": True}
            began, compiled = time.perf_counter(), self.store.compiled
            facts: dict[str, Any]
            index = self.store.get_or_compile(source.kind, source.text, self.vocabulary, **source.options)
            found = slips_of(source, index)
            is_told = source.unknown_keywords != "ignore"
            slips = [*map(str, found.probable), *found.classes, *map(str, definitions_alone(source))] if is_told else []
            facts = {"states": index.num_states, "bytes": self.store.size_of(key), "memory_bytes": index.memory_bytes}
            facts["milliseconds"] = round((time.perf_counter() - began) * 1e3, 3)
            facts |= {"tables": self.store.tables_of(key, self.vocabulary)}
            facts |= {"notes": [*source.notes, *slips]} if source.notes or slips else {}
            facts |= {"replaced": damage} if damage else {}
            # Another process may have compiled it while this one waited.
            return head | {"ok": True} | ({"skipped": True} if self.store.compiled == compiled else {}) | facts
        except Exception as error:  # a row of the report, whatever it is
            row = {"name": item.name, "key": key, "ok": False, "error": _described(error, item, source)}
            return row | ({"fatal": True} if isinstance(error, interlock.ArtifactError) else {})

    def _arguments_in(self, top: str) -> argparse.Namespace:
        """The options of compiling with the files of a folder as documents. What is found in it is kept for all of its
        sources.
        """
        if not top:
            return self.arguments
        if top not in self._inside:
            given = document_folders.given([*self.arguments.document, top])
            self._inside[top] = argparse.Namespace(**vars(self.arguments) | {"given_documents": given})
        return self._inside[top]

    def _stored(self, key: str) -> tuple[dict[str, Any], str]:
        """Which tables the store's pack has, for the row; and what is wrong with it, so that it has to be replaced.

        Packs behind a URL are not fetched for that: ``interlock verify`` checks them.
        """
        if self.store.url is not None:
            return {}, ""
        try:
            return {"tables": self.store.tables_of(key, self.vocabulary)}, ""
        except interlock.ArtifactError as error:
            return {}, str(error)


def no_source(item: Item, data: bytes, arguments: argparse.Namespace) -> str:
    """Why this is no source, but a document that lies among them; empty if it may be one, or --take-all says so."""
    if arguments.take_all or kind_of(item) != "schema":
        return ""
    key = arguments.schema_key
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return ""
    if key:
        try:
            schema_key.find(document, key)
        except exits.UsageError as error:
            return str(error) if "/" in key else f"it has no key {key!r} (--schema-key)"
        return ""
    if tools := tools_in(document):
        return "" if tool_sources.is_asked(arguments) else f"it {tools}; --tool-format makes a source of it"
    if arguments.unwrap and schema_hints.envelope(document) is not None:
        return ""
    return is_answer(document)


def none_is_source(items: Sequence[Item], arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """The paths of all items, each with why it is no source; empty where one may be. Reads up to the first that may."""
    reasons: list[tuple[str, str]] = []
    for item in items:
        try:
            reason = no_source(item, read(item), arguments)
        except OSError:  # Refused by name later on.
            return []
        if not reason:
            return []
        reasons.append((item.shown, reason))
    return reasons


def _described(error: Exception, item: Item, source: sources.Source | None) -> dict[str, Any]:
    """A failure as ``check`` says it: with its line and column, and what to do. Of a line of a file, its own number."""
    if source is not None and isinstance(error, interlock.InterlockError):
        from interlock.cli.sources import locate_error

        locate_error.attach(error, source)
    described = exits.describe(error)
    if item.length >= 0 and "line" in described and described.get("file", item.shown) == item.shown:
        described["line"] = int(item.name.rpartition(":")[2])
    return described


def kind_of(item: Item) -> str:
    """The prefix that its name stands for; a line of a JSONL file is a schema."""
    return "schema" if item.length >= 0 else source_words.SUFFIXES.get(Path(item.path).suffix.lower(), "schema")


def read(item: Item) -> bytes:
    """The bytes of a source."""
    with open(item.path, "rb") as file:
        file.seek(item.start)
        return file.read(item.length)


def main() -> None:
    """Answer until the standard input ends."""
    lines = sys.stdin.buffer
    # The work is in parallel already, a process for each core.
    interlock.set_num_threads(1)
    # What is compiled goes into the store, and is not asked for again.
    interlock.set_index_cache_bytes(0)
    try:
        worker = Worker(Task(*json.loads(lines.readline())))
        sys.stdout.write("{}\n")
    except Exception as error:  # the one who started it says it
        sys.stdout.write(json.dumps({"fatal": True, "error": exits.describe(error)}) + "\n")
        return
    finally:
        sys.stdout.flush()
    for line in lines:
        sys.stdout.write(json.dumps(worker.handle(Item(*json.loads(line)))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        # Python flushes the standard output again at exit, which would fail again.
        os._exit(0)
