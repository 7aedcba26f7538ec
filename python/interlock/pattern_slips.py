r"""Mistakes in patterns that no error shows: ``\d``, ``\w`` and ``\s`` are wider than they look, and POSIX classes are
none here.

In a ``str`` pattern of Python ``\d`` matches the digits of every script, and a mask allows what the pattern matches. A
model that is held to ``\d{4}`` may write ``२०२६``. So generators read a pattern as ASCII where that narrows it
(``interlock.ascii_patterns``), and warn once of each other one.

``[[:alpha:]]`` is a class of letters in ``grep``. In Python and ECMA-262 it is one of the characters ``[ : a l p h``,
and then a ``]``.
"""

from __future__ import annotations

import re

from interlock.util.caller_warnings import warn_caller

__all__ = ["CLASSES", "UnicodeClassWarning", "posix_class", "unicode_classes", "warn_unicode_classes"]

CLASSES = {
    "d": ("the digits of every script", "[0-9]"),
    "w": ("the letters and digits of every script", "[A-Za-z0-9_]"),
    "s": ("the white space of every script", "[ \\t\\n]"),
}
"""What a class matches beside ASCII, and what to write instead."""


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
    return [f"\\{letter}" for letter in CLASSES if letter in escaped]


def warn_unicode_classes(pattern: re.Pattern[str]) -> None:
    """Warn (``UnicodeClassWarning``) of classes that are wider than ASCII."""
    found = unicode_classes(pattern)
    if not found:
        return
    what, instead = CLASSES[found[0][1]]
    short = pattern.pattern if len(pattern.pattern) <= 40 else pattern.pattern[:37] + "..."
    warn_caller(
        f"{found[0]} in the pattern {short!r} matches {what}, and the model may write them: pass "
        f"re.compile(..., re.ASCII), or write {instead}; (?u) in front of the pattern says that every script is meant",
        UnicodeClassWarning,
    )


_POSIX = {
    "alnum": "A-Za-z0-9",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-\/:-@\[-`{-~",
    "space": r" \t\n\r\f\v",
    "upper": "A-Z",
    "word": "A-Za-z0-9_",
    "xdigit": "0-9A-Fa-f",
}
_PIECES = re.compile(rf"(?P<escape>\\.)|(?P<posix>\[:(?P<name>{'|'.join(_POSIX)}):\])|\[\^?\]?|\]", re.DOTALL)


def posix_class(pattern: str) -> str:
    r"""What is wrong with the first POSIX class of a pattern, and the pattern that was meant; empty if there is none.

    Neither Python nor ECMA-262 has such classes.

    >>> posix_class("[[:alpha:]_]+")
    '[:alpha:] is no class here, and stands for its single characters; did you mean [A-Za-z_]+?'
    >>> posix_class(r"\[:alpha:\]"), posix_class("[a-z]")
    ('', '')
    """
    first, inside, meant, end = "", False, [], 0
    for piece in _PIECES.finditer(pattern):
        meant.append(pattern[end : piece.start()])
        end = piece.end()
        if piece["posix"]:
            first = first or piece["name"]
            members = _POSIX[piece["name"]]
            meant.append(members if inside else f"[{members}]")
            continue
        if not piece["escape"]:
            inside = piece[0] != "]"
        meant.append(piece[0])
    if not first:
        return ""
    written = "".join([*meant, pattern[end:]])
    way = f"did you mean {written}?" if len(written) <= 80 else f"did you mean {_POSIX[first]}?"
    return f"[:{first}:] is no class here, and stands for its single characters; {way}"
