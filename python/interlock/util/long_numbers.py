"""Integers of more digits than Python turns into text or back: what to say of them to those who sent one.

Python bounds these digits (``sys.set_int_max_str_digits``) and raises a plain ``ValueError``, whose words are for the
program. ``json.loads`` raises it for a body that is well formed JSON, so a client is told of its number instead.
"""

from __future__ import annotations

import re

__all__ = ["in_words_of_clients", "said_of_digits"]

_OF_PYTHON = re.compile(
    r"Exceeds the limit \((\d+)(?: digits)?\) for integer string conversion"
    r"(?:: value has \d+ digits)?(?:; use sys\.\w+\(\)(?: to increase the limit)?)?"
)
"""Python's words, which are not quite the same in all of its versions."""


def said_of_digits(error: BaseException) -> str:
    """What is wrong, where ``error`` is Python's about too many digits; empty for any other error.

    >>> try:
    ...     int("1" * 5_000)
    ... except ValueError as error:
    ...     said_of_digits(error)
    'a number has too many digits: at most 4300 are read'
    >>> said_of_digits(ValueError("no number"))
    ''
    """
    found = _OF_PYTHON.match(str(error)) if type(error) is ValueError else None
    return "" if found is None else in_words_of_clients(found[0])


def in_words_of_clients(message: str) -> str:
    """``message`` without Python's own words about too many digits, which the core may pass on.

    >>> in_words_of_clients("no JSON: Exceeds the limit (4300 digits) for integer string conversion; use sys.f()")
    'no JSON: a number has too many digits: at most 4300 are read'
    """
    return _OF_PYTHON.sub(r"a number has too many digits: at most \1 are read", message)
