"""What to do about a pattern that cannot be read, by what its error says."""

from __future__ import annotations

from interlock import PatternError

__all__ = ["way_to_mend"]

_WAYS = (
    (("missing ), unterminated comment",), "write ) where the comment ends"),
    (("missing >, ",), "write > where the name ends"),
    (("missing ), ", "unterminated group"), r"write ) where the group ends, or \( for the character itself"),
    (("unterminated character",), r"write ] where the set ends, or \[ for the character itself"),
    (("nothing to repeat",), r"write what is to be repeated before it, or \{} for the character itself"),
    (
        ("multiple repeat",),
        r"leave out one of the two, put the first into a group, (?:...), or write \{} for {} itself",
    ),
    (("min repeat greater", "numbers out of order"), "write the smaller number first"),
    (("bad character range", "range out of order"), r"write the lower end first, or \- for the character itself"),
    (("unbalanced parenthesis", "unmatched )"), r"leave it out, or write \) for the character itself"),
    (("bad escape (end of pattern)", "\\ at end of pattern"), r"leave it out, or write \\ for the character itself"),
    (("bad escape \\", "invalid escape \\"), "leave out the backslash for the character itself"),
    (("redefinition of group name", "another group has the name"), "give one of the two groups another name"),
    (("unknown group name", "invalid group reference"), "name a group that the pattern has"),
    (("global flags not at the start",), "--flags gives flags for the whole pattern; (?i:...) for a part of it"),
    (("look-behind requires",), "write alternatives of one length inside it"),
    (("unknown Unicode property",), r"a category, \p{L}, or a script, \p{Script=Greek}"),
    (("unknown extension", "invalid group"), r"(?:...) is a group, (?=...) looks ahead; write \( for the character"),
)
_OTHERS = r"write \ before a character that stands for itself"


def way_to_mend(error: PatternError, pattern: str, in_json: bool = False) -> str:
    r"""What to do about a pattern that cannot be read; empty where the error says it. In a string of
    JSON a backslash is written twice.

    >>> way_to_mend(PatternError("multiple repeat"), "a**")
    'leave out one of the two, put the first into a group, (?:...), or write \\* for * itself'
    """
    message = str(error)
    if "; write " in message:  # It says so itself.
        return ""
    way = next((way for begins, way in _WAYS if message.startswith(begins)), _OTHERS)
    offset = getattr(error, "offset", None)
    if "{}" in way:
        at = pattern[offset : offset + 1] if offset is not None else ""
        way = way.replace("{}", at or "*")
    return way.replace("\\", "\\\\") if in_json else way
