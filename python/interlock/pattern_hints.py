r"""Mistakes in patterns that no error shows: ``\d``, ``\w`` and ``\s`` are wider than they look.

In a ``str`` pattern of Python ``\d`` matches the digits of every script, and a mask allows what the pattern matches. A
model that is held to ``\d{4}`` may write ``२०२६``. So generators read a pattern as ASCII where that narrows it
(``interlock.ascii_patterns``), and warn once of each other one.
"""

from __future__ import annotations

import re

from interlock.caller_warnings import warn_caller

__all__ = ["UnicodeClassWarning", "unicode_classes", "warn_unicode_classes"]

_CLASSES = {
    "d": ("the digits of every script", "[0-9]"),
    "w": ("the letters and digits of every script", "[A-Za-z0-9_]"),
    "s": ("the white space of every script", "[ \\t\\n]"),
}


class UnicodeClassWarning(UserWarning):
    r"""A pattern has ``\d``, ``\w`` or ``\s`` without ``re.ASCII``, and a model may write those of any script.

    A model in this process is held to ASCII by itself, unless the pattern excludes characters too (``[^\w]``, ``\D``,
    ``(?!...)``): ASCII would then allow what the pattern refuses. ``re.compile(pattern, re.ASCII)`` keeps to ASCII.
    Where every script is meant, begin the pattern with ``(?u)``.
    """

    __module__ = "interlock"  # Where programs find it, as tracebacks should say.


def unicode_classes(pattern: re.Pattern[str]) -> list[str]:
    r"""The classes of ``pattern`` that are wider than ASCII, in the order ``\d``, ``\w``, ``\s``. None with
    ``re.ASCII``, and none where a part of the pattern has that flag, or ``(?u)``, since its author knows of it.

    >>> unicode_classes(re.compile(r"\d{4}-[\w]")), unicode_classes(re.compile(r"\d", re.ASCII))
    (['\\d', '\\w'], [])
    """
    if pattern.flags & re.ASCII or re.search(r"\(\?[imsx]*[au]", pattern.pattern):
        return []
    escaped = {found[1] for found in re.finditer(r"\\(.)", pattern.pattern, re.DOTALL)}
    return [f"\\{letter}" for letter in _CLASSES if letter in escaped]


def warn_unicode_classes(pattern: re.Pattern[str]) -> None:
    """Warn (``UnicodeClassWarning``) of classes that are wider than ASCII."""
    found = unicode_classes(pattern)
    if not found:
        return
    what, instead = _CLASSES[found[0][1]]
    short = pattern.pattern if len(pattern.pattern) <= 40 else pattern.pattern[:37] + "..."
    warn_caller(
        f"{found[0]} in the pattern {short!r} matches {what}, and the model may write them: pass "
        f"re.compile(..., re.ASCII), or write {instead}; (?u) in front of the pattern says that every script is meant",
        UnicodeClassWarning,
    )
