"""The argument that names a source, and the options of compiling it.

A source is one word: a file, or text with a prefix that says what it is.

======================  ==============================================================
``order.json``          a JSON Schema in a file (``.json``, ``.schema``)
``date.regex``          a pattern in a file (``.regex``, ``.pattern``); one final newline is not part of it
``answers.choices``     choices in a file, one a line
``query.lark``          a grammar in a file, in Lark's notation (``.lark``), GBNF (``.gbnf``) or EBNF (``.ebnf``)
``schema:TEXT``         a JSON Schema; ``schema:@FILE`` for a file of any name, ``schema:@-`` for the standard input
``pattern:TEXT``        a pattern; ``pattern:@FILE``
``choices:yes,no``      choices; a JSON array where they contain commas; ``choices:@FILE``
``grammar:TEXT``        a grammar, its notation told by the text or by ``--syntax``; ``grammar:@FILE``
``tag:TEXT``            a structural tag; ``tag:@FILE``, or a ``.json`` file that says so by its ``type``
``tools:TEXT``          a list of tools, or a request that has one, with ``--tool-format``; ``tools:@FILE``, or a
                        ``.json`` file
``order.index``         an index file, of any name, which ``interlock compile`` wrote: what it was compiled from
======================  ==============================================================
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import interlock
from interlock import schema_hints
from interlock.cli.arguments.parser import HOW
from interlock.cli.sources import (
    choices_text,
    document_folders,
    kind_options,
    pair_options,
    schema_key,
    schema_or_answer,
    tool_sources,
)
from interlock.cli.sources.schema_or_answer import TOOLS, is_answer
from interlock.cli.sources.source_words import (
    ALIASES,
    EXAMPLES,
    KINDS,
    OTHER_PREFIXES,
    SUFFIXES,
    SYNTAXES,
    file_of,
    refuse_unreadable,
    what_is,
)
from interlock.cli.sources.yaml_files import from_yaml, is_yaml_schema, yaml_name
from interlock.cli.terminal import atomic_files
from interlock.cli.terminal.exits import InputError, UsageError
from interlock.cli.terminal.place_in_source import PlaceInSource, json_value, parsed_json
from interlock.grammar_syntax import syntax_of
from interlock.util.near_words import nearest
from interlock.util.verbatim_json import extract

HELP = (
    "a file (.json, .regex, .choices, .lark, .gbnf, .ebnf) or text: schema:'{...}', pattern:'[a-z]+', "
    "choices:yes,no, grammar:, tag:, tools:, schema:@FILE (any name)"
)
SCHEMA_KEY = (
    "the schema is inside the JSON file: the value of KEY at its top, or of a JSON Pointer, as "
    "/components/schemas/User of an OpenAPI document"
)
WHITESPACE = ("flexible", "compact", "spaced")
"""What ``--whitespace`` takes besides a pattern."""


@dataclass(frozen=True)
class Source:
    """A source that was read: its kind (``regex``, ``json_schema``, ``choices``, ``grammar``, ``structural_tag`` or
    ``tools``), its text or list, its options.
    """

    kind: str
    text: Any
    options: dict[str, Any]
    name: str
    notes: tuple[str, ...] = ()
    """What a reader should know about how it was read."""
    outer: tuple[str, str] | None = None
    """Of a schema inside a larger document (--schema-key): the text of that, and the pointer to the schema in it."""
    written: str = ""
    """Of tools: the text that they were read from."""
    compiled: tuple[str, str] | None = None
    """Of an index file: its path, and the fingerprint of its vocabulary."""
    unknown_keywords: Literal["warn", "ignore", "error"] = "warn"
    """What becomes of keywords and formats that look misspelt: ``say_notes`` warns of them, or they are refused."""
    path: str = ""
    """Its file, where ``name`` is another name of it."""

    def compile(self, vocabulary: interlock.Vocabulary, **changed: Any) -> interlock.Index:
        """The index of this source; ``changed`` replaces options. An error has its place in the source with it."""
        try:
            return self.make(vocabulary, **changed)
        except interlock.InterlockError as error:
            from interlock.cli.sources import locate_error

            locate_error.attach(error, self)
            asked = self.options.get("limits", {})
            if isinstance(error, interlock.LimitError) and asked.get(error.field, 0) > (error.limit or 0):
                error.is_highest = True  # type: ignore[attr-defined]
            about_option = isinstance(error, interlock.ArgumentError) or error.code == "whitespace_pattern"
            if self.file and not about_option and not hasattr(error, "source_file"):
                error.source_file = self.file  # type: ignore[attr-defined]
            raise

    @cached_property
    def document(self) -> Any:
        """A schema as a value; ``None`` for other sources, and for one that is nested too deeply for Python."""
        return json_value(self.text) if self.kind == "json_schema" else None

    @property
    def file(self) -> str:
        """The name of the file that it was read from; empty for a text, or the standard input."""
        return file_of(self.name)

    @schema_hints.quiet()
    def make(self, vocabulary: interlock.Vocabulary, **changed: Any) -> interlock.Index:
        """What ``compile`` does, with the engine's errors as they are."""
        with schema_hints.handling(self.unknown_keywords):
            return self._made(vocabulary, changed)

    def _made(self, vocabulary: interlock.Vocabulary, changed: dict[str, Any]) -> interlock.Index:
        if self.compiled is not None and not changed and vocabulary.fingerprint == self.compiled[1]:
            return interlock.Index.load(self.compiled[0], vocabulary)
        options = self.options | changed
        if self.kind == "regex":
            return interlock.Index.from_regex(self.text, vocabulary, **options)
        if self.kind == "choices":
            return interlock.Index.from_choices(self.text, vocabulary, **options)
        if self.kind == "grammar":
            return interlock.Index.from_grammar(self.text, vocabulary, **options)
        if self.kind == "structural_tag":
            return interlock.Index.from_structural_tag(self.text, vocabulary, **options)
        if self.kind == "tools":
            return interlock.Index.from_tools(self.text, vocabulary, **options)
        return interlock.Index.from_json_schema(self.text, vocabulary, **options)

    def refuse_slips(self) -> None:
        """``SchemaError`` for a keyword or a format of a schema in it that looks misspelt."""
        with schema_hints.handling("error"):
            if self.kind == "json_schema":
                interlock.check_json_schema(self.text, **self.options)
            elif self.kind == "structural_tag":
                interlock.check_structural_tag(self.text, **self.options)
            elif self.kind == "tools":
                interlock.check_tools(self.text, **self.options)

    def with_text(self, text: Any) -> Source:
        """Another source with the same options."""
        return replace(self, text=text, outer=None, compiled=None)


def add_arguments(parser: argparse.ArgumentParser, positional: bool = True) -> None:
    """Add the source and its options to a command."""
    if positional:
        parser.add_argument("source", metavar="SOURCE", help=HELP)
    group = parser.add_argument_group(HOW)
    group.add_argument("--schema-key", metavar="KEY", help=SCHEMA_KEY)
    group.add_argument(
        "--no-unwrap",
        dest="unwrap",
        action="store_false",
        help="take an API's envelope (response_format, a tool) as the schema itself, not the schema in it",
    )
    group.add_argument(
        "--take-all",
        action="store_true",
        default=None,
        help="take JSON without any keyword that asserts something, such as an answer, as a schema of everything",
    )
    group.add_argument(
        "--whitespace",
        metavar="W",
        help="flexible, compact, spaced, or a pattern (default: flexible)",
    )
    group.add_argument(
        "--property-order",
        choices=["schema", "any"],
        help="keys as declared, or in any order (default: schema, as declared)",
    )
    group.add_argument("--on-unsupported", choices=["error", "warn"], help="refuse (default), or leave out and say so")
    group.add_argument(
        "--unknown-keywords",
        choices=["warn", "ignore", "error"],
        help="what becomes of keywords and formats that look misspelt: a warning (default), nothing, or an error",
    )
    group.add_argument("--formats", choices=["assert", "annotate"], help="what format means (default: assert)")
    group.add_argument(
        "--spelling",
        choices=["any", "constants", "plain"],
        help="of strings: in any way; what the schema spells out as writers do; or each text in one way (default: "
        "constants where whitespace is compact or spaced, else any)",
    )
    group.add_argument(
        "--document",
        action="append",
        default=[],
        metavar="WHERE",
        help="URI=FILE, a schema that $ref may reach; FOLDER, the files in it that it leads to (repeatable)",
    )
    group.add_argument("--dialect", choices=["python", "ecma"], help="of a pattern (default: python)")
    group.add_argument("--flags", help="of a pattern, letters: of imsxau in Python's dialect, of dgimsuy in ECMA's")
    group.add_argument(
        "--syntax",
        choices=["lark", "gbnf", "ebnf"],
        help="of a grammar (default: by the end of the file's name, else by its text)",
    )
    group.add_argument("--start", metavar="RULE", help="of a grammar: the rule that the output is")
    group.add_argument(
        "--lexer",
        choices=["any", "dynamic", "contextual"],
        help="of a grammar, how a text is cut into terminals (default: dynamic in Lark's notation, else any)",
    )
    group.add_argument(
        "--import",
        dest="imports",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="a file that %%import of a grammar may name (repeatable)",
    )
    group.add_argument(
        "--grammar",
        dest="grammars",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="a grammar that @NAME in a grammar may name (repeatable)",
    )
    tool_sources.add_arguments(group)
    group.add_argument(
        "--limit", action="append", default=[], metavar="NAME=N", help="raise or lower a limit (repeatable)"
    )


def options_of(args: argparse.Namespace, kind: str) -> dict[str, Any]:
    """The options in ``args`` that a source of this kind takes; those left at their default are not named."""
    out: dict[str, Any] = {}
    limits = pair_options.limits(args.limit)
    if limits:
        out["limits"] = limits
    if kind == "regex":
        wanted = {"dialect": ("python", args.dialect), "flags": ("", args.flags)}
    elif kind == "json_schema":
        wanted = {
            "whitespace": ("flexible", args.whitespace),
            "property_order": ("schema", args.property_order),
            "on_unsupported": ("error", args.on_unsupported),
            "formats": ("assert", args.formats),
            "spelling": ("", args.spelling),
        }
        word = args.whitespace or ""
        if word.isalpha() and word not in WHITESPACE and (m := nearest(word, WHITESPACE)):
            raise UsageError(f"--whitespace {word}: did you mean {m}?")
        given = getattr(args, "given_documents", None)
        if given is not None:  # Read once for many sources.
            out["documents"] = given
        elif args.document:
            out["documents"] = document_folders.given(args.document)
    elif kind == "grammar":
        wanted = {"syntax": ("", args.syntax), "start": ("", args.start), "lexer": ("", args.lexer)}
        for name in ("imports", "grammars"):
            if getattr(args, name):
                out[name] = dict(pair_options.named_text(name, pair) for pair in getattr(args, name))
    else:
        wanted = {}
    out.update({name: value for name, (default, value) in wanted.items() if value not in (None, default)})
    return out


def read(word: str, args: argparse.Namespace, alone: bool = True) -> Source:
    """The source that ``word`` names. If it is the only one, options that it does not have are refused."""
    from interlock.cli.sources import index_files

    if index_files.is_index(word):
        return index_files.read(word, args)
    source = _read(word, args)
    if alone:
        kind_options.refuse_others(args, {source.kind}, word.partition(":")[0] + ":..." if ":" in word else word)
    return source


def _named(args: argparse.Namespace) -> list[str]:
    """Every word of the command line but that of ``--out``, where ``-`` is the standard output."""
    words: list[str] = []
    for name, value in vars(args).items():
        if name != "out":
            words += [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]
    return words


def _read(word: str, args: argparse.Namespace) -> Source:
    if inner := schema_key.in_file(word, args.schema_key):
        args = argparse.Namespace(**vars(args) | {"schema_key": inner[1]})
        return from_bytes("schema", atomic_files.read(inner[0]), args, inner[0])
    prefix, colon, rest = word.partition(":")
    prefix = ALIASES.get(prefix, prefix)
    if colon and prefix in KINDS:
        kind = prefix
        if not rest or rest == "@":
            missing = "name of a file" if rest else "text"
            raise UsageError(
                f"no {missing} follows {word!r}", f"{prefix}:{EXAMPLES[prefix]}, or {prefix}:@FILE for a file"
            )
        data = atomic_files.read(rest[1:]) if rest.startswith("@") else rest.encode("utf-8", "surrogateescape")
        from_file = rest.startswith("@")
    else:
        if colon and prefix in OTHER_PREFIXES and not os.path.exists(word):
            raise UsageError(*what_is(word, prefix), no_source=True)
        suffix = "." + word.rpartition(".")[2].lower() if "." in word else ""
        if os.path.isdir(word):
            raise InputError(
                f"{word} is a folder: name a file in it",
                "interlock inspect looks at all sources of a folder, and interlock precompute compiles them to a store",
            )
        if suffix in (".index", ".ilk") and os.path.isfile(word):
            raise InputError(
                f"{word} is no index file: it does not begin as those do that interlock compile writes",
                f"interlock compile SOURCE -t FILE -o {shlex.quote(word)} writes one",
            )
        if word == "-" and _named(args).count("-") > 1:
            raise UsageError(
                "the standard input is named twice, and can be read once", "a file for the source, and - for the other"
            )
        if suffix not in SUFFIXES:
            raise UsageError(*what_is(word, prefix if colon else ""), no_source=True)
        kind, data, from_file = SUFFIXES[suffix], atomic_files.read(word), True
    return from_bytes(kind, data, args, word, from_file)


def from_bytes(
    kind: str, data: bytes, args: argparse.Namespace, name: str, from_file: bool = True, path: str = ""
) -> Source:
    """The source with this content; ``kind`` is the prefix of a word, ``path`` its file where the name is another."""
    notes: tuple[str, ...] = ()
    if from_file:
        refuse_unreadable(kind, data, name)
    # Of a text that is no JSON the compiler says where it is broken.
    key = args.schema_key if kind == "schema" and args.schema_key and schema_key.is_json(data) else None
    try:
        text: Any = schema_key.take(data, key) if key else _text(kind, data, from_file)
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8 (at byte {error.start})") from None
    except interlock.StructuralTagError as error:
        error.source_file = file_of(name)  # type: ignore[attr-defined]
        raise
    except interlock.SchemaError as error:
        _point_to_yaml(error, data, name)
        raise
    if kind == "schema":
        parsed = json_value(text)
        if isinstance(parsed, dict) and parsed.get("type") == "structural_tag":
            kind, text = "tag", parsed
        elif not args.schema_key and tool_sources.is_asked(args) and schema_or_answer.tools_in(parsed):
            kind = "tools"
        elif not args.schema_key and getattr(args, "unwrap", True):
            text, parsed, notes = _unwrapped(text, parsed)
        if kind == "schema" and not args.take_all:
            _refuse_documents(text, parsed, name)
    if kind == "pattern" and not text:
        notes = ("the pattern is empty, so that only the empty text is accepted",)
    if kind == "choices":
        notes = choices_text.notes(data.decode("utf-8-sig", "replace"), from_file)
    options = options_of(args, KINDS[kind])
    if "documents" in options:
        options["documents"] = document_folders.with_reached(options["documents"], text, path or file_of(name))
        if not options["documents"] and not options["documents"].tops:
            del options["documents"]
    written = ""
    if kind == "tools":
        written = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        text, asked = _tools(written, args, name)
        options |= asked
    if kind == "grammar":
        told = _syntax(name, text)
        if options.setdefault("syntax", told) != told:
            notes = (f"it looks like {SYNTAXES[told]}, and is read as {SYNTAXES[options['syntax']]} (--syntax)",)
    outer = None
    if kind == "schema" and key:
        outer = (data.decode("utf-8", "replace"), schema_key.pointer(data, key))
    way: Any = getattr(args, "unknown_keywords", None) or "warn"
    return Source(KINDS[kind], text, options, name, notes, outer, written, unknown_keywords=way, path=path)


def _point_to_yaml(error: interlock.SchemaError, data: bytes, name: str) -> None:
    """Where a file that holds a schema is no JSON but YAML: the command that makes JSON of it."""
    file = file_of(name)
    if yaml_name(file) or is_yaml_schema(data):
        remedy = from_yaml(file or "-")
        error.located = PlaceInSource("", 0, 0, remedy, found=False)  # type: ignore[attr-defined]


def _tools(text: str, args: argparse.Namespace, name: str) -> tuple[Any, dict[str, Any]]:
    """The tools in a text and the options of ``Index.from_tools``. Errors have their place in the text with them."""
    try:
        document = parsed_json(text, "the list of tools", interlock.RequestError, "" if file_of(name) else name)
        found = tool_sources.request(document, args, name)
    except interlock.InterlockError as error:
        if not hasattr(error, "located"):
            error.located = tool_sources.place_of(error, text)  # type: ignore[attr-defined]
        error.source_file = file_of(name)  # type: ignore[attr-defined]
        raise
    return found.tools, found.options


def _syntax(name: str, text: str) -> str:
    """The notation of a grammar: that of its file's name, or else what its text looks like."""
    ending = name.rpartition(".")[2].lower()
    return ending if ending in ("lark", "gbnf", "ebnf") else syntax_of(text)


def _unwrapped(text: bytes, parsed: Any) -> tuple[Any, Any, tuple[str, ...]]:
    """The schema in an API's envelope as text and value, and what was found; else the text itself."""
    try:
        found = schema_hints.envelope(parsed)
    except RecursionError:
        return text, parsed, ()
    if found is None:
        return text, parsed, ()
    inner = extract(text, *found.path)
    return inner, json_value(inner), (f"{found}; --no-unwrap takes the whole as the schema",)


def _refuse_documents(text: str | bytes, parsed: Any, name: str) -> None:
    """``SchemaError`` for JSON without any keyword that asserts something, or with few of them among other keys: by the
    letter of the specification it accepts nearly everything, and mostly it is a document in the wrong place.
    """
    if tools := schema_or_answer.tools_in(parsed):
        error = interlock.SchemaError(f"{name} {tools}, and no schema")
        error.located = PlaceInSource("", 0, 0, TOOLS, found=False)  # type: ignore[attr-defined]
        error.source_file = file_of(name)  # type: ignore[attr-defined]
        raise error
    reason = is_answer(parsed) if isinstance(parsed, dict) else ""
    if reason:
        everything = "everything" if reason.startswith("none") else "nearly everything"
        error = interlock.SchemaError(f"{name} is no schema, and would accept {everything}: {reason}")
        shown = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        remedy = take_remedy(parsed)
        error.located = PlaceInSource(shown, 0, 1, remedy, found=False)  # type: ignore[attr-defined]
        error.source_file = file_of(name)  # type: ignore[attr-defined]
        raise error


def take_remedy(document: Any) -> str:
    """What to do about a document that is no schema."""
    key = schema_hints.schema_key(document)
    if key:
        return f"--schema-key {key} takes the schema in it"
    if isinstance(document, dict) and {"openapi", "swagger", "components", "definitions"} & document.keys():
        if places := schema_key.schemas_of(document):
            others = ", ".join(places[1:4]) + (", ..." if places[4:] else "")
            return f"--schema-key {places[0]} takes that schema" + (f"; others are {others}" if others else "")
    return "--take-all takes it as a schema all the same"


def _text(kind: str, data: bytes, from_file: bool) -> Any:
    if kind == "schema":
        return data
    # A byte order mark is no part of a file's text.
    text = data.decode("utf-8-sig" if from_file else "utf-8")
    if kind == "tag":
        return parsed_json(text, "the structural tag", interlock.StructuralTagError, "" if from_file else "tag:")
    if kind in ("grammar", "tools"):
        return text
    if kind == "pattern":
        return re.sub(r"\r?\n\Z", "", text) if from_file else text
    return choices_text.read(text, from_file)
