"""Which part of a pattern the format ``regex`` leaves out, although ECMA-262 has it."""

from __future__ import annotations

import re

from interlock.string_formats.wording import part

__all__ = ["left_out"]

DEPTH = 3
"""How deep groups nest."""
PIECES = re.compile(
    r"(?P<reference>\\[1-9][0-9]*|\\k<[^>]*>)|(?P<escape>\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\0)|\\.|"
    r"\[\^?(?P<members>(?:\\.|[^\]\\])*)\]|(?P<named>\(\?<(?![=!]))|(?P<open>\()|(?P<close>\))|"
    r"(?P<count>\{(?P<low>[0-9]+)(?:,(?P<high>[0-9]*))?\})",
    re.DOTALL,
)
MEMBERS = re.compile(r"(?P<range>[^\\-]-[^\\])|\\.|.", re.DOTALL)
KINDS = ("[0-9]-[0-9]", "[A-Z]-[A-Z]", "[a-z]-[a-z]")


def left_out(text: str) -> str:
    """The first part of a pattern that the engine leaves out; empty where none is found.

    >>> left_out("[A-z]"), left_out("[A-Za-z]")
    ('the range "A-z"; ranges in classes are of digits, of A-Z or of a-z', '')
    """
    open_groups: list[bool] = []
    named = False
    for piece in PIECES.finditer(text):
        if piece["reference"]:
            return f"the back reference {part(piece[0])}"
        if piece["escape"]:
            return f"the escape {part(piece[0])}"
        if piece["members"]:
            for member in MEMBERS.finditer(piece["members"]):
                if member["range"] and not any(re.fullmatch(kind, member[0]) for kind in KINDS):
                    return f"the range {part(member[0])}; ranges in classes are of digits, of A-Z or of a-z"
        elif piece["named"]:
            if named:
                return "a second named group; at most one is named"
            if open_groups:
                return "a named group inside another group"
            named = True
            open_groups.append(False)
        elif piece["open"]:
            open_groups.append(True)
            if sum(open_groups) > DEPTH:
                return "a group inside three others; groups nest three deep"
        elif piece["close"] and open_groups:
            open_groups.pop()
        elif piece["count"] and (len(piece["low"]) > 2 or len(piece["high"] or "") > 2):
            return f"the count {part(piece[0])}; counts have at most two digits"
        elif piece["count"] and piece["high"] and len(piece["low"]) > 1:
            return f"the count {part(piece[0])}; the lower of two bounds has one digit"
    return ""
