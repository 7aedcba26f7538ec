r"""A backslash and a letter where a line should end: shells pass ``\n`` inside of plain quotes as two characters."""

from __future__ import annotations

import re

__all__ = ["lines_remedy"]

_COMMENT = re.compile(r"\s*(?://|#)[^\n]*\\n[^\n]*")


def lines_remedy(text: str, at: int, name: str, file: str = "") -> str:
    r"""What to do where a text goes wrong at an end of a line that is written as two characters; empty elsewhere.
    ``name`` is the word of the command line: what stands before its colon is the kind of the source.

    >>> lines_remedy(r'root ::= x\nx ::= "a"', 10, "grammar:...")
    "\\n came as two characters: grammar:$'...' makes lines of it in bash and zsh, and grammar:@FILE takes a file"
    >>> lines_remedy(r'root ::= "a\n" x', 15, "grammar:...")
    ''
    """
    is_comment = at == 0 and _COMMENT.fullmatch(text) is not None
    if text[at : at + 2] not in (r"\n", r"\r", r"\t") and not is_comment:
        return ""
    mark = text[at : at + 2] if not is_comment else r"\n"
    what = "a tab" if mark == r"\t" else "the end of a line"
    prefix, is_text, rest = name.partition(":")
    if file or not is_text or rest.startswith("@"):
        return rf"{mark} is two characters here: write {what} itself"
    made = "a tab" if mark == r"\t" else "lines"
    return (
        f"{mark} came as two characters: {prefix}:$'...' makes {made} of it in bash and zsh, "
        f"and {prefix}:@FILE takes a file"
    )
