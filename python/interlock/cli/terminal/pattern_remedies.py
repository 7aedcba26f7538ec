r"""What to do about a pattern that cannot be read, by how the message of its error begins.

The messages are those of the parsers in ``src/regex/parse``. Nearly each would need a code of its own, as few are about
the same fault, and nobody else asks for it, so they have none. A test reads the parsers, and fails where one of their
messages has no row here: ``test_every_message_about_a_pattern_has_a_remedy``.
"""

from __future__ import annotations

from interlock import PatternError

__all__ = ["way_to_mend"]

SAYS_IT = ("(?",)
"""How messages begin that say themselves what to write."""
WAYS = (
    # Groups.
    (("missing ), unterminated comment",), "write ) where the comment ends"),
    (("missing >, ",), "write > where the name ends"),
    (("missing ), ", "unterminated group"), r"write ) where the group ends, or \( for the character itself"),
    (("unbalanced parenthesis", "unmatched )"), r"leave it out, or write \) for the character itself"),
    (("unexpected end of pattern",), r"write the rest of the group, as in (?:...), or \( and \? for the characters"),
    (("unknown group name", "invalid group reference"), "name a group that the pattern has"),
    (("unknown extension", "invalid group"), "{group}"),
    (("look-behind requires",), "write alternatives of one length inside it"),
    # Names of groups.
    (("redefinition of group name", "another group has the name"), "give one of the two groups another name"),
    (
        ("missing group name", "bad group name", "invalid capture group name"),
        "write a name of letters, digits and _ that begins with no digit, or (...) for a group without a name",
    ),
    # Flags inside of a pattern.
    (("global flags not at the start",), "--flags gives flags for the whole pattern; (?i:...) for a part of it"),
    (
        ("missing -, : or )",),
        "write : and the part that the flags are for, as in (?i:...); or ) if they are for the whole pattern",
    ),
    (("missing flag",), "write the flags to turn off, and the part that this is for, as in (?-i:...)"),
    (("missing :",), "write : and the part that the flags are for, as in (?-i:...)"),
    (("unknown flag",), "the flags are a, i, m, s, u and x"),
    (("bad inline flags: cannot use 'L'",), "leave out L"),
    (
        ("bad inline flags: cannot turn off",),
        "only i, m, s and x can be turned off; of a and u, each turns off the other",
    ),
    (("bad inline flags: flags 'a', 'u'", "ASCII and UNICODE flags"), "leave out a or u"),
    (("bad inline flags: flag turned on and off",), "leave it out before the - or behind it"),
    # Repetitions.
    (("nothing to repeat",), r"write what is to be repeated before it, or \{} for the character itself"),
    (
        ("multiple repeat",),
        r"leave out one of the two, put the first into a group, (?:...), or write \{} for {} itself",
    ),
    (("min repeat greater", "numbers out of order"), "write the smaller number first"),
    # Sets of characters.
    (("unterminated character",), r"write ] where the set ends, or \[ for the character itself"),
    (("bad character range", "range out of order"), r"write the lower end first, or \- for the character itself"),
    # Escapes.
    (("bad escape (end of pattern)", "\\ at end of pattern"), r"leave it out, or write \\ for the character itself"),
    (
        ("incomplete or bad escape \\",),
        r"write all of its digits: two behind \x, four behind \u, eight behind \U, of at most 0010FFFF",
    ),
    (("invalid hexadecimal escape",), r"write two hexadecimal digits behind it, as in \x41"),
    (("invalid Unicode escape",), r"write four hexadecimal digits behind it, as in \u0041, or some in braces, \u{41}"),
    (("octal escape value",), r"write its four hexadecimal digits, as in \u0100"),
    (("invalid control escape",), r"write a letter behind it, as in \cA"),
    (("bad escape \\p", "invalid property", "unterminated property"), r"write a name in braces behind it, as in \p{L}"),
    (("bad escape \\", "invalid escape \\"), "{escape}"),
    (("unknown Unicode property",), r"a category, \p{L}, or a script, \p{Script=Greek}"),
)
"""How messages begin, and what to do. The first row holds; ``{}`` is the character at fault, and ``{group}`` and
``{escape}`` what to do about groups and escapes that other engines have."""
_GROUPS = {
    "|": "write (?:...|...): the numbers of groups make no difference here",
    "^": "write the flags without ^, as in (?i:...)",
    "P>": "a pattern cannot call itself; a JSON Schema may recurse, by $ref",
}
"""Groups that other engines have, by what stands behind ``(?``."""
_LEAVE_OUT = "leave it out"
_GROUP = r"(?:...) is a group, (?=...) looks ahead; write \( for the character"
_ESCAPES = {
    **dict.fromkeys("AzZGK", _LEAVE_OUT),
    **dict.fromkeys("QE", r"leave out \Q and \E, and write a backslash before each mark between them"),
    **dict.fromkeys("kg", "write out what the group may be a second time; that both are equal cannot be enforced"),
    "h": r"write [ \t]",
    "H": r"write [^ \t]",
    "R": r"write (?:\r\n|[\n\r])",
    "X": "write . for any one character",
    "e": r"write \x1b",
    "a": r"write \x07",
    "o": r"write two hexadecimal digits, as in \x0a",
}
"""Escapes that other engines have, by their letter."""


def way_to_mend(error: PatternError, pattern: str, in_json: bool = False) -> str:
    r"""What to do about a pattern that cannot be read; empty where the error says it, or nothing is known. In a string
    of JSON a backslash is written twice.

    >>> way_to_mend(PatternError("multiple repeat"), "a**")
    'leave out one of the two, put the first into a group, (?:...), or write \\* for * itself'
    """
    message = str(error)
    way = next((way for begins, way in WAYS if message.startswith(begins)), "")
    offset = getattr(error, "offset", None)
    if way == "{group}":
        if "; a group with a name is written" in message:
            return ""
        behind = pattern[pattern.find("(?", max((offset or 0) - 1, 0)) + 2 :]
        way = next((way for begin, way in _GROUPS.items() if behind.startswith(begin)), _GROUP)
    elif way == "{escape}":
        way = _ESCAPES.get(message.partition("\\")[2][:1], "leave out the backslash for the character itself")
        if way == _LEAVE_OUT and pattern and not in_json:
            way += ": the pattern is the whole output"
    elif "{}" in way:
        at = pattern[offset : offset + 1] if offset is not None else ""
        way = way.replace("{}", at or "*")
    return way.replace("\\", "\\\\") if in_json else way
