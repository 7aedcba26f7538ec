"""Examples that a source accepts: plausible ones, or with --wild anything that the masks allow.

  interlock sample pattern:'[a-f]{2}-\\d+' -n 3 --seed 7
  interlock sample order.json -n 5
  interlock sample order.json -n 5 --wild -t tokenizer.json

Plausible examples hold everyday words, short numbers and plain spelling; wild ones are drawn token by token, so they
show every escape, blank and character that is allowed. Each one is walked once more, byte by byte, through an index of
its own; a schema's documents are also judged by the package jsonschema where that is installed and takes the schema.
Each is a line, written as soon as it is drawn; one with characters that no line can show (a newline, controls) is
written as a JSON string, unless it is a JSON document on one line. --json has all of them, the same way, in one object.
--distinct writes no example twice, and gives up when 100 draws in a row repeat earlier examples. Exit code 1: an
example was not confirmed or did not come to its end, or --distinct found fewer than --count.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib import import_module
from itertools import count
from typing import Any

import interlock
from interlock._recipe import Recipe
from interlock.cli.arguments.number_arguments import at_least, whole
from interlock.cli.checking.walk import Speller
from interlock.cli.sources import source_arguments as sources
from interlock.cli.sources import source_notes, vocabularies
from interlock.cli.terminal import exits, streams
from interlock.cli.terminal.output import Output, Progress, text_of
from interlock.cli.terminal.style import TRY, Line
from interlock.samples.plausible import example
from interlock.samples.random_walks import random_walk
from interlock.samples.tool_samples import ToolSamples
from interlock.util.plurals import are, counted

LENGTH = 40
"""Tokens of a walk before it looks for the end."""
REDRAWS = 30
"""How often a plausible example is drawn before a wild one takes its place."""
REPEATS = 100
"""How many draws in a row may repeat earlier examples before --distinct gives up."""
MOST = 2000
"""Tokens after which a walk is given up."""


def register(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    sources.add_arguments(parser)
    vocabularies.add_arguments(parser)
    parser.add_argument("-n", "--count", type=at_least(1), default=1, metavar="N", help="how many (default: 1)")
    parser.add_argument("--seed", type=whole, default=0, metavar="S", help="the same seed draws the same (default: 0)")
    parser.add_argument(
        "--distinct", action="store_true", help="no example twice; fewer than N where no others are found"
    )
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
    """Draw, judge and print one example after the other; then say what is worth knowing of all."""
    for option, value in (("--length", args.length), ("--most", args.most)):
        if value is not None and not args.wild:
            raise exits.UsageError(f"{option} is for wild examples: leave it out", f"--wild {option} {value}")
    source = sources.read(args.source, args)
    vocabulary = vocabularies.read(args)
    index = source.compile(vocabulary)
    draws = _Draws(args, source, index)
    judge = _Judge(source)
    printer = _Printer(args, source, output)
    source_notes.say_notes(source, index, output)
    with Progress("sampling", args.count, output, hidden=printer.is_progress) as bar:
        for number, draw in enumerate(draws.distinct() if args.distinct else draws.all(), 1):
            printer.show(draw, judge.sample(draw))
            bar.show(number)
            if number == args.count:
                break
    return printer.end(judge.failures)


@dataclass(frozen=True)
class _Draw:
    """One example, before it is judged."""

    data: bytes
    is_wild: bool
    tokens: int
    ended: bool
    """Whether the guide accepts it as a whole output."""


class _Draws:
    """The examples that a seed draws, without end."""

    def __init__(self, args: argparse.Namespace, source: sources.Source, index: interlock.Index) -> None:
        self.seed: int = args.seed
        self.all_wild: bool = args.wild
        self.length = LENGTH if args.length is None else args.length
        self.most = _most(args)
        self.source = source
        self.index = index
        self.plausible = _Plausible(Recipe.of(index), _calls(source))
        self.speller = Speller(index.vocabulary)

    def all(self) -> Iterator[_Draw]:
        """One example for each number that follows the seed."""
        for number in count():
            seed = f"{self.seed}/{number}"
            data = None if self.all_wild else self.plausible.draw(seed)
            yield self._wild(seed) if data is None else self._spelled(data)

    def distinct(self) -> Iterator[_Draw]:
        """The same without repeats, until too many draws in a row are repeats."""
        seen: set[bytes] = set()
        repeats = 0
        for draw in self.all():
            if draw.data not in seen:
                seen.add(draw.data)
                repeats = 0
                yield draw
            elif (repeats := repeats + 1) == REPEATS:
                return

    def _spelled(self, data: bytes) -> _Draw:
        guide = self.index.guide()
        ids = self.speller.spell(data)
        ended = guide.advance_many(ids) == len(ids) and guide.is_accepting
        return _Draw(data, False, guide.num_tokens, ended)

    def _wild(self, seed: str) -> _Draw:
        vocabulary = self.index.vocabulary
        guide = (self.index if self.all_wild else _on_one_line(self.source, vocabulary)).guide()
        ended = random_walk(guide, random.Random(seed), self.length, self.most)
        return _Draw(vocabulary.decode(guide.tokens), True, guide.num_tokens, ended)


class _Judge:
    """Confirms examples by an index of single bytes and, for a schema, by jsonschema."""

    def __init__(self, source: sources.Source) -> None:
        self.walker = source.compile(vocabularies.byte_vocabulary()).guide()
        self.is_valid = _validator(source)
        self.failures: list[str] = []
        """Why jsonschema could not judge, for each example that it could not."""

    def sample(self, draw: _Draw) -> dict[str, Any]:
        """The example with its verdict, as ``--json`` has it."""
        self.walker.reset()
        walked = self.walker.advance_many(list(draw.data)) == len(draw.data) and self.walker.is_accepting
        confirmed = draw.ended and walked
        text = draw.data.decode("utf-8", "backslashreplace")
        judged: bool | None = None
        if confirmed:
            try:
                judged = self.is_valid(text)
            except Exception as error:  # It reads patterns as Python does, and gives up on some of them.
                self.failures.append(f"{type(error).__name__}: {error}")
        sample = {"text": text, "wild": draw.is_wild, "tokens": draw.tokens, "ended": draw.ended}
        return sample | {"confirmed": confirmed and judged is not False, "judged": judged is not None}


class _Printer:
    """Writes examples as lines, or with ``--json`` all of them at the end, and counts what the notes speak of."""

    def __init__(self, args: argparse.Namespace, source: sources.Source, output: Output) -> None:
        self.args = args
        self.output = output
        self.on_terminal = sys.stdout.isatty()
        self.has_documents = source.kind == "json_schema"
        self.samples: list[dict[str, Any]] = []
        self.written = self.quoted = self.unconfirmed = self.unended = self.wild = 0

    @property
    def is_progress(self) -> bool:
        """Whether the examples come on the terminal on which a bar would be: they show the progress."""
        return not self.args.json and self.on_terminal

    def show(self, draw: _Draw, sample: dict[str, Any]) -> None:
        """Write one example, or keep it for ``--json``."""
        self.written += 1
        self.unconfirmed += not sample["confirmed"]
        self.unended += not draw.ended
        self.wild += draw.is_wild and not self.args.wild
        if self.args.json:
            self.samples.append(sample)
        elif draw.ended:
            self._write(draw.data, sample["text"])

    def _write(self, data: bytes, text: str) -> None:
        if not self.on_terminal and self.has_documents and _is_line(text):
            streams.write(text + "\n")
        else:
            self.quoted += not text.isprintable()
            self.output.line(text if text.isprintable() else text_of(data))

    def end(self, failures: list[str]) -> int:
        """Write the notes and the result; the exit code."""
        written, wanted, note, fault = self.written, self.args.count, self.output.note, self.output.fault
        if self.quoted:
            note(f"{self.quoted} of {written} written as JSON strings, for characters that no line can show")
        if self.unconfirmed:
            most = _most(self.args)
            way = " (--most)" if self.args.wild else ""
            fault(
                f"{self.unconfirmed} of {written} not confirmed or not at their end after {counted(most, 'token')}{way}"
            )
            if self.unended:
                more = "a larger --most" if self.args.wild else f"--wild --most {10 * most}, or more"
                note(Line(("  try: ", TRY), f"{more}: the source asks for long texts"))
        if self.wild:
            note(f"{self.wild} of {written} {are(self.wild)} wild: nothing plausible was found for them")
        if failures:
            note(f"{len(failures)} of {written} not judged by jsonschema, {failures[0]}")
        if written < wanted:
            fault(f"only {written} of {wanted}: {REPEATS} draws in a row repeated earlier examples (--distinct)")
        machine: dict[str, Any] = {"samples": self.samples, "not_confirmed": self.unconfirmed}
        if self.args.distinct:
            machine |= {"asked": wanted, "missing": wanted - written}
        self.output.result(machine, [])
        return exits.NO if self.unconfirmed or written < wanted else exits.OK


def _most(args: argparse.Namespace) -> int:
    return MOST if args.most is None else args.most


def _on_one_line(source: sources.Source, vocabulary: interlock.Vocabulary) -> interlock.Index:
    """The index that writes wild documents among plausible ones: without line ends, so that each is a line as it is.

    Compiled once: the package keeps it.
    """
    is_free = source.kind == "json_schema" and "whitespace" not in source.options
    return source.compile(vocabulary, **({"whitespace": "compact"} if is_free else {}))


def _calls(source: sources.Source) -> _Calls | None:
    """Of tools that may be called, the answers that do call one; ``None`` where none may."""
    choice = source.options.get("tool_choice", "auto")
    if source.kind != "tools" or choice == "none" or not source.text:
        return None
    return _Calls(source, choice == "auto")


class _Calls:
    """Draws answers that call a tool: with plausible arguments where that goes, else byte by byte."""

    def __init__(self, source: sources.Source, is_choice: bool) -> None:
        self.is_choice = is_choice
        """Whether answers without a call are as good."""
        vocabulary = vocabularies.byte_vocabulary()
        changed = {"tool_choice": "required"} if is_choice else {}
        self.recipe = Recipe.of(source.compile(vocabulary, **changed))
        # Where calls are a choice, words may stand in front of one.
        self.samples = ToolSamples(source.text, source.compile(vocabulary), source.options)

    def draw(self, seed: str) -> bytes | None:
        """A text with a call; ``None`` where none was found."""
        return self.samples.draw(random.Random(seed)) or example(self.recipe, random.Random(seed))


class _Plausible:
    """Draws plausible examples, and again where one way led to nothing: a file of them should hold nothing else. Where
    ``calls`` are a choice, half of the examples are such: no plain text comes to a call by chance.
    """

    def __init__(self, recipe: Recipe, calls: _Calls | None = None) -> None:
        self.recipe, self.calls = recipe, calls
        self.draws = REDRAWS

    def draw(self, seed: str) -> bytes | None:
        """A plausible text; ``None`` where there seems to be none. The first try is that of the seed alone."""
        calls = self.calls
        if calls is not None and calls.is_choice and random.Random(f"{seed}/other").choice([True, False]):
            calls = None
        for again in range(self.draws):
            own = f"{seed}/{again}" if again else seed
            drawn = example(self.recipe, random.Random(own)) if calls is None else calls.draw(own)
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

    def is_valid(text: str) -> bool:
        with warnings.catch_warnings():
            # Python's ``re`` warns of ``[[:alpha:]]``, which jsonschema gives it as it is.
            warnings.simplefilter("ignore", FutureWarning)
            return bool(validator().is_valid(json.loads(text, parse_float=_exact)))

    return is_valid


def _exact(number: str) -> int | Decimal:
    """A number as it is written: as a binary float, 1.45 is no multiple of 0.01."""
    value = Decimal(number)
    return int(value) if value.adjusted() < 400 and value == value.to_integral_value() else value
