"""Compare two sources, or two folders of them: equal, or a text that only one of them accepts.

  interlock diff old.json new.json
  interlock diff pattern:'[a-c]+' pattern:'[a-d]+'
  interlock diff schemas/v1 schemas/v2 --allow wider

First the exact comparison, whose texts are shortest ones. Where it takes more than --limit max_flat_states=N pairs of
states, or a source recurses or is a grammar, the keywords of two schemas say which of them accepts less (a larger
maxLength accepts more), or the rules of two grammars do (one more alternative accepts more), and a quick search through
members of both sides looks for a text that only one of them accepts. The places are listed in which the two differ.
Exit code 0: they accept the same, or differ as --allow says; 1: they do not; 5: not decided, also where a difference
is known and it is open whether --allow says so. Files of two folders are compared by their names, a line for each:
same, wider, narrower, different, undecided, added, removed or refused; $ref reaches the files of the own folder. The
exit code is the worst: 3 or 4 where a file is refused, then 1, then 5.
"""

from __future__ import annotations

import argparse
import contextlib
import json
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import interlock
from interlock.cli.comparing import recursion
from interlock.cli.comparing.document_differences import changes, differences, is_reordered, sides
from interlock.cli.comparing.open_objects import has_open_objects
from interlock.cli.comparing.plain_witness import plainly_spelled
from interlock.cli.comparing.schema_inclusion import Inclusion
from interlock.cli.comparing.schema_parts import parse
from interlock.cli.comparing.short_witness import shortened
from interlock.cli.comparing.versions import folders
from interlock.cli.comparing.versions.folders import Answer
from interlock.cli.comparing.versions.taken_documents import notes_on_documents, without_other_names
from interlock.cli.comparing.whole_schemas import documents_of, whole
from interlock.cli.comparing.witness_search import Found, search
from interlock.cli.sources import kind_options, missing_documents, source_notes, vocabularies
from interlock.cli.sources import source_arguments as sources
from interlock.cli.terminal import exits
from interlock.cli.terminal.output import Output, Progress, plain_text_of, table
from interlock.cli.terminal.place_in_source import PlaceInSource, located
from interlock.cli.terminal.style import BAD, GOOD, NAME, NOTE, TRY, Line
from interlock.util.plurals import counted
from interlock.util.verbatim_json import extract

if TYPE_CHECKING:
    from interlock.cli.comparing.tool_changes import Tools

NAMES = ("first", "second")
ALLOWED = ("wider", "narrower")
"""What ``--allow`` takes: that the first, or the second, accepts nothing which the other refuses."""
DECIDED_BY = {"tools": "lists", "keywords": "schemas", "rules": "grammars"}
"""What decides where the exact comparison does not, and of which sources."""
FIRST_TRY = 200_000
"""Pairs of states of the exact comparison before the quick search, which takes less than a second; where --limit asks
for more, the rest comes after the search."""


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("first", metavar="FIRST", help=sources.HELP)
    parser.add_argument("second", metavar="SECOND", help="the other source; or both are folders")
    sources.add_arguments(parser, positional=False)
    parser.add_argument(
        "--allow",
        choices=ALLOWED,
        help="exit code 0 also where the second accepts all that the first accepts (wider), or nothing else (narrower)",
    )


def run(args: argparse.Namespace, output: Output) -> int:
    """Search both directions, or compare the files of two folders."""
    if folders.are_given(args.first, args.second):
        return folders.run(args, output, lambda read: _answer(read, args, output))
    read = [sources.read(word, args, alone=False) for word in (args.first, args.second)]
    kind_options.refuse_others(args, {source.kind for source in read}, "each of the two")
    answer = _answer(read, args, output, says_notes=True)
    output.answer(answer.machine, answer.people)
    return answer.code


def _answer(read: list[sources.Source], args: argparse.Namespace, output: Output, says_notes: bool = False) -> Answer:
    """What is said of two sources; ``says_notes`` says beside it what is probably a mistake in them."""
    from interlock.cli.comparing import grammar_changes  # It needs the reader of drawings.
    from interlock.cli.comparing.open_rules import open_rules

    vocabulary = vocabularies.byte_vocabulary()
    indexes = _both_compiled(read, vocabulary)
    for name, source, index in zip(NAMES, read, indexes) if says_notes else ():
        source_notes.say_notes(source, index, output, f"in the {name}, ")
    tools = None
    if _same(read, indexes):
        found = Comparison()
    elif all(source.kind == "tools" for source in read):
        found, tools = _compare_tools(read, indexes, output)
    else:
        found = _compare(read, indexes, output)
    for side, text in enumerate(found.texts):
        if text is not None:
            is_witness = partial(_tells_apart, indexes, side)
            found.texts[side] = plainly_spelled(text if found.is_exact else shortened(text, is_witness), is_witness)
    known = [text is not None for text in found.texts]
    if any(known):
        relation = "different"
        if not all(known) and found.is_decided:
            relation = f"the {NAMES[known.index(True) ^ 1]} accepts less"
    else:
        relation = "equal" if found.is_decided else "not decided"
    is_allowed = found.has_none(ALLOWED.index(args.allow)) if args.allow is not None else None
    people = [_headline(relation, args.allow is not None and is_allowed is None)]
    pairs = [(name, text) for name, text in zip(NAMES, found.texts) if text is not None]
    people += [Line(f"  only the {name} accepts: ", (plain_text_of(text), NAME)) for name, text in pairs]
    texts = [None if w is None else w.decode("utf-8", "backslashreplace") for w in found.texts]
    machine: dict[str, Any] = {"equal": {"equal": True, "not decided": None}.get(relation, False)}
    machine |= {"relation": relation, "only_first": texts[0], "only_second": texts[1]}
    if notes := notes_on_documents(read):
        machine["notes"] = notes
        people += [Line(("  note: ", NOTE), note) for note in notes]
    reasons: list[Line] = []
    if relation != "equal" and (changed := grammar_changes.changes(*read)):
        machine["definitions"] = [change.machine() for change in changed]
        reasons += grammar_changes.lines(changed)
    if tools is not None:
        machine["tools"] = [change.machine() for change in tools.changes]
        reasons += [line for change in tools.changes for line in change.lines()]
    people += reasons
    documents = [source.document for source in read]
    rows: list[dict[str, Any]] = []
    if None not in documents and relation != "equal":
        rows = differences(*documents, *without_other_names(read, list(map(documents_of, read))))
    reasons += changes(rows, None)
    if relation != "equal" and found.is_decided and None not in documents:
        machine["differences"] = rows
        people += changes(rows)
    if (
        relation != "equal"
        and None not in documents
        and args.property_order != "any"
        and is_reordered(*map(whole, read))
    ):
        machine["reordered"] = "only" if not rows else "also"
        people += _reordered(not rows)
        reasons += _reordered(not rows)[:1]
    if not found.is_exact and found.is_decided and any(found.included):
        by = "tools" if tools is not None else "keywords" if None not in documents else "rules"
        machine["decided_by"] = by
        people.append(Line(f"  decided by the {by} in which the two {DECIDED_BY[by]} differ"))
    elif not found.is_exact:
        machine |= {"exact": False, "cause": found.cause, "tried": found.tried(), "differences": rows}
        people += _undecided(found, rows, args, relation, _one_notation(read))
        if left := open_rules(read, [side for side in (0, 1) if found.has_none(side) is None], vocabulary):
            machine["open"] = [one.machine() for one in left]
            people += [line for one in left for line in one.lines()]
    if args.allow is not None:
        machine["allowed"] = is_allowed
        if relation != "equal":
            said = {True: "allowed by", False: "not allowed by", None: "not decided: whether it is allowed by"}
            people.append(Line(f"  {said[is_allowed]} --allow {args.allow}"))
    code = {"equal": exits.OK, "not decided": exits.UNDECIDED}.get(relation, exits.NO)
    if args.allow is not None:
        code = {True: exits.OK, False: exits.NO, None: exits.UNDECIDED}[is_allowed]
    return Answer(machine, people, code, reasons)


def _headline(relation: str, is_open: bool) -> Line:
    """The first line; ``is_open`` where the two differ, and it is not known whether they do as --allow says."""
    if is_open and relation != "not decided":
        return Line(("not decided", NOTE), f": the two are {relation}, and it is open whether they differ as allowed")
    return Line((relation, GOOD if relation == "equal" else NOTE if relation == "not decided" else BAD))


def _both_compiled(
    read: list[sources.Source], vocabulary: interlock.Vocabulary
) -> tuple[interlock.Index, interlock.Index]:
    """The indexes of two sources. An error has every side that is refused with it (``refused_sides``)."""
    made: list[interlock.Index] = []
    errors: dict[int, interlock.InterlockError] = {}
    for side, source in enumerate(read):
        try:
            made.append(_compiled(source, read[1 - side], vocabulary))
        except interlock.InterlockError as error:
            errors[side] = error
    if errors:
        first = next(iter(errors.values()))
        first.refused_sides = errors  # type: ignore[attr-defined]
        raise first
    return made[0], made[1]


def _compiled(source: sources.Source, other: sources.Source, vocabulary: interlock.Vocabulary) -> interlock.Index:
    """The index of a source. Where it lies outside of the folders of --document, and the other one inside, an error
    about a file that it refers to says so: its references start from its own folder.
    """
    try:
        return source.compile(vocabulary)
    except interlock.UnsupportedError as error:
        if "which was not passed" in str(error) and (way := missing_documents.beside(source, other)):
            error.located = replace(located(error) or PlaceInSource("", 0, 0, found=False), remedy=way)  # type: ignore[attr-defined]
        raise


def _reordered(is_all: bool) -> list[Line]:
    """That the schemas declare properties in another order, which counts here, and what compares them without it."""
    what = "the order of properties is all that differs" if is_all else "properties come in another order"
    way = "--property-order any takes keys in every order, and compares the two without it"
    return [Line(f"  {what}, and a schema takes keys as they are declared"), Line(("  try: ", TRY), way)]


@dataclass
class Comparison:
    """For each side a text that only it accepts, or that there is none or that it is not known."""

    texts: list[bytes | None] = field(default_factory=lambda: [None, None])
    is_exact: bool = True
    """Whether each text is a shortest one, and ``None`` says that there is none."""
    included: list[bool] = field(default_factory=lambda: [False, False])
    """For each side whether its keywords say that it accepts nothing which the other refuses."""
    proven: list[bool] = field(default_factory=lambda: [False, False])
    """For each side whether the exact comparison came to an end and found nothing which the other refuses."""
    cause: str = ""
    states: int = 0
    """Pairs of states that were looked at before the comparison was given up; 0 where it cannot be done."""
    search: Found | None = None

    @property
    def is_decided(self) -> bool:
        """Whether it is known of both sides if they accept anything that the other refuses."""
        return None not in map(self.has_none, (0, 1))

    def has_none(self, side: int) -> bool | None:
        """Whether a side accepts nothing which the other refuses; ``None`` where that is not known."""
        if self.texts[side] is not None:
            return False
        return self.is_exact or self.included[side] or self.proven[side] or None

    def tried(self) -> dict[str, int]:
        """What was done, in numbers."""
        return {"states": self.states} | (self.search.machine() if self.search is not None else {})


def _compare(
    read: list[sources.Source], indexes: tuple[interlock.Index, interlock.Index], output: Output
) -> Comparison:
    """The exact comparison, within a limit; then the keywords, and the quick search; then the rest of the exact one,
    where --limit asks for more.
    """
    asked = max((source.options.get("limits", {}).get("max_flat_states", 0) for source in read), default=0)
    limits = [min(asked, FIRST_TRY) or FIRST_TRY, *([asked] if asked > FIRST_TRY else [])]
    quick: tuple[Found, list[bool]] | None = None
    known: list[bool] | None = None
    with Progress("comparing", len(limits) + 1, output, even=False) as bar:
        for limit in limits:
            exact = _exact(read, indexes, limit)
            if exact.is_exact:
                return exact
            if quick is None:
                bar.show(1, "looking for a text that only one side accepts")
            quick = quick or _quick(read, indexes)
            exact.search, exact.included = quick
            if known is not None:
                exact.proven = [one or other for one, other in zip(exact.proven, known)]
            known = exact.proven
            exact.texts = [one if one is not None else other for one, other in zip(exact.texts, exact.search.texts)]
            if exact.is_decided or not exact.states:
                break
            if limit != limits[-1]:
                bar.show(2, f"looking at up to {asked} pairs of states")
    return exact


def _compare_tools(
    read: list[sources.Source], indexes: tuple[interlock.Index, interlock.Index], output: Output
) -> tuple[Comparison, Tools]:
    """Tools by their names and the schemas of their parameters, then the quick search."""
    from interlock.cli.comparing.tool_changes import Tools

    tools = Tools(*read)
    tools.decide(lambda schemas, pair: _compare(schemas, pair, output))
    out = Comparison(is_exact=False, included=tools.included, cause="a list of tools has no finite automaton")
    if not tools.is_alike:
        out.cause += ", and the two requests differ in more than tools and their parameters"
    out.search = search(indexes, (None, None), tools.included, texts=tools.witnesses())
    out.texts = list(out.search.texts)
    return out, tools


def _quick(read: list[sources.Source], indexes: tuple[interlock.Index, interlock.Index]) -> tuple[Found, list[bool]]:
    """What the keywords of two schemas say of each side, and texts that a search finds where they do not."""
    from interlock.cli.comparing import grammar_changes  # It needs the reader of drawings.
    from interlock.cli.comparing.rule_inclusion.derived_texts import derived_texts

    vocabulary, values = indexes[0].vocabulary, []
    included = [grammar_changes.accepts_all(read[side], read[1 - side], vocabulary).holds for side in (0, 1)]
    if _are_comparable(read, indexes):
        documents = [whole(source, parse) for source in read]
        for side in (0, 1):
            less = _Scalars(read[side], indexes[side].vocabulary)
            any_order = read[side].options.get("property_order") == "any"
            pair = documents[side], documents[1 - side]
            is_plain = not _spells_constants(read[side].options)
            included[side] = Inclusion(*pair, less.accepts_less, any_order, is_plain=is_plain).holds()
            values += less.witnesses
    texts = derived_texts(read[0], read[1], vocabulary)
    return search(indexes, (whole(read[0]), whole(read[1])), included, values, texts), included


def _are_comparable(read: list[sources.Source], indexes: tuple[interlock.Index, interlock.Index]) -> bool:
    """Whether both are schemas that are read with the same options, and no keyword was left out of either."""
    options = [{**source.options, "documents": None} for source in read]
    if any(source.document is None for source in read) or options[0] != options[1]:
        return False
    return not any(row.enforcement == "wider" for index in indexes for row in index.report)


def _spells_constants(options: dict[str, Any]) -> bool:
    """Whether names and constants that a schema mentions are spelled in one way, and others in any."""
    if "spelling" in options:
        return bool(options["spelling"] == "constants")
    return options.get("whitespace") in ("compact", "spaced")


class _Scalars:
    """Compares schemas of scalars exactly, and keeps the values that only the first of two accepts."""

    def __init__(self, source: sources.Source, vocabulary: interlock.Vocabulary) -> None:
        self.witnesses: list[Any] = []
        limits = source.options.get("limits", {}) | {"max_flat_states": FIRST_TRY}

        @cache
        def compiled(text: str) -> interlock.Index | None:
            try:
                return source.with_text(text).make(vocabulary, limits=limits)
            except interlock.UnsatisfiableError:
                return None

        self.compiled = compiled

    def accepts_less(self, first: str, second: str) -> bool:
        """Whether the first accepts nothing that the second refuses; false where that takes too long, too."""
        try:
            one, other = self.compiled(first), self.compiled(second)
            if one is None or other is None:
                return one is None
            witness = one.witness_not_in(other)
        except interlock.InterlockError:
            return False
        if witness is not None:
            with contextlib.suppress(ValueError):
                self.witnesses.append(json.loads(witness))
        return witness is None


def _exact(read: list[sources.Source], indexes: tuple[interlock.Index, interlock.Index], limit: int) -> Comparison:
    out = Comparison()
    same_limit = [source.options.get("limits", {}).get("max_flat_states", FIRST_TRY) == limit for source in read]
    if not all(same_limit) and not any(source.compiled for source in read):
        changed = [source.options.get("limits", {}) | {"max_flat_states": limit} for source in read]
        indexes = tuple(s.compile(i.vocabulary, limits=c) for s, i, c in zip(read, indexes, changed))  # type: ignore[assignment]
    for side in (0, 1):
        try:
            out.texts[side] = indexes[side].witness_not_in(indexes[1 - side])
            out.proven[side] = out.texts[side] is None
        except interlock.LimitError as error:
            out.is_exact, out.states = False, int(error.limit or limit)
            recursive = [source.name for source in read if recursion.recurses(source)]
            if recursive:
                out.states, out.cause = 0, f"{recursive[0]} recurses, so that it has no end of states"
                break
            out.cause = f"more than {out.states} pairs of states" + _open_parts(read)
        except interlock.UnsupportedError as error:
            out.is_exact, out.cause = False, _without_automaton(read) or str(error)
            break
    return out


def _without_automaton(read: list[sources.Source]) -> str:
    """Why two grammars have no exact comparison; nothing for other sources."""
    if any(source.kind != "grammar" or source.compiled is not None for source in read):
        return ""
    names = [name for name in map(recursion.recursive_rule, read) if name is not None]
    if names:
        return f"the rule {names[0]} recurses, and such a grammar has no finite automaton"
    return "grammars are compared by their rules, and by texts that are tried"


def _open_parts(read: list[sources.Source]) -> str:
    """What in the schemas makes so many states."""
    documents = [whole(source) for source in read]
    text = json.dumps(documents)
    why = []
    if any(map(has_open_objects, documents)):
        why.append("objects are open (no additionalProperties: false), so that any key may come beside the named ones")
    if '"type": "string"' in text and "maxLength" not in text:
        why.append("strings are unbounded (no maxLength)")
    return f": {'; '.join(why)}" if why else ""


def _one_notation(read: list[sources.Source]) -> str:
    """The option that reads two grammars in one notation, where they are read in two and one of these takes both."""
    notations = [source.options.get("syntax") for source in read if source.kind == "grammar"]
    for name in notations if len(set(notations)) == 2 else []:
        with contextlib.suppress(interlock.InterlockError):
            for source in read:
                interlock.check_grammar(source.text, **source.options | {"syntax": name})
            return f"--syntax {name} reads both in one notation"
    return ""


def _undecided(
    found: Comparison, rows: list[dict[str, Any]], args: argparse.Namespace, relation: str, one_notation: str
) -> list[Line]:
    """Why the comparison is not exact, what was tried, and the places where the documents differ."""
    lines = [Line(("  not exact: ", NOTE), found.cause)]
    if found.is_decided:
        return lines
    what = "all of which both accept or both refuse"
    if relation != "not decided":
        name, other = (NAMES[found.texts.index(None) ^ side] for side in (0, 1))
        lines.append(Line(f"  not decided: whether the {name} accepts anything that the {other} refuses"))
        what = f"none of which the {name} alone accepts"
    elif any(certain := [found.has_none(side) is True for side in (0, 1)]):
        less, more = (NAMES[certain.index(True) ^ side] for side in (0, 1))
        lines.append(Line(f"  certain: the {more} accepts all that the {less} accepts; it is open whether it has more"))
    if found.search is not None:
        numbers = f"{counted(found.search.tried, 'text')} (plausible, random and changed ones)"
        lines.append(Line(f"  tried: {numbers}, {what}"))
    if rows:
        lines.append(Line(f"  the schemas differ in {counted(len(rows), 'place')}:"))
        cells = [("", row["pointer"] or "(root)", *sides(row)) for row in rows]
        lines += table(cells, ("", "place", "first", "second"))
    ways = [] if not found.states else ["--limit max_flat_states=N looks at more states"]
    if found.states and args.whitespace != "compact" and any(row for row in rows):
        ways.append("--whitespace compact makes fewer")
    if "objects are open" in found.cause:
        ways.append('"additionalProperties": false in both closes the objects')
    if one_notation:
        ways.append(one_notation)
    if ways:
        lines.append(Line(("  try: ", TRY), "; ".join(ways)))
    return lines


def _tells_apart(indexes: tuple[interlock.Index, interlock.Index], side: int, data: bytes) -> bool:
    """Whether one side accepts a text that the other refuses."""

    def accepts(index: interlock.Index) -> bool:
        guide = index.guide()
        try:
            return guide.advance_many(list(data)) == len(data) and guide.is_accepting
        except interlock.InterlockError:
            return False

    return accepts(indexes[side]) and not accepts(indexes[1 - side])


def _same(read: list[sources.Source], indexes: tuple[interlock.Index, interlock.Index]) -> bool:
    """Whether both are the same source with the same options, whatever blanks its JSON is written with."""
    if indexes[0].fingerprint == indexes[1].fingerprint:
        return True
    first, second = read
    if first.kind != second.kind or first.options != second.options:
        return False
    if first.kind != "json_schema":
        return bool(first.text == second.text)
    texts = [s.text if isinstance(s.text, bytes) else s.text.encode() for s in read]
    return extract(texts[0]) == extract(texts[1])
