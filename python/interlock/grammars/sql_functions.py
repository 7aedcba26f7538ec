"""SQLite's functions, and the arguments that each of them takes."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["FUNCTIONS", "KINDS", "call_rules"]

KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "scalar_of_none": ("changes last_insert_rowid random", ('"(" ")"',)),
    "scalar_of_one": ("abs hex length lower quote sign typeof unicode upper", ('"(" expression ")"',)),
    "scalar_of_one_or_two": ("ltrim round rtrim trim", ('"(" expression ["," expression] ")"',)),
    "scalar_of_two": ("ifnull instr nullif", ('"(" expression "," expression ")"',)),
    "scalar_of_two_or_three": ("substr", ('"(" expression "," expression ["," expression] ")"',)),
    "scalar_of_two_or_more": ("coalesce", ('"(" expression ("," expression)+ ")"',)),
    "scalar_of_three": ("iif replace", ('"(" expression "," expression "," expression ")"',)),
    "scalar_of_any": (
        "char date datetime format julianday printf strftime time unixepoch",
        ('"(" [expression ("," expression)*] ")"',),
    ),
    "extremum": (
        "max min",
        (
            '"(" expression ")" [_filter] [_over]',
            '"(" DISTINCT expression ")" [_filter]',
            '"(" expression ("," expression)+ ")"',
        ),
    ),
    "count": ("count", ('"(" [expression | "*"] ")" [_filter] [_over]', '"(" DISTINCT expression ")" [_filter]')),
    "aggregate": (
        "avg sum total",
        ('"(" expression ")" [_filter] [_over]', '"(" DISTINCT expression ")" [_filter]'),
    ),
    "concatenation": (
        "group_concat",
        ('"(" expression ["," expression] ")" [_filter] [_over]', '"(" DISTINCT expression ")" [_filter]'),
    ),
    "window_of_none": ("cume_dist dense_rank percent_rank rank row_number", ('"(" ")" _over',)),
    "window_of_one": ("first_value last_value ntile", ('"(" expression ")" _over',)),
    "window_of_one_to_three": ("lag lead", ('"(" expression ["," expression ["," expression]] ")" _over',)),
    "window_of_two": ("nth_value", ('"(" expression "," expression ")" _over',)),
}
"""Kinds of functions: their names, and what may follow one. Only aggregates take DISTINCT and FILTER, and only they and
window functions stand in front of OVER. A kind's name is that of a rule, so it has no digits.
"""
_OTHER = "function_name"
_OTHER_CALL = '"(" [[DISTINCT] expression ("," expression)* | "*"] ")" [_filter] [_over]'
_KIND_OF = {name: kind for kind, (names, _) in KINDS.items() for name in names.split()}

FUNCTIONS = tuple(sorted(_KIND_OF))
"""Functions that SQLite has built in."""


def call_rules(functions: Mapping[str, str]) -> dict[str, str]:
    """The rule ``call`` for these functions alone, with the definitions that it needs behind it; an empty body for no
    functions. ``functions`` are the names with the terminals of their names. One that is not in ``FUNCTIONS`` takes any
    arguments.
    """
    terminals: dict[str, dict[str, None]] = {}
    for name, terminal in functions.items():
        terminals.setdefault(_KIND_OF.get(name.lower(), _OTHER), {})[terminal] = None
    calls = [
        f"{kind} {arguments}"
        for kind in terminals
        for arguments in (KINDS[kind][1] if kind in KINDS else (_OTHER_CALL,))
    ]
    definitions = [f"{kind}: {' | '.join(names)}" for kind, names in terminals.items()]
    for rule, body in (("_filter", 'FILTER "(" WHERE expression ")"'), ("_over", "OVER window")):
        if any(rule in call for call in calls):
            definitions.append(f"{rule}: {body}")
    return {"call": "\n    | ".join(calls) + "".join(f"\n{definition}" for definition in definitions) if calls else ""}
