"""Options of a compile, checked where the method that takes them depends on the output type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock._core import ArgumentError
from interlock._recipe import OPTIONS
from interlock.util.near_words import meant

__all__ = ["check_compile_options"]

#: The method of ``Index`` that each kind of output type is compiled by.
_METHODS = {
    "json_schema": "from_json_schema",
    "regex": "from_regex",
    "text": "from_regex",
    "choices": "from_choices",
    "grammar": "from_grammar",
}
_WORDS = {
    "json_schema": "JSON",
    "regex": "a pattern",
    "text": "a text",
    "choices": "a list of choices",
    "grammar": "a grammar",
}
_KNOWN = frozenset({"cancel"}.union(*OPTIONS.values()))
_ELSEWHERE = {
    "max_tokens": "a budget belongs to a guide: index.guide(max_tokens=...)",
    "syntax": "the notation belongs to the grammar: interlock.Grammar(text, syntax='gbnf')",
}


def check_compile_options(kind: str, options: Mapping[str, Any]) -> None:
    """``ArgumentError`` for an option that no output type has, with the one that is probably meant, and for one that
    JSON has not.

    Options of JSON mean nothing to patterns, choices and grammars, and are taken there: a program passes the same ones
    for every type.

    >>> check_compile_options("regex", {"whitespace": "compact"})
    >>> check_compile_options("json_schema", {"whitespac": "compact"})
    Traceback (most recent call last):
      ...
    interlock.ArgumentError: there is no option 'whitespac'; did you mean 'whitespace'?
    """
    for name in options:
        if name in _ELSEWHERE:
            raise ArgumentError(f"an index has no option {name!r}: {_ELSEWHERE[name]}")
        own = [*OPTIONS[_METHODS[kind]], "cancel"]
        if name not in _KNOWN:
            way = meant(name, sorted(_KNOWN)) or f"; {_WORDS[kind]} has {', '.join(own)}"
            raise ArgumentError(f"there is no option {name!r}{way}")
        if kind == "json_schema" and name not in own:
            raise ArgumentError(f"{name!r} is no option of JSON; there are {', '.join(own)}")
