"""Which options keep the texts of one of these grammars short, for a message about a text that its budget ended."""

from __future__ import annotations

import functools
from importlib import resources

from interlock.grammars.sql_functions import KINDS
from interlock.grammars.sql_simple import HEADING

__all__ = ["length_remedy"]


def length_remedy(source: str) -> str | None:
    """What bounds the texts of a grammar of this folder, the beginning of a sentence that may be empty; ``None`` for
    another grammar. ``source`` is the text that `load` returned, whatever its options were.
    """
    heading = source.partition("\n")[0]
    if heading == HEADING:
        return ""
    name = _names_by_heading().get(heading)
    if name == "sql":
        return _of_sql(source)
    if name == "csv" and '"," [field])*' in source:
        return "Pass columns=[...] to grammars.load('csv')"
    return None if name is None else ""


def _of_sql(source: str) -> str:
    """The options that ``source``, the grammar of SQL, does not have yet."""
    options = []
    if "// The levels of brackets." not in source:
        options.append("max_depth=2 (how deep calls nest)")
    if "// The names of the database." not in source:
        options.append("tables={...} (what the database has)")
    elif all(f"\n{kind}: " in source for kind in KINDS):
        options.append("functions=[...] (the few that are needed)")
    simple = ", or level='simple' where questions about one table are enough"
    return f"Pass {' and '.join(options)} to grammars.sql{simple}" if options else ""


@functools.cache
def _names_by_heading() -> dict[str, str]:
    """The names of the grammars by their first lines, which options leave as they are."""
    files = [file for file in resources.files(__package__).iterdir() if file.name.endswith(".lark")]
    return {file.read_text(encoding="utf-8").partition("\n")[0]: file.name.removesuffix(".lark") for file in files}
