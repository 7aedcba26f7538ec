"""Grammars of common languages, in Lark's notation.

Each grammar is a file of this folder, written from the language's standard: `names` lists them, `load` gives the
text of one. A text is an output type: ``gen(prompt, grammars.load("json"))``. Its attribute ``lexer``, and `lexer` of
its name, is the lexer that it is written for. Some take options that restrict them to what one program can use: the
tables and columns of a database, the elements of a kind of document, the columns of a file.

    >>> from interlock import grammars
    >>> grammars.names()
    ['arithmetic', 'c', 'csv', 'go', 'java', 'json', 'python', 'sql', 'xml']
    >>> text = grammars.sql(tables={"student": ["name", "age"]})
    >>> "start:" in text, text.lexer
    (True, 'contextual')
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import Any, Literal

from interlock._core import ArgumentError
from interlock.grammars.csv_columns import with_columns
from interlock.grammars.grammar_text import GrammarText
from interlock.grammars.option_types import check_types
from interlock.grammars.sql_functions import FUNCTIONS
from interlock.grammars.sql_options import OPTIONS as SQL_OPTIONS
from interlock.grammars.sql_options import STATEMENTS, sql_text
from interlock.grammars.xml_elements import with_elements
from interlock.util.argument_types import require
from interlock.util.near_words import meant, nearest, telling_slips

__all__ = ["FUNCTIONS", "STATEMENTS", "GrammarText", "lexer", "load", "names", "sql"]

# The options of each grammar that has any.
_OPTIONS = {
    "csv": ("columns",),
    "sql": SQL_OPTIONS,
    "xml": ("elements",),
}


def names() -> list[str]:
    """The names of all grammars, sorted."""
    files = resources.files(__name__).iterdir()
    return sorted(file.name.removesuffix(".lark") for file in files if file.name.endswith(".lark"))


def lexer(name: str) -> Literal["contextual"]:
    """The lexer that a grammar is written for, as `Index.from_grammar` takes it.

    All of them are written for ``"contextual"``: where the parser can go on with several terminals, the longest match
    is taken. The words of a language are reserved.

    Raises:
        ArgumentError: there is no grammar of this name.
    """
    _known(name)
    return "contextual"


def load(name: str, **options: Any) -> GrammarText:
    """The text of a grammar, in Lark's notation; its start rule is ``start``. It can be passed as an output type.

    Options:
        columns: for ``"csv"``, how many fields a record has, or their names, which are then the first record.
        statements, tables, functions, parameters, comments, spelling, max_depth, joins, level: for ``"sql"``; see
            `sql`. Without `tables` comments are permitted, and `spelling` is ``"any"`` unless it is given.
        elements: for ``"xml"``, a mapping from the names of elements to the names of their attributes. A closing tag
            then repeats its opening tag's name, and attributes come in this order, each at most once.

    Raises:
        ArgumentError: there is no grammar of this name, it has no such option, or the option's value does not fit.
        TypeError: the option's value has a wrong type.

    Costs a read of a file, at most 60 kB.

        >>> from interlock import grammars
        >>> text = grammars.load("csv", columns=["name", "age"])
        >>> print(*(line for line in text.splitlines() if line.startswith(("start", "record"))), sep="\\n")
        start: HEADER (LINE_END record)* [LINE_END]
        record: [field] "," [field]
    """
    _known(name)
    return GrammarText(_text(name, options), lexer(name))


def _text(name: str, options: Mapping[str, Any]) -> str:
    text = resources.files(__name__).joinpath(f"{name}.lark").read_text(encoding="utf-8")
    for option in options:
        if option not in _OPTIONS.get(name, ()):
            known = _OPTIONS.get(name, ())
            there = f"; it has {', '.join(known)}{meant(option, known)}" if known else "; it has none"
            raise ArgumentError(f"the grammar {name!r} has no option {option!r}{there}")
    check_types(options)
    given = {option: value for option, value in options.items() if value is not None}
    if name == "csv" and "columns" in given:
        return with_columns(text, given["columns"])
    if name == "xml" and "elements" in given:
        return with_elements(text, given["elements"])
    if name == "sql" and given:
        return sql_text(text, given)
    return text


@telling_slips
def sql(
    tables: Mapping[str, Sequence[str]] | None = None,
    functions: Iterable[str] | None = None,
    parameters: bool | None = None,
    comments: bool = False,
    max_depth: int | None = None,
    *,
    statements: Sequence[Literal["select", "insert", "update", "delete"]] | None = None,
    spelling: Literal["plain", "any"] | None = None,
    joins: bool = True,
    level: Literal["simple", "full"] | None = None,
) -> GrammarText:
    """SQL as SQLite reads it: one SELECT, INSERT, REPLACE, UPDATE or DELETE. It can be passed as an output type.

    Args:
        tables: the tables that a statement may name, each with its columns. A column stands alone or behind the name
            of a table that has it. There are no other names then: no aliases of tables, no common tables, no other
            schemas, no names for windows. A result may still be given a new name behind ``AS``. Columns are not tied to
            the tables behind FROM: of two tables ``student`` and ``city`` with a ``mayor``, ``SELECT mayor FROM
            student`` is accepted, and SQLite refuses it. `joins=False` ties them. The page of the grammars lists what
            else SQLite refuses.
        functions: the functions that a statement may call, none for an empty list. `FUNCTIONS`, which SQLite has built
            in, if nothing is said. Those have as many arguments as SQLite takes; other functions have any.
        parameters: whether a statement may have parameters (``?``, ``:name``), whose values the program binds. By
            default it may not where `tables` are given: the statement runs as it is.
        comments: whether a statement may have comments (``--``, ``/* */``). By default it may not: a small model would
            write on in a comment until its budget ends.
        max_depth: how many calls, brackets and CASE may stand around each other: with 1, ``sum(price)``, and not
            ``round(sum(price))``. Brackets around VALUES and names do not count. Without it they nest without end, as a
            small model does. At most 8; each level makes the grammar a third longer.
        statements: which statements there may be, all of `STATEMENTS` by default. ``["select"]`` is for a program that
            only reads. VALUES belongs to ``"select"``, REPLACE to ``"insert"``.
        spelling: ``"plain"`` has keywords in capitals, single blanks in the place of all white space, a blank behind
            each comma, names as `tables` spell them, and numbers in digits, so that a small model cannot drift.
            Functions may be written as they are named, or in capitals. ``"any"`` has every spelling that SQLite reads.
            By default it is ``"plain"``, and ``"any"`` with ``comments=True``.
        joins: whether a query may read more than one table. With False each SELECT, UPDATE and DELETE is of one table,
            and names the columns of that table alone; so does each query in brackets, which then has no columns of the
            query around it. Behind UNION and the like there is no ORDER BY. It needs `tables`, at most 12: the grammar
            has a copy of its rules for each of them, and masks before FROM take longer.
        level: ``"simple"`` is for a small model that answers questions about tables: ``SELECT`` columns and aggregates
            ``FROM`` one table, with ``WHERE`` comparisons with values, ``GROUP BY``, ``HAVING``, ``ORDER BY`` and
            ``LIMIT``. Nothing nests, lists and strings have an end, columns are those of the table, and SQLite runs
            each such query. It needs `tables`, at most 12. `functions` are of one column, five aggregates by default.
            ``"full"``, the default, is the language of the other options.

    Raises:
        ArgumentError: `tables` is empty or has a table without columns, a name is empty or holds the character zero,
            `functions` or ``joins=False`` are given without `tables`, ``joins=False`` with more than 12 tables,
            `max_depth` is not one of 0 to 8, `statements` are none or unknown, or `spelling` is unknown, or plain
            together with comments; `level` is unknown, or ``"simple"`` with an option that it has no place for.

        >>> from interlock import grammars
        >>> text = grammars.sql(tables={"student": ["name", "age"]})
        >>> text.accepts("SELECT age FROM student"), text.accepts("select age\\nfrom Student")
        (True, False)
        >>> grammars.sql({"student": ["name", "age"]}, level="simple").accepts("SELECT max(age) FROM student")
        True
    """
    require(comments=(comments, "flag"), joins=(joins, "flag"))
    if spelling is None:
        spelling = "any" if comments else "plain"
    options = {"parameters": parameters, "comments": comments, "max_depth": max_depth, "level": level}
    return load(
        "sql", tables=tables, functions=functions, statements=statements, spelling=spelling, joins=joins, **options
    )


def _known(name: str) -> None:
    require(name=(name, "text"))
    if name not in names():
        raise ArgumentError(f"there is no grammar {name!r}{_meant(name)}; there are {', '.join(names())}")


def _meant(name: str) -> str:
    near = nearest(name, names())
    return f", did you mean {near!r}?" if near else ""


def __getattr__(name: str) -> Any:
    """``AttributeError`` that says how a grammar is loaded, or which name is probably meant."""
    missing = f"module 'interlock.grammars' has no attribute {name!r}"
    if not name.startswith("_"):
        found = name if name in names() else nearest(name, [*__all__, *names()])
        if found:
            way = found if found in __all__ else f"load({found!r})"
            raise AttributeError(f"{missing}; did you mean grammars.{way}?", name=name)
    raise AttributeError(missing, name=name)
