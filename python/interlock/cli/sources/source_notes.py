"""What is said beside a result about a source: notes on how it was read, and mistakes in it that no error shows."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, replace
from typing import Any

import interlock
from interlock import schema_hints
from interlock.cli.sources import schema_key
from interlock.cli.sources.source_arguments import Source
from interlock.cli.terminal.output import Output
from interlock.cli.terminal.style import NOTE, TRY, Line
from interlock.explain.idle_keywords import IdleKeyword, idle_keywords, unused_definitions
from interlock.explain.impossible_properties import ImpossibleProperty, impossible_properties
from interlock.posix_classes import posix_class_at, posix_classes


@dataclass(frozen=True)
class Slips:
    """The unknown keywords, formats and drafts of a source's schemas, and POSIX classes in its patterns, with their
    places.
    """

    keywords: tuple[schema_hints.UnknownKeyword, ...] = ()
    formats: tuple[schema_hints.UnknownFormat, ...] = ()
    drafts: tuple[schema_hints.UnknownDraft, ...] = ()
    classes: tuple[str, ...] = ()

    @property
    def probable(self) -> list[Any]:
        """Those keywords, formats and drafts of which it is known what was meant."""
        found: list[Any] = [*self.drafts, *self.keywords, *self.formats]
        return [slip for slip in found if slip.suggestion]


def slips_of(source: Source, index: interlock.Index) -> Slips:
    """The slips in a source that was compiled."""
    keywords: list[schema_hints.UnknownKeyword] = []
    formats: list[schema_hints.UnknownFormat] = []
    drafts: list[schema_hints.UnknownDraft] = []
    classes: list[str] = []
    schemas, patterns = _parts(source)
    for place, schema in schemas:
        rows = _report(source, schema, index)
        if rows is None:
            continue
        keywords += (replace(s, pointer=place + s.pointer) for s in schema_hints.unknown_keywords(rows))
        formats += (replace(s, pointer=place + s.pointer) for s in schema_hints.unknown_formats(rows))
        drafts += (replace(s, pointer=place + s.pointer) for s in schema_hints.unknown_drafts(rows))
        classes += posix_classes(schema, place)
    classes += filter(None, (posix_class_at(pattern, place) for place, pattern in patterns))
    return Slips(tuple(keywords), tuple(formats), tuple(drafts), tuple(classes))


@dataclass(frozen=True)
class Row:
    """A row of the report of a schema inside of a source, at its place in the source."""

    pointer: str
    keyword: str
    enforcement: str
    reason: str


def rows_inside(source: Source, index: interlock.Index) -> list[Row]:
    """Where keywords of the schemas in tools or in a structural tag take less than they say: an index of those has no
    rows. How numbers and blanks are written is said of documents alone, by rows at their root.
    """
    if source.kind not in ("tools", "structural_tag"):
        return []
    found: list[Row] = []
    for place, schema in _parts(source)[0]:
        for row in _report(source, schema, index) or []:
            if row.pointer and row.enforcement == "narrower":
                found.append(Row(place + row.pointer, row.keyword, row.enforcement, row.reason))
    return found


def _parts(source: Source) -> tuple[list[tuple[str, Any]], list[tuple[str, str]]]:
    """The schemas of a source, and its patterns that stand outside of schemas, each with its place."""
    if source.kind == "json_schema":
        return [("", source.document)], []
    if source.kind == "regex":
        return [], [("", source.text)]
    if source.kind == "structural_tag":
        from interlock.tools.spec import read
        from interlock.tools.tags.tag_slips import patterns_in, schemas_in

        tag = read(source.text)
        return schemas_in(tag), patterns_in(tag)
    if source.kind == "tools":
        from interlock.tools.requests.parameter_checks import enforced_schemas
        from interlock.tools.requests.tool_list import tools_of

        return enforced_schemas(tools_of(source.text), None), []
    return [], []


def _report(source: Source, schema: Any, index: interlock.Index) -> list[interlock.ReportRow] | None:
    """The report of a schema of the source; ``None`` where its notation takes it, and a whole document would not."""
    if source.kind == "json_schema":
        return index.report
    from interlock.tools.requests.parameter_checks import report_of

    try:
        return report_of(schema, limits=source.options.get("limits"))
    except interlock.InterlockError:
        return None


def _impossible(source: Source) -> list[ImpossibleProperty]:
    """The properties of the source's schemas that nothing satisfies."""
    options = source.options if source.kind == "json_schema" else {"limits": source.options.get("limits")}
    found: list[ImpossibleProperty] = []
    for place, schema in _parts(source)[0]:
        if isinstance(schema, dict):
            found += (one.moved(place.__add__) for one in impossible_properties(schema, options))
    if source.outer is not None:
        found = [one.moved(schema_key.OuterFile(*source.outer).place) for one in found]
    return found


def _idle(source: Source) -> list[IdleKeyword]:
    """The keywords of the source's schemas that are written for nothing."""
    found = definitions_alone(source)
    found += [one.moved(place.__add__) for place, schema in _parts(source)[0] for one in idle_keywords(schema)]
    if source.outer is not None:  # What the schema refers to stands in it a second time.
        outer = schema_key.OuterFile(*source.outer)
        found = list(dict.fromkeys(one.moved(outer.place) for one in found))
    return found


def definitions_alone(source: Source) -> list[IdleKeyword]:
    """That the definitions of a schema are all that it has, with the words that name one of them as a source."""
    found = unused_definitions(source.document) if source.kind == "json_schema" and source.outer is None else []
    if not found:
        return []
    keyword = found[0].split("/")[1]
    named = source.file if source.file.lower().endswith((".json", ".schema")) else ""
    ways = [shlex.quote(f"{named}#{way.replace('%', '%25')}" if named else way) for way in found]
    if not named:
        ways = [f"--schema-key {way}" for way in ways]
    others = f"; others are {', '.join(ways[1:4])}" + (", ..." if ways[4:] else "") if ways[1:] else ""
    reason = f"is all that the schema has, so that every value is accepted; {ways[0]} takes the schema there{others}"
    return [IdleKeyword("", keyword, reason)]


def say_notes(
    source: Source, index: interlock.Index, output: Output, whose: str = ""
) -> dict[str, list[dict[str, Any]]]:
    """Say beside the result what is probably a mistake in a source; ``whose`` names one of several. The unknown
    keywords, formats and drafts, and the properties that nothing satisfies, for machines.
    """
    for note in source.notes:
        output.note(Line(("note: ", NOTE), whose + note))
    found = slips_of(source, index)
    is_told = source.unknown_keywords != "ignore"
    slips = found.probable if is_told else []
    if source.outer is not None:  # What the schema refers to stands in it a second time.
        outer = schema_key.OuterFile(*source.outer)
        slips = list(dict.fromkeys(replace(slip, pointer=outer.place(slip.pointer)) for slip in slips))
    never, idle = _impossible(source), _idle(source) if is_told else []
    for slip in [*map(str, slips), *(found.classes if is_told else ()), *map(str, idle), *map(str, never)]:
        output.note(Line(("warning: ", TRY), whose + slip))
    return {
        "impossible_properties": [
            {"pointer": one.pointer, "keywords": [asdict(word) for word in one.keywords]} for one in never
        ],
        "idle_keywords": [asdict(one) for one in idle],
        "unknown_keywords": [asdict(slip) for slip in found.keywords],
        "unknown_formats": [asdict(slip) for slip in found.formats],
        "unknown_drafts": [asdict(slip) for slip in found.drafts],
    }
