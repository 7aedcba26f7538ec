"""Numbers in messages, with a noun."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, noun: str, plural: str = "") -> str:
    """``1 token``, ``2 tokens``.

    >>> counted(1, "token"), counted(2, "entry", "entries")
    ('1 token', '2 entries')
    """
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
