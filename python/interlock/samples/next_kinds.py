"""The kinds of what may come next: a word, a number, a bracket, a mark. Each should come now and then."""

from __future__ import annotations

import random
import re
from collections.abc import Collection

import interlock

__all__ = ["comment_marks", "is_free", "other_kind", "takes_words", "without_comments"]

MOST_LETTERS = 20
"""Small letters that may come where a word is none of the things that may."""
FREE = 80
"""Printable characters of ASCII that may come in free text; there are 95."""
BESIDE_WORDS, BESIDE_NO_WORDS = 0.25, 0.6
"""How often a kind is drawn, where several may come: where words are preferred else, and where they may not come."""
FEW_MARKS = 4
"""Marks that are kinds of their own though they lead to the same, such as those of ``(a|[*])+``."""


def takes_words(allowed: Collection[int]) -> bool:
    """Whether most letters may come."""
    return sum(byte in allowed for byte in range(0x61, 0x7B)) > MOST_LETTERS


def is_free(allowed: Collection[int]) -> bool:
    """Whether nearly every character of a keyboard may come, as in a string, a comment or a text between tags."""
    return 0x20 in allowed and sum(0x20 <= byte < 0x7F for byte in allowed) >= FREE


def other_kind(guide: interlock.Guide, rng: random.Random, allowed: set[int], but: bytes = b"") -> int | None:
    """Now and then a byte of one of the kinds that may come next, all drawn alike: bytes are of one kind if the same
    may come behind each of them. Never one of ``but``. ``None`` most times, where only one kind may come, for words,
    and inside of words, numbers and free text. Costs a mask for each printable byte.
    """
    if rng.random() >= (BESIDE_WORDS if takes_words(allowed) else BESIDE_NO_WORDS) or is_free(allowed):
        return None
    plain = [byte for byte in range(0x21, 0x7F) if byte in allowed and byte not in but]
    kinds: dict[frozenset[int] | int, list[int]] = {}
    marks = [byte for byte in plain if not chr(byte).isalnum()]
    here = frozenset(guide.allowed_token_ids().tolist())
    for byte in plain:
        guide.advance(byte)
        after = frozenset(guide.allowed_token_ids().tolist())
        guide.rollback(1)
        is_mark = byte in marks and len(marks) <= FEW_MARKS and not takes_words(allowed)
        if after == here and not is_mark and chr(byte).isalnum():
            return None  # More of a word or a number.
        kinds.setdefault(byte if is_mark else after, []).append(byte)
    if len(kinds) < 2:
        return None
    kind = rng.choice(list(kinds.values()))
    return None if takes_words(kind) else rng.choice(kind)


_COMMENTS = {
    b"//": r"\\/\\/|CPP_COMMENT",
    b"/*": r"\\/\\\*|\bC_COMMENT",
    b"--": r"--\[\^|--\.\*|SQL_COMMENT",
    b"#": r"#\[\^|#\.\*|SH_COMMENT",
}
"""How a comment begins, and what a grammar that has it writes in its terminals."""


def comment_marks(grammar: str) -> list[bytes]:
    """What the comments of a grammar begin with, as far as it is one of the usual marks.

    >>> comment_marks(r"COMMENT: /#[^\\n]*/")
    [b'#']
    """
    return [mark for mark, pattern in _COMMENTS.items() if re.search(pattern, grammar)]


def without_comments(guide: interlock.Guide, allowed: set[int], marks: Collection[bytes]) -> set[int]:
    """The bytes that neither begin a comment nor lead to nothing else; all of them where no others are allowed."""
    last = bytes(token for token in guide.tokens[-1:] if token < 0x80)
    left = set(allowed)
    for byte in {part for mark in marks for part in mark} & allowed:
        if bytes([byte]) in marks or last + bytes([byte]) in marks:
            left.discard(byte)
            continue
        seconds = {mark[1] for mark in marks if mark[0] == byte and len(mark) == 2}
        guide.advance(byte)
        if seconds and set(guide.allowed_token_ids().tolist()) <= seconds:
            left.discard(byte)
        guide.rollback(1)
    return left or allowed
