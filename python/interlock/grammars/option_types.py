"""The types of the options that restrict a grammar: a wrong one is a ``TypeError`` that says what was expected."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from interlock.util.argument_types import require


def check_types(options: Mapping[str, Any]) -> None:
    """``TypeError`` for the first option whose value has a wrong type. ``None`` stands for an option not given."""
    for option, value in options.items():
        if option in _FLAGS_AND_COUNTS:
            require(**{option: (value, _FLAGS_AND_COUNTS[option])})
        elif value is not None:
            _check(option, value)


_FLAGS_AND_COUNTS = {
    "parameters": "flag?",
    "comments": "flag?",
    "max_depth": "count?",
    "spelling": "text?",
    "joins": "flag?",
    "level": "text?",
}
_MAPPINGS = {"tables": "columns", "elements": "attributes"}


def _check(option: str, value: Any) -> None:
    if option == "columns":
        # A set has no order, so it cannot say which name is the first of a record.
        is_list = isinstance(value, Collection) and not isinstance(value, (set, frozenset, bytes))
        words = "columns must be a number of columns or a list of their names"
        _expect(is_list or isinstance(value, int), words, value)
    elif option in ("functions", "statements"):
        is_list = isinstance(value, Iterable) and not isinstance(value, (str, bytes))
        _expect(is_list, f"{option} must be names in a list", value)
    elif option in _MAPPINGS:
        part = _MAPPINGS[option]
        _expect(isinstance(value, Mapping), f"{option} must map names of {option} to lists of {part}", value)
        for name, inner in value.items():
            _expect(isinstance(inner, Collection), f"the {part} of {name!r} must be names in a list", inner)


def _expect(fits: bool, words: str, value: Any) -> None:
    if not fits:
        raise TypeError(f"{words}, not {type(value).__name__}")
