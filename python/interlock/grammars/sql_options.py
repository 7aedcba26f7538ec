"""The options of the grammar of SQL, one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from interlock._core import ArgumentError
from interlock.grammars.rules import replace_rules
from interlock.grammars.sql_depth import with_depth
from interlock.grammars.sql_functions import FUNCTIONS
from interlock.grammars.sql_names import with_tables, without_comments, without_parameters, without_two_signs
from interlock.grammars.sql_simple import LEVELS, simple_queries
from interlock.grammars.sql_spelling import plain
from interlock.util.near_words import meant
from interlock.util.quoting import quoted

__all__ = ["OPTIONS", "STATEMENTS", "sql_text"]

OPTIONS = ("statements", "tables", "functions", "parameters", "comments", "spelling", "max_depth", "joins", "level")
STATEMENTS = ("select", "insert", "update", "delete")
"""Kinds of statements. ``"select"`` has VALUES too, and ``"insert"`` has REPLACE."""
_SPELLINGS = ("plain", "any")


def sql_text(text: str, given: Mapping[str, Any]) -> str:
    """The grammar with the options that are given."""
    spelling = given.get("spelling", "any")
    if spelling not in _SPELLINGS:
        raise ArgumentError(f"spelling is 'plain' or 'any', not {quoted(spelling)}{meant(spelling, _SPELLINGS)}")
    level = given.get("level", "full")
    if level not in LEVELS:
        raise ArgumentError(f"level is 'simple' or 'full', not {quoted(level)}{meant(level, LEVELS)}")
    if level == "simple":
        return _simple(text, given)
    if spelling == "plain" and given.get("comments"):
        raise ArgumentError("comments are none of the plain spelling: pass spelling='any' with comments=True")
    if "statements" in given:
        text = _with_statements(text, given["statements"])
    if not given.get("parameters", "tables" not in given):
        text = without_parameters(text)
    if spelling == "plain" or not given.get("comments", "tables" not in given):
        text = without_two_signs(without_comments(text))
    if "tables" in given:
        functions, joins = given.get("functions", FUNCTIONS), given.get("joins", True)
        text = with_tables(text, given["tables"], functions, is_plain=spelling == "plain", joins=joins)
    elif not given.get("joins", True):
        raise ArgumentError("joins=False ties columns to their tables, so it needs tables")
    elif "functions" in given:
        raise ArgumentError("functions are restricted together with tables")
    if "max_depth" in given:
        text = with_depth(text, given["max_depth"])
    return plain(text) if spelling == "plain" else text


def _simple(text: str, given: Mapping[str, Any]) -> str:
    """The grammar of simple queries, for the options that it takes."""
    if "tables" not in given:
        raise ArgumentError("level='simple' ties columns to their tables, so it needs tables")
    for option in ("max_depth", "parameters", "comments"):
        if given.get(option):
            raise ArgumentError(f"level='simple' has nothing for {option} to change: leave it out")
    if given.get("spelling", "plain") != "plain":
        raise ArgumentError("level='simple' is written in the plain spelling: leave spelling out")
    if "statements" in given:
        _with_statements(text, given["statements"])
    return simple_queries(text, given["tables"], given.get("functions"), given.get("statements"))


def _with_statements(text: str, statements: Iterable[str]) -> str:
    """The grammar of these kinds of statements alone."""
    chosen = list(dict.fromkeys(statements))
    if not chosen:
        raise ArgumentError(f"statements are some of {', '.join(STATEMENTS)}, and none is given")
    for one in chosen:
        if one not in STATEMENTS:
            near = meant(one, STATEMENTS) if isinstance(one, str) else ""
            raise ArgumentError(f"statements are some of {', '.join(STATEMENTS)}, not {quoted(one)}{near}")
    found = re.search(r"^start: (.*)\((select \| insert \| update \| delete)\)(.*)$", text, re.MULTILINE)
    assert found is not None
    return replace_rules(text, {"start": f"{found[1]}({' | '.join(chosen)}){found[3]}"})
