"""Simple queries: one table, its columns and aggregates of them, comparisons with values, groups, an order, a limit.

The whole language of SQL leads a small model far: into windows, queries in brackets, calls in calls. This grammar has
nothing that nests, and every list in it has an end. Each table has its own rules, so a query names the columns of its
table alone, and SQLite runs every query of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from interlock._core import ArgumentError
from interlock.grammars.sql_functions import KINDS
from interlock.grammars.sql_names import Names, names_of_tables

__all__ = ["HEADING", "LEVELS", "simple_queries"]

LEVELS = ("simple", "full")
_MOST_TABLES = 12
"""Until FROM a query may be of each table that has its columns."""
_AGGREGATES = ("avg", "count", "max", "min", "sum")
"""Functions that a query may call if nothing is said."""
_ALL_AGGREGATES = frozenset((*_AGGREGATES, "group_concat", "total"))
_SCALARS = frozenset(f"{KINDS['scalar_of_one'][0]} {KINDS['scalar_of_one_or_two'][0]}".split())
"""Functions of one value, which are called with a column."""
_MOST_RESULTS, _MOST_CONDITIONS, _MOST_VALUES, _MOST_GROUPED, _MOST_ORDERED = 8, 5, 20, 3, 3

HEADING = "// Simple queries of SQLite. Lexer: contextual."
"""The first line of such a grammar."""
_HEAD = f"""\
{HEADING}
start: ({{queries}}) [";"]
_comparison: ("=" | "!=" | "<>" | "<" | "<=" | ">" | ">=") " " _value
_value: STRING | NUMBER
_test: " " _comparison
     | " IS NULL" | " IS NOT NULL"
     | (" LIKE " | " NOT LIKE ") STRING
     | (" BETWEEN " | " NOT BETWEEN ") _value " AND " _value
     | (" IN (" | " NOT IN (") _value (", " _value)~0..{_MOST_VALUES - 1} ")"
_direction: " ASC" | " DESC"
_limit: " LIMIT " COUNT
STRING: /'([^'\\x00-\\x1f\\x7f]|''){{{{0,200}}}}'/
NUMBER: /-?(0|[1-9][0-9]{{{{0,14}}}})(\\.[0-9]{{{{1,9}}}})?/
COUNT: /[1-9][0-9]{{{{0,8}}}}/
"""
_QUERY = """
query{n}: "SELECT " ["DISTINCT "] _results{n} " FROM " {table} [_where{n}] [_grouped{n} | _order{n}] [_limit]
_results{n}: "*" | _result{n} (", " _result{n})~0..{more_results}
_where{n}: " WHERE " _condition{n} ((" AND " | " OR ") _condition{n})~0..{more_conditions}
_condition{n}: _term{n} _test
_grouped{n}: " GROUP BY " _term{n} (", " _term{n})~0..{more_grouped}{having} [_order_of_groups{n}]
_order_of_groups{n}: " ORDER BY " _result{n} [_direction] (", " _result{n} [_direction])~0..{more_ordered}
_order{n}: " ORDER BY " _term{n} [_direction] (", " _term{n} [_direction])~0..{more_ordered}
_column{n}: {columns}
"""


def simple_queries(
    text: str, tables: Mapping[str, Sequence[str]], functions: Iterable[str] | None, statements: Iterable[str] | None
) -> str:
    """The grammar of simple queries. ``text`` is that of the whole language, which has the reserved words."""
    kinds = ["select"] if statements is None else list(statements)
    if kinds != ["select"]:
        raise ArgumentError("level='simple' has queries alone: leave statements out, or pass statements=['select']")
    if len(tables) > _MOST_TABLES:
        raise ArgumentError(f"level='simple' takes at most {_MOST_TABLES} tables, not {len(tables)}: leave some out")
    names = Names(text, is_plain=True)
    of_table = names_of_tables(names, tables)
    called = list(dict.fromkeys(_AGGREGATES if functions is None else functions))
    for one in called:
        if not isinstance(one, str) or one.lower() not in _ALL_AGGREGATES | _SCALARS:
            there = ", ".join(sorted(_ALL_AGGREGATES | _SCALARS))
            raise ArgumentError(f"level='simple' calls only functions of one column: {there}; not {one!r}")
    aggregates = dict.fromkeys(names.function(one) for one in called if one.lower() in _ALL_AGGREGATES)
    scalars = dict.fromkeys(names.function(one) for one in called if one.lower() in _SCALARS)
    has_count = any(one.lower() == "count" for one in called)
    out = [_HEAD.format(queries=" | ".join(f"query{n}" for n in range(len(of_table))))]
    for n, (table, columns) in enumerate(of_table.items()):
        columns = list(dict.fromkeys(columns))
        out.append(
            _QUERY.format(
                n=n,
                table=table,
                columns=" | ".join(columns),
                more_results=max(_MOST_RESULTS, len(columns)) - 1,
                more_conditions=_MOST_CONDITIONS - 1,
                more_grouped=_MOST_GROUPED - 1,
                more_ordered=_MOST_ORDERED - 1,
                having=f' [" HAVING " _aggregate{n} " " _comparison]' if aggregates else "",
            )
        )
        call = f'\n_call{n}: ({" | ".join(scalars)}) "(" _column{n} ")"' if scalars else ""
        out.append(f"_term{n}: _column{n}{f' | _call{n}' if scalars else ''}{call}\n")
        out.append(f"_result{n}: _term{n}{f' | _aggregate{n}' if aggregates else ''}\n")
        if aggregates:
            star = f' | {names.function("count")} "(*)"' if has_count else ""
            out.append(f'_aggregate{n}: ({" | ".join(aggregates)}) "(" ["DISTINCT "] _column{n} ")"{star}\n')
    return "".join(out) + "\n// The names of the database.\n" + "\n".join(names.definitions()) + "\n"
