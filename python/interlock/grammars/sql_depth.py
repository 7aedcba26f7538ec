"""The grammar of SQL with brackets that nest only so deep: functions in functions, expressions and queries in brackets.

A small model goes on with ``abs(abs(abs(`` until its budget ends, since each call may hold another one. A grammar that
counts has a copy of its rules for each level of brackets. What stands in brackets is of the next level, and the last
level has no brackets with expressions or queries in them.
"""

from __future__ import annotations

import re

from interlock._core import ArgumentError
from interlock.util.argument_types import require

__all__ = ["with_depth"]

_DEEPEST = 8
"""Every level is a copy of the rules, and takes as long to compile."""

_DEFINITION = re.compile(r"^(_?[a-z][a-z_]*): (.*(?:\n[ \t]+\S.*)*)\n", re.MULTILINE)
_PART = re.compile(r'"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*|\s*//.*|[^"\w]+')
_OR = "\n    | "
# Brackets around these are no nesting: lists of values, and what INSERT and ON CONFLICT have around names.
_LISTS = ("row", "insert", "upsert")
_IN_BRACKETS = '("(" [expression ("," expression)*] ")" | "(" [with] select ")" | table_name)'


def with_depth(text: str, depth: int) -> str:
    """The grammar with at most ``depth`` brackets, calls and CASE around an expression or a query."""
    require(max_depth=(depth, "count"))
    if not 0 <= depth <= _DEEPEST:
        raise ArgumentError(f"max_depth is how many brackets may stand around each other, 0 to {_DEEPEST}, not {depth}")
    rules = {name: body for name, body in _DEFINITION.findall(text)}
    # Whatever may hold an expression, and calls, which need not.
    counted = {name for name in rules if _kind(name) in ("expression", "call")}
    while more := {name for name, body in rules.items() if counted & set(_names(body))} - counted:
        counted |= more
    made: dict[str, str] = {}
    for level in range(depth + 1):
        for name in [name for name in rules if name in counted]:
            body = rules[name]
            if level == 0:
                body = body.replace(_IN_BRACKETS, "table_name").replace(
                    _IN_BRACKETS.replace("[with] ", ""), "table_name"
                )
            ways = [_levelled(way, level, depth, counted, name) for way in re.split(r"\n\s*\| ", body)]
            made[_at(name, level, depth)] = _OR.join(way for way in ways if way is not None)
    made = _without_empty(made)
    top = [name for name in rules if name not in counted]
    reached = _reached("start", made | {name: rules[name] for name in top})
    written = "".join(f"{name}: {body}\n" for name, body in made.items() if name in reached)

    def kept(found: re.Match[str]) -> str:
        return found[0] if found[1] not in counted and found[1] in reached else ""

    return _DEFINITION.sub(kept, text) + "\n// The levels of brackets.\n" + written


def _names(body: str) -> list[str]:
    return [part for part in _PART.findall(body) if part[0].isalpha() or part[0] == "_"]


def _kind(name: str) -> str:
    """What a rule is for, whichever table it is of."""
    return name.partition("_of_")[0]


def _at(name: str, level: int, depth: int) -> str:
    return name if level == depth else f"{name}_in_{depth - level}"


def _levelled(way: str, level: int, depth: int, counted: set[str], rule: str) -> str | None:
    """One alternative of a rule of ``level``; ``None`` if it needs a level below the last one."""
    out, open_, cases, kind = [], 0, 0, _kind(rule)
    for part in _PART.findall(way):
        if part == '"("':
            open_ += kind not in _LISTS
            # A call counts without arguments, too.
            if kind == "call" and level == 0:
                return None
        elif part == '")"':
            open_ -= kind not in _LISTS
        elif part in ("CASE", "END"):
            cases += 1 if part == "CASE" else -1
        elif part in counted:
            own = level - bool(open_ or cases)
            if own < 0:
                return None
            part = _at(part, own, depth)
        out.append(part)
    return "".join(out)


def _without_empty(rules: dict[str, str]) -> dict[str, str]:
    """``rules`` without those that have no alternative left, and without what needs them."""
    while empty := {name for name, body in rules.items() if not body}:
        optional = re.compile(rf" ?\[(?:{'|'.join(empty)})\]")
        bodies = {name: optional.sub("", body) for name, body in rules.items() if body}
        rules = {
            name: _OR.join(way for way in body.split(_OR) if not empty & set(_names(way)))
            for name, body in bodies.items()
        }
    return rules


def _reached(start: str, rules: dict[str, str]) -> set[str]:
    """The rules that ``start`` leads to."""
    found, todo = {start}, [start]
    while todo:
        more = {name for name in _names(rules[todo.pop()]) if name in rules} - found
        found |= more
        todo += more
    return found
