"""Files that hold no source of any kind: those that are empty, binary, or in another encoding than UTF-8."""

from __future__ import annotations

import interlock
from interlock.cli.sources.source_words import EXAMPLES, file_of
from interlock.cli.terminal.exits import InputError
from interlock.cli.terminal.place_in_source import PlaceInSource
from interlock.util.wide_encodings import wide_encoding


def refuse(kind: str, data: bytes, name: str) -> None:
    """``InputError`` for a file that is no text in UTF-8; an error of the source for one that is empty."""
    if wide := wide_encoding(data):
        raise InputError(
            f"{name} is {wide}, and sources are read as UTF-8", f"save it as UTF-8; iconv -f {wide} -t UTF-8 does, too"
        )
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        is_text = b"\0" not in data and b"\x1f\x8b" != data[:2]
        way = "save it as UTF-8" if is_text else "a file of text; what is compressed has to be unpacked first"
        what = "is not UTF-8" if is_text else "is a binary file, and no text in UTF-8"
        raise InputError(f"{name} {what} (at byte {error.start})", way) from None
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
