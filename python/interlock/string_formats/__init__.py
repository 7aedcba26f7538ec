"""The formats of strings: an example of each, and which of its rules a text breaks, in words.

The engine says whether a text is of a format; what is here is for people, and for choices that depend on a format. This
is the one list of formats in Python: misspelt names, samples and hints have theirs from it. A rule here is one of the
format's standard, so that a text that breaks it is not of the format for anybody.
"""

from __future__ import annotations

from interlock.string_formats import hosts, identifiers, times, uris
from interlock.string_formats.string_format import StringFormat

__all__ = ["FORMATS", "StringFormat", "broken_rule"]

FORMATS: dict[str, StringFormat] = {**times.FORMATS, **hosts.FORMATS, **uris.FORMATS, **identifiers.FORMATS}
"""By name, all formats that the engine asserts: those of drafts 4 to 2020-12, and others that a registry names."""


def broken_rule(name: str, text: str) -> str:
    """The rule of a format that a text breaks; empty where none is found.

    >>> broken_rule("date", "2026-04-31"), broken_rule("date", "2026-04-30")
    ('April has 30 days, not 31', '')
    """
    known = FORMATS.get(name)
    return known.broken_rule(text) if known is not None else ""
