"""Say what a source became: states, memory, and how exactly each keyword is enforced.

  interlock inspect order.json
  interlock inspect pattern:'[a-z]{1,60}' -t tokenizer.json
  interlock inspect schemas/

The report names what a keyword means here where that is less than in the specification. What cannot be computed, such
as the number of texts of a source that recurses, is said to be not counted, with the reason; the rest is shown.

Of several SOURCEs, and of the files of a folder, each has a line: what it is, and how many rows of its report are its
own, or why it is refused. Exit code 3: some are refused.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import interlock
from interlock import schema_hints
from interlock._recipe import Recipe
from interlock.cli.checking.walk import next_bytes
from interlock.cli.comparing import recursion
from interlock.cli.sources import kind_options, source_notes, tool_sources, vocabularies
from interlock.cli.sources import source_arguments as sources
from interlock.cli.sources.pattern_notes import say_pattern_notes
from interlock.cli.sources.schema_or_answer import is_answer, tools_in
from interlock.cli.sources.source_words import SUFFIXES, files_named
from interlock.cli.terminal import atomic_files, exits, style
from interlock.cli.terminal.output import MOST_FORCED, Output, byte_set, cut_text_of, facts, size, table
from interlock.cli.terminal.style import BAD, NAME, NOTE, TRY, Line
from interlock.samples.plausible import example
from interlock.util.plurals import counted

T = TypeVar("T")
USUAL = ("whitespace", "property_order", "numbers")
"""Rows of the root that every schema has; they are listed last."""
MOST_TOKENS = 1000
"""Tokens of a text that is looked for in the place of the shortest."""
COUNTED = 5000
"""States that are looked at to count texts."""


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    sources.add_arguments(parser)
    parser.add_argument(
        "more", metavar="SOURCE", nargs="*", default=[], help="further sources, each with a line; or folders"
    )
    vocabularies.add_arguments(parser)


def run(args: argparse.Namespace, output: Output) -> int:
    """Compile and describe."""
    named = files_named([args.source, *args.more])
    if args.more or named != [(args.source, "")]:
        return _run_many(named, args, output)
    source = sources.read(args.source, args)
    vocabulary = vocabularies.read(args)
    index = source.compile(vocabulary)
    guide = index.guide()
    forced = guide.forced_bytes()
    allowed = guide.allowed_token_ids().tolist()
    first = next_bytes(guide)
    rows: list[interlock.ReportRow | source_notes.Row] = [*index.report, *source_notes.rows_inside(source, index)]
    unknown = source_notes.say_notes(source, index, output)
    say_pattern_notes(source, output)
    words = [*unknown["unknown_keywords"], *unknown["unknown_formats"]]
    slips = {(w["pointer"], w.get("keyword", "format")): w["suggestion"] for w in words if w["suggestion"]}
    slips |= {(w["pointer"], "$schema"): w["suggestion"] for w in unknown["unknown_drafts"]}
    count, uncounted = _computed(source, lambda: _language_size(source, vocabulary), COUNTED)
    shortest, unsought = _computed(source, index.shortest_member)
    short = short_text(index) if shortest is None else None
    if short == b"":  # None is shorter.
        shortest, short, unsought = short, None, ""
    machine = {
        "kind": source.kind,
        "fingerprint": index.fingerprint,
        "vocabulary": {"size": vocabulary.size, "fingerprint": vocabulary.fingerprint},
        "states": index.num_states,
        "memory_bytes": index.memory_bytes,
        "language_size": count,
        "shortest_member": None if shortest is None else shortest.decode("utf-8", "backslashreplace"),
        **({} if short is None else {"short_member": short.decode("utf-8", "backslashreplace")}),
        "not_counted": {
            name: why for name, why in (("language_size", uncounted), ("shortest_member", unsought)) if why
        },
        "start": {
            "allowed_tokens": len(allowed),
            "allowed_bytes": first,
            "forced_text": forced.decode("utf-8", "backslashreplace"),
        },
        "report": _report(rows),
        **unknown,
    }
    written: list[tuple[str, str]] = []
    if source.kind == "grammar":
        from interlock.drawing.grammar_outline import outline

        made = outline(source.text, source.options["syntax"])
        kinds = (("rule", made.rules), ("terminal", made.terminals))
        counts = ", ".join(f"{len(some)} {word}{'s' if len(some) != 1 else ''}" for word, some in kinds if some)
        lexer = source.options.get("lexer") or ("dynamic" if source.options["syntax"] == "lark" else "any")
        written = [("syntax", f"{source.options['syntax']}, {counts}"), ("lexer", lexer)]
        machine |= {"syntax": source.options["syntax"], "lexer": lexer, "rules": len(made.rules)}
    why = "for the same reason" if unsought == uncounted else unsought
    if shortest is not None:
        found = ("shortest text", cut_text_of(shortest))
    elif short is not None:
        found = ("short text", f"{cut_text_of(short)}; whether it is the shortest is not computed: {why}")
    else:
        found = ("shortest text", f"not computed: {why}")
    everyday = args.tokenizer == vocabularies.BYTES
    unit = "bytes" if everyday else "tokens"
    # The end is a token of this vocabulary, and no byte.
    ends = vocabulary.eos_token_ids if everyday else ()
    choices = sum(token not in ends for token in allowed)
    or_end = " or the end" if first and choices < len(allowed) else ""
    people = facts(
        [
            ("kind", source.kind),
            ("fingerprint", index.fingerprint),
            *written,
            ("texts", f"not counted: {uncounted}" if count is None else _number(count)),
            *([] if "no finite automaton" in unsought and short is None else [found]),
            ("states so far", str(index.num_states)),
            ("memory", size(index.memory_bytes)),
            (
                f"first {unit[:-1]}",
                f"{choices} of {vocabulary.size - len(ends)} {unit} allowed: {byte_set(first) or 'the end'}{or_end}",
            ),
            ("forced text", cut_text_of(forced, len(forced) >= MOST_FORCED) if forced else "none"),
        ]
    )
    people.append(Line(""))
    people += style.fitting(Line(f"report: {_number_of_rows(rows)}; what has no row is enforced exactly"), sys.stdout)
    if rows:
        # What is a mistake comes first, what every schema has comes last.
        ordered = sorted(
            rows, key=lambda r: (_is_usual(r), (r.pointer, r.keyword) not in slips, r.enforcement == "narrower")
        )
        cells: list[list[str | Line]] = []
        for r in ordered:
            slip = slips.get((r.pointer, r.keyword))
            reason = Line(r.reason, (f"; {schema_hints.hint_of(r.keyword, slip)}", TRY)) if slip else Line(r.reason)
            cells.append([r.enforcement, r.pointer or "(root)", Line((r.keyword, TRY if slip else "")), reason])
        people += table(cells, ("enforcement", "place", "keyword", "reason"))
    output.result(machine, people)
    return exits.OK


def _run_many(named: list[tuple[str, str]], args: argparse.Namespace, output: Output) -> int:
    """Compile each, and say in a line what it is, or why it is refused."""
    vocabulary = vocabularies.read(args)
    words: list[str] = []
    read: list[sources.Source | interlock.InterlockError | exits.InputError] = []
    for word, top in named:
        if top and not args.take_all and not args.schema_key and (why := _no_source(word, args)):
            output.note(Line(("note: ", NOTE), f"{word} is left out: {why}"))
            continue
        words.append(word)
        inside = argparse.Namespace(**vars(args) | {"document": [*args.document, top]}) if top else args
        try:
            read.append(sources.read(word, inside, alone=False))
        except interlock.InterlockError as error:
            read.append(error)
        except exits.InputError as error:
            if not error.source_file:
                raise
            read.append(error)
    if kinds := {source.kind for source in read if isinstance(source, sources.Source)}:
        kind_options.refuse_others(args, kinds, "each of the sources")
    machine: list[dict[str, object]] = []
    refused = 0
    for word, source in zip(words, read):
        try:
            if not isinstance(source, sources.Source):
                raise source
            index = source.compile(vocabulary)
        except (interlock.InterlockError, exits.InputError) as error:
            if exits.code_of(error) != exits.SOURCE and error is not source:
                raise
            refused += 1
            machine.append({"name": word, "error": exits.describe(error)})
            if not output.json:
                first, *rest = exits.sentence(error)
                said = str(first).removeprefix("interlock: ")
                for line in [Line((word, NAME), ": ", ("refused", BAD), f": {said}"), *rest]:
                    output.line(line)
            continue
        rows: list[Any] = [*index.report, *source_notes.rows_inside(source, index)]
        unknown = source_notes.say_notes(source, index, output, f"{word}: ")
        machine.append(
            {"name": word, "kind": source.kind, "fingerprint": index.fingerprint, "report": _report(rows), **unknown}
        )
        if not output.json:
            own = _number_of_rows(rows)
            wider = sum(row.enforcement == "wider" for row in rows)
            own += f"; {wider} wider" if wider else ""
            output.line(Line((word, NAME), f": {source.kind}; report: {own}"))
    numbers = f"{counted(len(words), 'source')}: {len(words) - refused} compiled, "
    counts = {"sources": len(words), "compiled": len(words) - refused, "refused": refused}
    last = Line(numbers, (f"{refused} refused", BAD if refused else ""))
    output.result({"counts": counts, "sources": machine}, [last])
    return exits.SOURCE if refused else exits.OK


def _no_source(path: str, args: argparse.Namespace) -> str:
    """Why a file of a folder is no source, but an answer that lies among them; empty if it may be one."""
    if SUFFIXES[os.path.splitext(path)[1].lower()] != "schema":
        return ""
    try:
        document = json.loads(atomic_files.read(path))
    except (ValueError, RecursionError):
        return ""
    if tools := tools_in(document):
        return "" if tool_sources.is_asked(args) else f"it {tools}; --tool-format makes a source of it"
    return "" if args.unwrap and schema_hints.envelope(document) is not None else is_answer(document)


def _report(rows: Sequence[interlock.ReportRow | source_notes.Row]) -> list[dict[str, str]]:
    """The report for machines."""
    return [
        {"pointer": r.pointer, "keyword": r.keyword, "enforcement": r.enforcement, "reason": r.reason} for r in rows
    ]


def _number_of_rows(rows: Sequence[interlock.ReportRow | source_notes.Row]) -> str:
    """How many rows a report has, and how many of them say nothing of this source."""
    usual = sum(map(_is_usual, rows))
    if not usual:
        return counted(len(rows), "row")
    return f"{counted(len(rows) - usual, 'row')} of this source, and {usual} that every schema has"


def _is_usual(row: interlock.ReportRow | source_notes.Row) -> bool:
    """Whether a row says how every schema's documents are written, and nothing of this one."""
    return row.pointer == "" and row.keyword in USUAL and row.enforcement == "narrower"


def short_text(index: interlock.Index) -> bytes | None:
    """A text that may not be the shortest, found by always taking what ends soonest; ``None`` if that leads nowhere."""
    try:
        least = index.guide().min_tokens_to_finish()
        guide = index.guide(max_tokens=least or None) if least < MOST_TOKENS else None
    except interlock.InterlockError:
        guide = None
    if guide is None:
        try:
            return example(Recipe.of(index), random.Random(0))
        except interlock.BudgetError:  # There is none of a length that could be shown.
            return None
    while not (guide.is_accepting or guide.is_terminated):
        guide.advance(int(guide.allowed_token_ids()[0]))
    return index.vocabulary.decode(guide.tokens)


def _computed(source: sources.Source, compute: Callable[[], T], own_limit: int = 0) -> tuple[T | None, str]:
    """What ``compute`` returns; where that cannot be known or takes too many states, ``None`` and why.

    ``own_limit`` is where this figure stops if --limit does not say otherwise.
    """
    try:
        return compute(), ""
    except interlock.LimitError as error:
        if recursion.recurses(source):
            return None, "the schema recurses"
        raises = f"; --limit {error.field}=N raises the limit" if error.field and source.compiled is None else ""
        if raises and error.limit == own_limit:
            raises = f", where counting stops; --limit {error.field}=N lets it go on"
        what = "bytes of states" if "bytes" in str(error) else "states"
        return None, f"it takes more than {error.limit} {what}{raises}"
    except interlock.UnsupportedError as error:
        if source.kind in ("grammar", "structural_tag", "tools"):
            return None, f"{kind_options.NAMES[source.kind]} has no finite automaton"
        if error.code == "missing_byte_tokens":
            return None, "the vocabulary has no tokens for some single bytes; leave out --tokenizer to count over bytes"
        return None, str(error)


def _language_size(source: sources.Source, vocabulary: interlock.Vocabulary) -> int | str:
    """How many texts there are. ``LimitError`` where that takes more than COUNTED states, or than --limit says."""
    # The limits of an index file are all that it was compiled with, most of them by default.
    own = {} if source.compiled is not None else source.options.get("limits", {})
    limits = source.options.get("limits", {}) | {"max_flat_states": COUNTED} | own
    count = source.compile(vocabulary, limits=limits).language_size()
    if isinstance(count, float):
        return "infinite"
    # Beyond a thousand digits, none of them says anything; Python refuses to write them, too.
    return count if count.bit_length() < 3000 else f"about 10^{math.floor(count.bit_length() * math.log10(2))}"


def _number(count: int | str) -> str:
    """A number of texts for people: its size says more than thirty digits do. JSON has the digits."""
    text = str(count)
    return text if len(text) <= 30 else f"about 10^{len(text) - 1}"
