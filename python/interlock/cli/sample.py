"""Examples that a source accepts: plausible ones, or with --wild anything that the masks allow.

  interlock sample pattern:'[a-f]{2}-\\d+' -n 3 --seed 7
  interlock sample order.json -n 5
  interlock sample order.json -n 5 --wild -t tokenizer.json

Plausible examples hold everyday words, short numbers and plain spelling; wild ones are drawn token by token, so they
show every escape, blank and character that is allowed. Each one is walked once more, byte by byte, through an index of
its own; a schema's documents are also judged by the package jsonschema where that is installed and takes the schema.
Each is a line, written as soon as it is drawn; one with characters that no line can show (a newline, controls) is
written as a JSON string, unless it is a JSON document on one line. --json has all of them, the same way, in one object.
Exit code 1: an example was not confirmed, or did not come to its end.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from importlib import import_module
from typing import Any

import interlock
from interlock._recipe import Recipe
from interlock.cli import exits, source_remarks, sources, streams, vocabularies
from interlock.cli.output import Output, Progress, text_of
from interlock.cli.style import TRY, Line
from interlock.cli.walk import Speller, random_walk
from interlock.cli.number_arguments import at_least, whole
from interlock.plausible import example

LENGTH = 40
"""Tokens of a walk before it looks for the end."""
REDRAWS = 30
"""How often a plausible example is drawn before a wild one takes its place."""
MOST = 2000
"""Tokens after which a walk is given up."""


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    sources.add_arguments(parser)
    vocabularies.add_arguments(parser)
    parser.add_argument("-n", "--count", type=at_least(1), default=1, metavar="N", help="how many (default: 1)")
    parser.add_argument("--seed", type=whole, default=0, metavar="S", help="the same seed draws the same (default: 0)")
    parser.add_argument("--wild", action="store_true", help="token by token, whatever the masks allow")
    parser.add_argument(
        "--length",
        type=at_least(0),
        metavar="N",
        help="with --wild: tokens before the walk looks for the end (default: 40)",
    )
    parser.add_argument(
        "--most",
        type=at_least(0),
        metavar="N",
        help="with --wild: tokens after which a walk is given up (default: 2000)",
    )


def run(args: argparse.Namespace, output: Output) -> int:
    """Draw and confirm."""
    for option, value in (("--length", args.length), ("--most", args.most)):
        if value is not None and not args.wild:
            raise exits.UsageError(f"{option} is for wild examples: leave it out", f"--wild {option} {value}")
    length = LENGTH if args.length is None else args.length
    most = MOST if args.most is None else args.most
    source = sources.read(args.source, args)
    vocabulary = vocabularies.read(args)
    index = source.compile(vocabulary)
    walker = source.compile(vocabularies.byte_vocabulary()).guide()
    judge = _validator(source)
    plausible = _Plausible(Recipe.of(index), _with_calls(source))
    speller = Speller(vocabulary)
    wild = bad = 0
    all_ended = True
    source_remarks.remarks(source, index, output)
    samples: list[dict[str, Any]] = []
    failures: list[str] = []
    quoted = 0
    # Where the examples come on the same terminal, they are the progress.
    on_terminal = sys.stdout.isatty()
    silent = not args.json and on_terminal
    with Progress("sampling", args.count, output, hidden=silent) as bar:
        for number in range(args.count):
            guide = index.guide()
            drawn = None if args.wild else plausible.draw(f"{args.seed}/{number}")
            if drawn is None:
                if not args.wild:
                    wild += 1
                    guide = _on_one_line(source, vocabulary).guide()
                ended = random_walk(guide, random.Random(f"{args.seed}/{number}"), length, most)
                data = vocabulary.decode(guide.tokens)
            else:
                data = drawn
                ids = speller.spell(data)
                ended = guide.advance_many(ids) == len(ids) and guide.is_accepting
            walker.reset()
            confirmed = ended and walker.advance_many(list(data)) == len(data) and walker.is_accepting
            text = data.decode("utf-8", "backslashreplace")
            judged: bool | None = None
            if confirmed:
                try:
                    judged = judge(text)
                except Exception as error:  # It reads patterns as Python does, and gives up on some of them.
                    failures.append(f"{type(error).__name__}: {error}")
            sample = {"text": text, "wild": drawn is None, "tokens": guide.num_tokens, "ended": ended}
            sample |= {"confirmed": confirmed and judged is not False, "judged": judged is not None}
            bad += not sample["confirmed"]
            all_ended = all_ended and ended
            if args.json:
                samples.append(sample)
            elif ended:
                if not on_terminal and source.kind == "json_schema" and _is_line(text):
                    streams.write(text + "\n")
                else:
                    quoted += not text.isprintable()
                    output.line(text if text.isprintable() else text_of(data))
            bar.show(number + 1)
    if quoted:
        output.remark(f"{quoted} of {args.count} written as JSON strings, for characters that no line can show")
    if bad:
        way = " (--most)" if args.wild else ""
        output.remark(f"{bad} of {args.count} not confirmed or not at their end after {most} tokens{way}")
        if not all_ended:
            more = "a larger --most" if args.wild else f"--wild --most {10 * most}, or more"
            output.remark(Line(("  try: ", TRY), f"{more}: the source asks for long texts"))
    if wild:
        output.remark(f"{wild} of {args.count} are wild: nothing plausible was found for them")
    if failures:
        output.remark(f"{len(failures)} of {args.count} not judged by jsonschema, {failures[0]}")
    output.result({"samples": samples, "not_confirmed": bad}, [])
    return exits.NO if bad else exits.OK


def _on_one_line(source: sources.Source, vocabulary: interlock.Vocabulary) -> interlock.Index:
    """The index that writes wild documents among plausible ones: without line ends, so that each is a line as it is.

    Compiled once: the package keeps it.
    """
    is_free = source.kind == "json_schema" and "whitespace" not in source.options
    return source.compile(vocabulary, **({"whitespace": "compact"} if is_free else {}))


def _with_calls(source: sources.Source) -> Recipe | None:
    """Of tools that may be called, the answers that do call one: no plain text comes to a call by chance. ``None``
    where each answer calls a tool, or none may.
    """
    if source.kind != "tools" or source.options.get("tool_choice", "auto") != "auto" or not source.text:
        return None
    return Recipe.of(source.compile(vocabularies.byte_vocabulary(), tool_choice="required"))


class _Plausible:
    """Draws plausible examples, and again where one way led to nothing: a file of them should hold nothing else. Half
    of them are of ``other``, where there is one: a part of what the recipe accepts.
    """

    def __init__(self, recipe: Recipe, other: Recipe | None = None) -> None:
        self.recipe, self.other = recipe, other
        self.draws = REDRAWS

    def draw(self, seed: str) -> bytes | None:
        """A plausible text; ``None`` where there seems to be none. The first try is that of the seed alone."""
        recipe = random.Random(f"{seed}/other").choice([self.recipe, self.other or self.recipe])
        for again in range(self.draws):
            drawn = example(recipe, random.Random(f"{seed}/{again}" if again else seed))
            if drawn is not None:
                return drawn
        self.draws = 1  # So many failures are no bad luck: the next examples do not wait for as many.
        return None


def _is_line(text: str) -> bool:
    """Whether readers of JSON Lines take a document as one line: JSON allows line ends between values only."""
    return "\n" not in text and "\r" not in text


def _validator(source: sources.Source) -> Callable[[str], bool | None]:
    """A second opinion: jsonschema's, where it is installed and applies; ``None`` is no opinion."""
    if source.kind != "json_schema" or source.options.get("documents"):
        return lambda text: None
    try:
        import jsonschema

        # With a registry of its own, it does not look for what a reference names on the net.
        registry = import_module("referencing").Registry()
    except ImportError:
        return lambda text: None

    @cache
    def validator() -> Any:
        schema = json.loads(source.text, parse_float=_exact)
        kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
        return kind(schema, registry=registry)

    return lambda text: bool(validator().is_valid(json.loads(text, parse_float=_exact)))


def _exact(number: str) -> int | Decimal:
    """A number as it is written: as a binary float, 1.45 is no multiple of 0.01."""
    value = Decimal(number)
    return int(value) if value.adjusted() < 400 and value == value.to_integral_value() else value
