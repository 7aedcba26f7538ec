"""The grammar of comma-separated values, with as many fields in each record as a file has columns."""

from __future__ import annotations

from collections.abc import Sequence

from interlock._core import ArgumentError
from interlock.grammars.rules import literal, replace_rules


def with_columns(text: str, columns: int | Sequence[str]) -> str:
    """The grammar restricted to records of these columns. Names are the first record."""
    count = columns if isinstance(columns, int) else len(columns)
    if isinstance(columns, (str, bool)) or count < 1:
        raise ArgumentError(f"columns are a number of at least 1, or names, not {columns!r}")
    # A record of one column may be empty, and so may be the last line.
    rules = {
        "start": "record (LINE_END record)*" + (" [LINE_END]" if count > 1 else ""),
        "record": "[field]" + ' "," [field]' * (count - 1),
    }
    if not isinstance(columns, int):
        if not all(isinstance(name, str) and "\0" not in name for name in columns):
            raise ArgumentError("the names of columns are strings without the character zero")
        fields = ['"' + name.replace('"', '""') + '"' if any(c in name for c in '",\r\n') else name for name in columns]
        rules["start"] = "HEADER (LINE_END record)*" + (" [LINE_END]" if count > 1 else "")
        text += f"\nHEADER.1: /{literal(','.join(fields))}/\n"
    return replace_rules(text, rules)
