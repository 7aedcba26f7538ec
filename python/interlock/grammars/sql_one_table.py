"""The grammar of SQL in which each query reads one table, and names the columns of that table alone.

No context-free grammar compares names in two places, but it can have a copy of its rules for each table: the copy has
one table behind FROM, and that table's columns everywhere else. One more copy is for what reads no table: SELECT
without FROM, rows behind VALUES, numbers behind LIMIT. A query in brackets may read any table, and sees its own columns
alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from interlock._core import ArgumentError, InternalError
from interlock.grammars.rules import replace_rules

__all__ = ["with_one_table_each"]

_DEFINITION = re.compile(r"^(_?[a-z][a-z_]*): (.*(?:\n[ \t]+\S.*)*)\n", re.MULTILINE)
_PART = re.compile(r'"(?:[^"\\]|\\.)*"|\w+')
_NO_TABLE = "no_table"
_MOST = 12
"""Until FROM a query may be of each table that has its columns, and masks take as many times longer."""
# Rules that hold queries of any table, and have no columns of their own.
_AROUND_QUERIES = {"start", "select", "_cores", "_ends_in_query", "_ends_in_values", "values", "row", "_limit"}
_STATEMENTS = ("ordered", "query", "insert", "update", "delete")
_FOR_JOINS = ("_tables", "table", "join", "join_condition")


def with_one_table_each(text: str, tables: Mapping[str, Sequence[str]]) -> str:
    """``text``, which has the names of a database already, with one table in each query. ``tables`` are the terminals
    of their names, each with the terminals of its columns.
    """
    if len(tables) > _MOST:
        raise ArgumentError(
            f"joins=False is for at most {_MOST} tables, not {len(tables)}: leave out those that a question is not "
            "about, or permit joins"
        )
    scopes = {_letter(number): table for number, table in enumerate(tables)}
    text = _without_joins(text)
    rules = dict(_DEFINITION.findall(text))
    scoped = {"own_table", "column", "column_name", "all_columns"}
    while more := {name for name, body in rules.items() if scoped & _names(body)} - scoped - _AROUND_QUERIES:
        scoped |= more
    # A copy with the name of another rule would stand in that rule's places, too.
    if taken := rules.keys() & {f"{name}_of_{scope}" for name in scoped for scope in [*scopes, _NO_TABLE]}:
        raise InternalError(f"rules have the names of copies for a table: {', '.join(sorted(taken))}")
    made = {}
    for name, body in rules.items():
        if name not in scoped:
            # Names that are meant for any table stay, and the others are for none.
            made[name] = _renamed(body, scoped.difference(_STATEMENTS), _NO_TABLE)
        elif name in _STATEMENTS:
            has_none = name in ("ordered", "query")
            made[name] = " | ".join(f"{name}_of_{scope}" for scope in [*scopes, *[_NO_TABLE] * has_none])
    for scope, table in scopes.items():
        own = {
            "own_table": table,
            "column": f'column_name | {table} "." column_name',
            "column_name": " | ".join(dict.fromkeys(tables[table])),
            "all_columns": f'{table} "." "*"',
        }
        made |= {f"{name}_of_{scope}": _renamed((rules | own)[name], scoped, scope) for name in rules if name in scoped}
    without_columns = rules | {
        "query": rules["query"].replace(" FROM own_table", ""),
        "result": "expression [result_alias]",
        "primary": rules["primary"].replace("\n       | column\n", "\n"),
    }
    made |= {
        f"{name}_of_{_NO_TABLE}": _renamed(without_columns[name], scoped, _NO_TABLE) for name in rules if name in scoped
    }
    return _with_rules(text, made)


def _without_joins(text: str) -> str:
    """The grammar whose queries have one table, ``own_table``, behind FROM, and ORDER BY for its columns."""
    text = text.replace("result)* [FROM _tables]", "result)* FROM own_table").replace(" [FROM _tables]", "")
    text = re.sub(r"^((?:insert|update|delete): .*?) table_name", r"\1 own_table", text, flags=re.MULTILINE)
    select = (
        "ordered | _cores (UNION [ALL] | INTERSECT | EXCEPT) query [_limit] | _ends_in_values\n"
        'ordered: query [ORDER BY ordering ("," ordering)*] [_limit]\n'
        '_limit: LIMIT expression [(OFFSET | ",") expression]\n'
        "own_table: table_name"
    )
    return replace_rules(text, {"select": select, **dict.fromkeys(_FOR_JOINS, "")})


def _letter(number: int) -> str:
    """A name for a table: names of rules have no digits here."""
    return chr(ord("a") + number)


def _names(body: str) -> set[str]:
    return set(_PART.findall(body))


def _renamed(body: str, names: set[str], scope: str) -> str:
    """``body`` with the names of rules that it has a copy of for this table."""
    return _PART.sub(lambda found: f"{found[0]}_of_{scope}" if found[0] in names else found[0], body)


def _with_rules(text: str, rules: Mapping[str, str]) -> str:
    """``text`` with these rules in the place of its own, without those and the keywords that nothing leads to."""
    reached, todo = {"start"}, ["start"]
    while todo:
        more = _names(rules.get(todo.pop(), "")) - reached
        reached |= more
        todo += more
    written = "".join(f"{name}: {body}\n" for name, body in rules.items() if name in reached)
    text = _DEFINITION.sub("", text) + "\n// The rules of each table.\n" + written
    keywords = re.findall(r"^([A-Z_]+): /\(\?ai:", text, re.MULTILINE)
    return replace_rules(text, {keyword: "" for keyword in keywords if keyword not in reached})
