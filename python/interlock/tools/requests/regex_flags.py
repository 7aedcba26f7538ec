"""The flags of clients' patterns, which a server decides: patterns in a request have no place for them."""

from __future__ import annotations

from interlock._core import ArgumentError, check_regex
from interlock.util.argument_types import require
from interlock.util.client_messages import of_program, without_hint

__all__ = ["check_regex_flags"]


def check_regex_flags(flags: str) -> None:
    """``ArgumentError`` for a letter that is no flag of Python's dialect, and for flags that exclude each other.
    ``TypeError`` for what is no text. No client is to blame for either. Microseconds.

    >>> check_regex_flags("a")
    >>> try:
    ...     check_regex_flags("g")
    ... except ArgumentError as error:
    ...     print(error)
    regex_flags: unknown pattern flag 'g'; known are i m s x a u
    """
    require(regex_flags=(flags, "text"))
    if not flags:
        return
    try:
        check_regex("", flags=flags)
    except ArgumentError as error:
        raise of_program(ArgumentError(f"regex_flags: {without_hint(error)}")) from None
