"""The words that name sources: their prefixes, the endings of files, and what is said of a word that names none,
and of a file that holds none."""

from __future__ import annotations

import os
import shlex

import interlock
from interlock.cli.sources.tool_sources import EXAMPLE
from interlock.cli.sources.yaml_files import from_yaml, is_yaml, yaml_name
from interlock.cli.terminal.exits import InputError
from interlock.cli.terminal.named_files import in_folder, is_glob, matching
from interlock.cli.terminal.place_in_source import PlaceInSource
from interlock.cli.terminal.suggest import near_file
from interlock.util.near_words import nearest
from interlock.util.wide_encodings import wide_encoding

SUFFIXES = {
    ".json": "schema",
    ".schema": "schema",
    ".regex": "pattern",
    ".pattern": "pattern",
    ".choices": "choices",
    ".lark": "grammar",
    ".gbnf": "grammar",
    ".ebnf": "grammar",
}
KINDS = {
    "schema": "json_schema",
    "pattern": "regex",
    "choices": "choices",
    "grammar": "grammar",
    "tag": "structural_tag",
    "tools": "tools",
}
"""What a prefix stands for in the rest of the package (``Index.from_json_schema`` and so on)."""
ALIASES = {"regex": "pattern", "json_schema": "schema", "choice": "choices", "structural_tag": "tag"}
"""Other names of prefixes: those of the package."""
OTHER_PREFIXES = {
    **dict.fromkeys(("lark", "gbnf", "ebnf", "cfg"), "grammar"),
    **dict.fromkeys(("re", "regexp", "pcre"), "pattern"),
    **dict.fromkeys(("json", "jsonschema", "json-schema"), "schema"),
    **dict.fromkeys(("enum", "literal", "list"), "choices"),
    **dict.fromkeys(("tool", "functions"), "tools"),
}
"""What might be taken for a prefix, and the one that is meant."""
EXAMPLES = {
    "schema": """'{"type": "integer"}'""",
    "pattern": "'[a-z]+'",
    "choices": "yes,no",
    "grammar": """'start: "a" start | "b"'""",
    "tag": """'{"type": "tag", ...}'""",
    "tools": EXAMPLE,
}
"""A text for each prefix."""

SYNTAXES = {"lark": "Lark's notation", "gbnf": "GBNF", "ebnf": "EBNF"}
"""The notations of grammars in words."""


def file_of(word: str) -> str:
    """The file that a word names; empty for a text, or the standard input."""
    prefix, colon, rest = word.partition(":@")
    is_kind = bool(colon) and ALIASES.get(prefix, prefix) in KINDS
    name = rest if is_kind else word
    if name == "-" or not is_kind and ALIASES.get(start := name.partition(":")[0], start) in KINDS and ":" in name:
        return ""
    return name


def files_named(words: list[str]) -> list[tuple[str, str]]:
    """The sources that words name, each with the folder that was named and that it lies in; empty for other words, and
    for files of a glob that the shell has left as it is. ``InputError`` for a folder without sources.
    """
    out: list[tuple[str, str]] = []
    for word in words:
        if os.path.isdir(word):
            files = [(str(path), word) for path in in_folder(word, tuple(SUFFIXES))]
            if not files:
                raise InputError(
                    f"{word} has no sources", f"files whose names end in {', '.join(SUFFIXES)} are sources"
                )
        elif ":" not in word and "{" not in word and is_glob(word) and (matched := matching(word)):
            files = [(path, "") for path in matched]
        else:
            files = [(word, "")]
        out += files
    return out


def what_is(word: str, prefix: str) -> tuple[str, str]:
    """Why a word names no source, and what was probably meant."""
    if not word.strip():
        return "the source is empty", "a file, or text as in pattern:'[a-z]+'"
    quoted = shlex.quote(word)
    exists = os.path.exists(word)
    at = ", ".join(f"{kind}:@{quoted}" for kind in KINDS)
    if word == "-":
        return "the standard input does not say what it is", at
    if prefix and (meant := OTHER_PREFIXES.get(prefix) or nearest(prefix, {*KINDS, *ALIASES})):
        meant = ALIASES.get(meant, meant)
        rest, way = word[len(prefix) + 1 :], f" with --syntax {prefix}" if prefix in SYNTAXES else ""
        rest = shlex.quote(rest) if prefix in OTHER_PREFIXES else rest
        return f"no source begins with {prefix}:", f"did you mean {meant}:{rest}{way}?"
    if exists and is_yaml(word):
        return f"{word} is YAML by its {'name' if yaml_name(word) else 'text'}, and sources are JSON", from_yaml(word)
    if exists:
        return f"the name of {word} does not say what it is", at
    if meant := near_file(word, {*SUFFIXES, ".index", ".ilk"}):
        return f"no file is named {word!r}", f"did you mean {meant}?"
    if word.lstrip().startswith("{"):
        return "this looks like a JSON Schema", f"schema:{quoted}, or the name of a file"
    if "\n" in word or "::=" in word:
        return "this looks like a grammar", "grammar: in front of it, or the name of a file"
    if set(word) & set("\\[](){}*+?|^$"):
        way = f"pattern:{quoted} for a pattern"
    elif "," in word:
        way = f"choices:{quoted} for choices"
    else:
        way = f"for a text, a prefix that says what it is: pattern:{quoted}, choices:{quoted} or schema:'{{...}}'"
    return f"no file is named {word!r}", way


def refuse_unreadable(kind: str, data: bytes, name: str) -> None:
    """``InputError`` for a file that is no text in UTF-8; an error of the source for one that is empty."""
    if wide := wide_encoding(data):
        way = f"save it as UTF-8; iconv -f {wide} -t UTF-8 does, too"
        raise InputError(f"{name} is {wide}, and sources are read as UTF-8", way, source_file=file_of(name))
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        is_text = b"\0" not in data and b"\x1f\x8b" != data[:2]
        way = "save it as UTF-8" if is_text else "a file of text; what is compressed has to be unpacked first"
        what = "is not UTF-8" if is_text else "is a binary file, and no text in UTF-8"
        raise InputError(f"{name} {what} (at byte {error.start})", way, source_file=file_of(name)) from None
    if not data.strip() and kind in _EMPTY:
        made, held, way = _EMPTY[kind]
        if kind == "grammar" and name.lower().endswith((".gbnf", ".ebnf")):
            way = """root ::= "a" root | "b" is a whole one"""
        shown = "the standard input" if name.endswith(":@-") else name
        empty = getattr(interlock, made)(f"{shown} is empty: it should hold {held}")
        empty.located = PlaceInSource("", 0, 0, way, found=False)
        empty.source_file = file_of(name)
        raise empty


_EMPTY = {
    "schema": ("SchemaError", "a JSON Schema", "{} is the schema that accepts every JSON value"),
    "grammar": ("GrammarError", "a grammar", """start: "a" start | "b" is a whole one"""),
    "tag": ("StructuralTagError", "a structural tag", f"""tag:{EXAMPLES["tag"]} is the beginning of one"""),
    "tools": ("RequestError", "a list of tools, or a request that has one", f"tools:{EXAMPLES['tools']} is one"),
}
"""Kinds that no empty file is of: the name of the error, what the file should hold, and what to do."""
