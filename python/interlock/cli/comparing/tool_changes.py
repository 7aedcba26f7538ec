"""Where two lists of tools differ, tool by tool, and whether that decides which of the two accepts more.

The structural tags of both requests are compared, which say what is enforced. One with a tool more, or with parameters
that accept more, accepts more where all else in the tags is the same: no part of a tag turns more into less but the
texts that it excludes, and these have to be the same. What is not surely understood decides nothing.
"""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import interlock
from interlock._recipe import Recipe
from interlock.cli.comparing.document_differences import MOST, changes, differences
from interlock.cli.sources import vocabularies
from interlock.cli.sources.source_arguments import Source
from interlock.cli.terminal.style import BAD, GOOD, NAME, Line
from interlock.samples.plausible import example
from interlock.schema_hints import ANNOTATIONS
from interlock.schema_hints.schema_keywords import MAPS
from interlock.tools import Call, render
from interlock.tools.spec import nodes
from interlock.tools.tag_grammars.grammar_text import written_json
from interlock.tools.tags.structural_tag import tag_of_request
from interlock.tools.tags.tag_index import REQUEST
from interlock.util.json_pointer import unescaped, value_at

BOUNDS = frozenset(
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems "
    "minProperties maxProperties required".split()
)
"""Keywords that change nothing of how values are written."""
WRITTEN_PLAINLY = ("pattern", "format", "enum", "type")
"""Keywords that change nothing of it where both schemas have them: strings with a pattern, a format or an enum are
written in one way, and other strings of tools may have any escapes."""
NO_NAME = "the answer"
"""What a schema is called that is no tool's: that of the ``response_format``."""


@dataclass
class Change:
    """A tool that only one of the requests has, or whose parameters differ. ``first`` and ``second`` are the parts of
    the structural tags: the tool's tag, or the schema of its arguments.
    """

    name: str
    first: Any = None
    second: Any = None
    relation: str = ""
    rows: list[dict[str, Any]] = field(default_factory=list)
    texts: list[bytes | None] = field(default_factory=lambda: [None, None])
    """Arguments that only one of the two accepts."""

    @property
    def change(self) -> str:
        """What became of the tool."""
        return "removed" if self.second is None else "added" if self.first is None else "changed"

    def machine(self) -> dict[str, Any]:
        """For machines."""
        out: dict[str, Any] = {"name": self.name, "change": self.change}
        return out | ({"relation": self.relation, "differences": self.rows} if self.change == "changed" else {})

    def lines(self) -> list[Line]:
        """For people."""
        what = "  " if self.name == NO_NAME else "  tool "
        if self.change != "changed":
            return [Line(what, (self.name, NAME), ": ", (self.change, GOOD if self.first is None else BAD))]
        said = changes(self.rows)
        return [Line(what, (self.name, NAME), f" {str(line).strip()}; {self.relation}") for line in said]


class Tools:
    """The differences of two requests. ``included`` says of each side whether it surely accepts nothing which the other
    refuses, once ``decide`` has compared the parameters.
    """

    def __init__(self, first: Source, second: Source) -> None:
        self.sources = (first, second)
        self.changes: list[Change] = []
        self.included = [True, True]
        self.is_alike = True
        """Whether the two differ in tools and parameters alone."""
        tags = []
        for source in self.sources:
            options = {name: value for name, value in source.options.items() if name in REQUEST}
            tags.append(tag_of_request(source.text, **REQUEST | options))
        self._walk(tags[0], tags[1], NO_NAME)
        if first.options.get("limits") != second.options.get("limits"):
            self._unlike()

    def decide(self, compare: Callable[[list[Source], tuple[interlock.Index, interlock.Index]], Any]) -> None:
        """Compare the parameters of each tool that changed, as two schemas are."""
        vocabulary = vocabularies.byte_vocabulary()
        for change in self.changes:
            if change.change != "changed":
                continue
            change.rows = differences(change.first.json_schema, change.second.json_schema)
            options = {"property_order": "any"} if change.first.any_order else {}
            options |= {name: self.sources[0].options[name] for name in ("limits",) if name in self.sources[0].options}
            try:
                read = [_schema(change, part, options) for part in (change.first, change.second)]
                found = compare(read, (read[0].make(vocabulary), read[1].make(vocabulary)))
            except interlock.InterlockError:  # A schema may stand in a list of tools that stands nowhere alone.
                change.relation, self.included = "not decided", [False, False]
                continue
            change.texts = found.texts
            none = [found.has_none(side) is True for side in (0, 1)]
            if change.first.style.encoding != "json" or not _are_written_alike(change):
                none = [False, False]  # What was compared are the values. Their texts are others here.
            change.relation = _relation(none, found.texts)
            self.included = [one and other for one, other in zip(self.included, none)]

    def witnesses(self) -> Iterator[bytes]:
        """Calls that only one of the two should accept."""
        form = self.sources[0].options.get("format", "auto")
        for change in self.changes:
            if change.name == NO_NAME:
                continue
            found = [text for text in change.texts if text is not None]
            if change.change != "changed" and (schema := _arguments(change.first or change.second)) is not None:
                index = _schema(change, schema, {}).make(vocabularies.byte_vocabulary())
                drawn = example(Recipe.of(index), random.Random("diff"))
                found += [] if drawn is None else [drawn]
            for text in found:
                try:
                    yield render(form, [Call(change.name, json.loads(text))]).encode()
                except (ValueError, TypeError, RecursionError, interlock.InterlockError):
                    continue  # Arguments that the format cannot write.

    def _unlike(self) -> None:
        self.included, self.is_alike = [False, False], False

    def _walk(self, one: Any, other: Any, name: str) -> None:
        """Compare two parts of the structural tags, inside of a tool or of none."""
        if type(one) is not type(other):
            self._unlike()
        elif isinstance(one, nodes.JsonSchema):
            self._schemas(one, other, name)
        elif dataclasses.is_dataclass(one):
            if isinstance(one, nodes.Tag) and one.event is not None and one.event.kind == "call":
                name = one.event.name
            for part in dataclasses.fields(one):
                inner = (getattr(one, part.name), getattr(other, part.name))
                if part.name == "tags":
                    self._tags(*inner, is_unique=getattr(one, "unique", False))
                else:
                    self._walk(*inner, name)
        elif isinstance(one, tuple) and len(one) == len(other):
            for inner in zip(one, other):
                self._walk(*inner, name)
        elif one != other:
            self._unlike()

    def _schemas(self, one: nodes.JsonSchema, other: nodes.JsonSchema, name: str) -> None:
        if dataclasses.replace(one, json_schema=True) != dataclasses.replace(other, json_schema=True):
            self._unlike()
        elif (texts := [written_json(part.json_schema) for part in (one, other)])[0] != texts[1]:
            self._add(Change(name, one, other))

    def _tags(self, one: tuple[nodes.Tag, ...], other: tuple[nodes.Tag, ...], *, is_unique: bool) -> None:
        """Compare tags of which any may come, whatever their order."""
        ours, theirs = ({(tag.begin, tag.event): tag for tag in tags} for tags in (one, other))
        if len(ours) < len(one) or len(theirs) < len(other):
            return self._unlike()
        for key in [*ours, *(key for key in theirs if key not in ours)]:
            before, after = ours.get(key), theirs.get(key)
            if before is not None and after is not None:
                self._walk(before, after, NO_NAME)
                continue
            event = key[1]
            if event is None or event.kind != "call" or is_unique:
                self._unlike()
                continue
            self.included[0 if after is None else 1] = False
            self._add(Change(event.name, before, after))

    def _add(self, change: Change) -> None:
        """Keep a change. In each notation of the format a tool has a tag of its own."""
        if not any((old.name, old.change) == (change.name, change.change) for old in self.changes):
            self.changes.append(change)


def _schema(change: Change, part: nodes.JsonSchema, options: dict[str, Any]) -> Source:
    schema = part.json_schema
    if isinstance(schema, dict):
        schema = {key: value for key, value in schema.items() if key != "x-guidance"}
    return Source("json_schema", written_json(schema), options, change.name, unknown_keywords="ignore")


def _are_written_alike(change: Change) -> bool:
    """Whether values of the two schemas surely have the same texts where both accept them, or where one names a key
    that is any other to the other, which may have any text there.
    """
    schemas = [part.json_schema for part in (change.first, change.second)]
    return len(change.rows) < MOST and all(_is_written_alike(row, schemas) for row in change.rows)


def _is_written_alike(row: dict[str, Any], schemas: list[Any]) -> bool:
    *outer, last = row["pointer"].split("/")
    if outer and outer[-1] in MAPS:
        if outer[-1] != "properties" or ("first" in row) == ("second" in row):
            return False
        parents = [value_at(schema, map(unescaped, outer[1:-1])) for schema in schemas]
        return all(
            isinstance(parent, dict)
            and "patternProperties" not in parent
            and isinstance(parent.get("additionalProperties", True), bool)
            for parent in parents
        )
    if last == "additionalProperties":
        return all(isinstance(row.get(side, True), bool) for side in ("first", "second"))
    return last in BOUNDS or last in ANNOTATIONS or last in WRITTEN_PLAINLY and "first" in row and "second" in row


def _arguments(tag: nodes.Tag) -> nodes.JsonSchema | None:
    """The schema of the arguments in the tag of a call; ``None`` for a custom tool."""
    waiting: list[Any] = [tag.content]
    while waiting:
        part = waiting.pop()
        if isinstance(part, nodes.JsonSchema):
            return part
        if isinstance(part, tuple):
            waiting += part
        elif isinstance(part, nodes.Tag):
            waiting.append(part.content)
        elif isinstance(part, nodes.Sequence):
            waiting += part.elements
    return None


def _relation(none: list[bool], texts: list[bytes | None]) -> str:
    if all(none):
        return "they accept the same"
    for side, name in enumerate(("first", "second")):
        if none[side] and texts[1 - side] is not None:
            return f"the {name} accepts less"
        if none[side]:
            return f"the {name} accepts nothing that the other refuses"
    return "different" if any(text is not None for text in texts) else "not decided"
