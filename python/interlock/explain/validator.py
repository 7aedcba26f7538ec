"""What of a document a JSON Schema forbids, all of it, in the schema's words.

This explains; it never decides. Whether a document is accepted is what the engine says, and questions about one string
(does this pattern match it, is it such a format) are asked of the engine as well, so that the two cannot differ there.
Keywords that the engine's report names as ignored or as annotations assert nothing here either. What cannot be told is
*unsure*, and leads to no statement.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from interlock.explain.document import Node, parse
from interlock.explain.oracle import Oracle
from interlock.explain.references import Place, References, enter
from interlock.explain.wording import ARTICLES, listed, shown, subject
from interlock.util.json_pointer import escaped

DEEPEST = 200
"""Schemas inside schemas that are followed; deeper ones are unsure."""


@dataclass(frozen=True)
class Problem:
    """One reason why a document is not valid. ``pointer`` names the value at fault, ``schema`` the place of the keyword
    in the schema; ``start`` and ``end`` are the characters of the text that a reader should look at. Up to ``until``
    the document could still have become valid: a key that is missing could have followed.
    """

    pointer: str
    keyword: str
    schema: str
    message: str
    start: int
    end: int
    until: int
    hint: str = ""
    missing: tuple[str, ...] = ()
    """The keys that an object lacks, in the order of the schema, where that is the reason."""


@dataclass
class Outcome:
    """What one schema says about one value."""

    problems: list[Problem] = field(default_factory=list)
    unsure: bool = False
    keys: set[str] = field(default_factory=set)
    """Keys that the schema evaluates."""
    items: set[int] = field(default_factory=set)
    """Elements that it evaluates."""

    def add(self, other: Outcome) -> None:
        """What another schema says of the same value."""
        self.problems += other.problems
        self.take(other)

    def take(self, other: Outcome) -> None:
        """What another schema evaluates, not its problems."""
        self.unsure |= other.unsure
        self.keys |= other.keys
        self.items |= other.items


class Validator:
    """Explains documents by one schema. ``silent`` are (place, keyword) pairs that assert nothing, and ``left_out``
    those that the engine has left out, so that nothing is certain about them. ``narrower`` has, by place and keyword,
    what the engine leaves out of a keyword that it enforces in part. ``rules`` has what each keyword means, in the
    order in which they are asked.
    """

    def __init__(
        self,
        schema: Any,
        documents: Mapping[str, Any],
        silent: Collection[tuple[str, str]],
        left_out: Collection[tuple[str, str]],
        narrower: Mapping[tuple[str, str], str],
        oracle: Oracle,
        rules: Mapping[str, Callable[[Step, Any], None]],
        formats: bool = True,
    ) -> None:
        self.schema = schema
        self.references = References(schema, documents, metaschemas=True)
        self.silent = frozenset(silent)
        self.left_out = frozenset(left_out)
        self.narrower = narrower
        self.oracle = oracle
        self.rules = rules
        self.formats = formats
        self.was_too_deep = False
        """Whether a schema lay inside of more others than are followed."""
        self.contains_evaluates = not (isinstance(schema, dict) and "2019-09" in str(schema.get("$schema")))
        self.text = ""
        self.depth = 0

    def explain(self, text: str, document: Node | None = None) -> list[Problem]:
        """All problems of the document ``text``, in the order of their places."""
        self.text = text
        node = document or parse(text)
        found = self.check(node, "", self.schema, Place(), ()).problems
        unique = {(p.start, p.end, p.message): p for p in reversed(found)}
        merged = merged_missing([p for p in dict.fromkeys(found) if unique[p.start, p.end, p.message] is p])
        return sorted(merged, key=lambda p: (p.start, p.end, "" if p.missing else p.message))

    # One schema and one value.

    def check(self, node: Node, pointer: str, schema: Any, place: Place, scope: tuple[Place, ...]) -> Outcome:
        """What ``schema`` says of one value: its problems, and which parts were evaluated. ``scope`` has the places
        that dynamic references begin from.
        """
        out = Outcome()
        if schema is False:
            out.problems.append(
                Problem(
                    pointer,
                    "",
                    str(place),
                    f"{subject(pointer)}: the schema allows no value here",
                    node.start,
                    node.end,
                    node.end,
                )
            )
        if not isinstance(schema, dict):
            return out
        if self.depth > DEEPEST:
            out.unsure = self.was_too_deep = True
            return out
        place = enter(schema, place)
        if not scope or scope[-1].base != place.base:
            scope = (*scope, place)
        self.depth += 1
        try:
            Step(self, node, pointer, schema, place, scope, out).run()
        finally:
            self.depth -= 1
        return out


def merged_missing(problems: list[Problem]) -> list[Problem]:
    """The problems, where all keys that one ``required`` asks of one object in vain are one problem."""
    groups: dict[tuple[str, int, str, str], list[Problem]] = {}
    for i, p in enumerate(problems):
        alone = "" if p.missing and p.keyword == "required" else str(i)
        groups.setdefault((p.pointer, p.start, p.schema, alone), []).append(p)
    return [_merged(group) for group in groups.values()]


def _merged(group: list[Problem]) -> Problem:
    if len(group) == 1:
        return group[0]
    names = tuple(name for p in group for name in p.missing)
    where = f" in {subject(group[0].pointer)}" if group[0].pointer else ""
    message = f"{len(names)} required keys are missing{where}: {listed([f'`{name}`' for name in names])}"
    return replace(group[0], message=message, missing=names)


@dataclass
class Step:
    """One schema at one value; every keyword adds to ``out``."""

    all: Validator
    node: Node
    pointer: str
    schema: dict[str, Any]
    place: Place
    scope: tuple[Place, ...]
    out: Outcome

    def run(self) -> None:
        """Apply the schema's keywords one after the other."""
        place = str(self.place)
        for keyword, rule in self.all.rules.items():
            if keyword not in self.schema or (place, keyword) in self.all.silent:
                continue
            if (place, keyword) in self.all.left_out:
                self.out.unsure = True
            else:
                rule(self, self.schema[keyword])

    def has(self, keyword: str) -> bool:
        """Whether a keyword beside this one counts."""
        return keyword in self.schema and (str(self.place), keyword) not in self.all.silent

    def problem(self, keyword: str, message: str, node: Node | None = None, hint: str = "") -> None:
        """Say that ``keyword`` forbids the value."""
        at = node or self.node
        self.span(keyword, message, at.start, at.end, hint)

    def span(
        self,
        keyword: str,
        message: str,
        start: int,
        end: int,
        hint: str = "",
        pointer: str = "",
        until: int = -1,
        missing: tuple[str, ...] = (),
    ) -> None:
        """Say that ``keyword`` forbids what stands from ``start`` to ``end``."""
        place = str(self.place.at(keyword))
        until = end if until < 0 else until
        self.out.problems.append(
            Problem(pointer or self.pointer, keyword, place, message, start, end, until, hint, missing)
        )

    def below(self, schema: Any, *parts: str | int) -> Outcome:
        """What a schema inside this one says about the same value."""
        return self.all.check(self.node, self.pointer, schema, self.place.at(*parts), self.scope)

    def inside(self, node: Node, part: str | int, schema: Any, *parts: str | int) -> Outcome:
        """What a schema inside this one says about a part of the value."""
        pointer = f"{self.pointer}/{escaped(str(part))}"
        return self.all.check(node, pointer, schema, self.place.at(*parts), self.scope)

    @property
    def subject(self) -> str:
        """The value as the subject of a sentence."""
        return subject(self.pointer)

    @property
    def written(self) -> str:
        """The value as the document has it."""
        return shown(self.all.text, self.node)

    @property
    def given(self) -> str:
        """The type of the value, and the value where that is short."""
        kind = ARTICLES[self.node.kind]
        return kind if self.node.kind in ("array", "object", "null") else f"{kind} ({self.written})"
