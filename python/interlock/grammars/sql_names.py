"""The grammar of SQL for the tables of one database."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from interlock._core import ArgumentError
from interlock.grammars.rules import literal, replace_rules
from interlock.grammars.sql_functions import call_rules
from interlock.grammars.sql_one_table import with_one_table_each


def with_tables(
    text: str,
    tables: Mapping[str, Sequence[str]],
    functions: Iterable[str],
    *,
    is_plain: bool = False,
    joins: bool = True,
) -> str:
    """The grammar restricted to these tables, their columns and these functions. ``is_plain`` is for names in the
    plain spelling alone. Without ``joins`` a query reads one table, and names its columns alone.
    """
    names = Names(text, is_plain)
    of_table = names_of_tables(names, tables)
    columns_of_all = dict.fromkeys(column for columns in of_table.values() for column in columns)
    called = {function: names.function(function) for function in functions}
    text = text.replace("[with] ", "").replace(" [table_alias]", "").replace(' ["as" new_name]', "")
    text = (
        text.replace(" [AS new_name]", "")
        .replace(" [windows]", "")
        .replace("LIKE | GLOB | REGEXP | MATCH", "LIKE | GLOB")
    )
    text = re.sub(r"^ +\| function_name OPEN.*\n|^ +\| function_name \"\(\" \[expression.*\n", "", text, flags=re.M)
    rules = {"function_name": "", **call_rules(called)}
    if not called:
        text = text.replace("       | call\n", "")
    rules |= {
        "with": "",
        "common_table": "",
        "table_alias": "",
        "any_name": "",
        "result_alias": "AS (NAME | QUOTED_NAME | STRING)",
        "new_name": "",
        "windows": "",
        "table_name": " | ".join(of_table),
        "column_name": " | ".join(columns_of_all),
        "column": "column_name | "
        + " | ".join(f'{table} "." ({" | ".join(dict.fromkeys(columns))})' for table, columns in of_table.items()),
        "all_columns": f'({" | ".join(of_table)}) "." "*"',
    }
    # REGEXP and MATCH call functions that SQLite does not have by itself.
    for keyword in ("WITH", "RECURSIVE", "MATERIALIZED", "REGEXP", "MATCH", "WINDOW"):
        rules[keyword] = ""
    text = replace_rules(text, rules)
    if not joins:
        text = with_one_table_each(text, of_table)
    return text + "\n// The names of the database.\n" + "\n".join(names.definitions()) + "\n"


def names_of_tables(names: Names, tables: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The terminals of the tables, each with those of its columns. ``ArgumentError`` for none, and for no columns."""
    if not tables or isinstance(tables, str):
        raise ArgumentError("tables are a mapping from names to the names of columns, not an empty one")
    of_table = {}
    for table, columns in tables.items():
        if isinstance(columns, str) or not columns:
            raise ArgumentError(f"the table {table!r} needs a list of columns")
        of_table[names.terminal(table)] = [names.terminal(column) for column in columns]
    return of_table


def without_parameters(text: str) -> str:
    """The grammar without parameters that a program binds."""
    return replace_rules(re.sub(r"^ +\| PARAMETER\n", "", text, flags=re.M), {"PARAMETER": ""})


def without_comments(text: str) -> str:
    """The grammar without comments, which may be of any length."""
    return replace_rules(text.replace("%ignore COMMENT\n", ""), {"COMMENT": ""})


def without_two_signs(text: str) -> str:
    """The grammar in which no sign stands directly behind another one: two of them begin a comment."""
    return text.replace('"-"', "MINUS") + "MINUS: /-(?!-)/\n"


class Names:
    """One terminal for each name, whatever it names: names differ by more than the case of their letters."""

    def __init__(self, text: str, is_plain: bool) -> None:
        found = re.search(r"^NAME: /\(\?!\(\?i:(.*?)\)", text, re.MULTILINE)
        assert found is not None
        self.reserved = frozenset(found[1].split("|"))
        self.is_plain = is_plain
        self.found: dict[str, str] = {}
        self.spellings: dict[str, dict[str, None]] = {}

    def terminal(self, name: str) -> str:
        """The terminal of a name, one for all spellings of its letters' case. ``ArgumentError`` for what is no name."""
        if not isinstance(name, str) or not name or "\0" in name:
            raise ArgumentError(f"a name is a string that is not empty and has no character zero, not {name!r}")
        self.spellings.setdefault(name.lower(), {})[name] = None
        return self.found.setdefault(name.lower(), f"NAMED_{len(self.found) + 1}")

    def function(self, name: str) -> str:
        """The terminal of a function, which the plain spelling has in capitals too."""
        terminal = self.terminal(name)
        self.spellings[name.lower()][name.upper()] = None
        return terminal

    def definitions(self) -> list[str]:
        """The definitions of all terminals, a line each."""
        out = []
        for name, terminal in self.found.items():
            is_word = re.fullmatch(r"[a-z_][a-z0-9_]*", name) and name not in self.reserved
            if self.is_plain:
                ways = [rf"{one}\b" if is_word else _quoted(one) for one in self.spellings[name]]
                out.append(f"{terminal}: /{'|'.join(ways)}/")
            else:
                word = rf"{name}\b|" if is_word else ""
                out.append(f"{terminal}: /(?ai:{word}{_quoted(name)})/")
        return out


def _quoted(name: str) -> str:
    """A regular expression of a name in quotation marks."""
    return f'"{literal(name.replace(chr(34), chr(34) * 2))}"'
