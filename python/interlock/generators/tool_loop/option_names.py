"""Names of arguments of a tool loop that are nearly right: those of other packages, and slips."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from interlock._core import ArgumentError
from interlock.util.near_words import meant

__all__ = ["check_names"]

_OWN = ("functions", "max_rounds", "tool_choice", "format", "parallel", "on_error", "on_repeat", "stream")
# Names that other packages give to what has another name here.
_OTHER_NAMES = {
    name: own
    for own, names in {
        "max_rounds": "rounds max_turns turns max_steps steps max_iterations max_iter iterations max_calls "
        "max_tool_calls max_tool_rounds max_loops recursion_limit",
        "parallel": "parallel_tool_calls disable_parallel_tool_use",
        "tool_choice": "choice force_tool",
        "format": "tool_format tool_parser tool_call_parser",
        "functions": "callables available_functions",
    }.items()
    for name in names.split()
}
_SLIP = 0.75
"""More than elsewhere: what is nearly one of these may be an option of the backend."""


def check_names(options: Mapping[str, Any], known: Collection[str]) -> None:
    """``ArgumentError`` for an option of a tool loop that is none of the backend's, which are ``known``, and has the
    name of another package for one of the loop's, or nearly its own.

    >>> check_names({"temperature": 0.7}, ["temperature"])
    >>> check_names({"rounds": 3}, ["temperature"])
    Traceback (most recent call last):
      ...
    interlock.ArgumentError: 'rounds' has another name here: pass max_rounds
    """
    for name in options:
        if name in known:
            continue
        if other := _OTHER_NAMES.get(name):
            raise ArgumentError(f"{name!r} has another name here: pass {other}")
        if hint := meant(name, _OWN, _SLIP):
            raise ArgumentError(f"a tool loop has no option {name!r}{hint}")
