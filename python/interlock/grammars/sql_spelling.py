"""The grammar of SQL in a plain spelling: keywords in capitals, and single blanks in the place of all white space.

A small model drifts from ``SELECT name FROM`` to ``Select``, to line breaks and to many blanks where a grammar lets it.
"""

from __future__ import annotations

import re

from interlock.grammars.rules import replace_rules

__all__ = ["plain"]

_RULE = re.compile(r"^(_?[a-z][a-z_]*(?:_in_\d+)?): (.*(?:\n[ \t]+\S.*)*)\n", re.MULTILINE)
_KEYWORD = re.compile(r"^([A-Z_]+): /\(\?ai:([a-z_]+)\)\\b/$", re.MULTILINE)


def plain(text: str) -> str:
    """The grammar in the plain spelling. ``text`` has no comments any more."""
    text = _RULE.sub(lambda found: found[0].replace('","', "COMMA"), text)
    text = _KEYWORD.sub(lambda found: f"{found[1]}: /{found[2].upper()}\\b/", text)
    name = re.search(r"^NUMBER: .*(\(\?!\[.*\]\))/i$", text, re.MULTILINE)
    assert name is not None
    bodies = {
        # A blank stands in front of a word or of what opens something, and only one.
        "BLANK": "/ (?=[^ ,);.])/",
        "QUOTED_NAME": r'/"([^"\x00]|"")+"/',
        "BLOB": "/X'([0-9A-F]{2})*'/",
        "NUMBER": rf"/[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?{name[1]}/i",
    }
    return replace_rules(text, bodies) + "\n// The plain spelling.\nCOMMA: /, (?! )/\n"
