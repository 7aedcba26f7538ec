"""Numbers in messages, with a noun."""

from __future__ import annotations

__all__ = ["are", "counted"]


def counted(number: int, noun: str, plural: str = "") -> str:
    """``1 token``, ``2 tokens``.

    >>> counted(1, "token"), counted(2, "entry", "entries")
    ('1 token', '2 entries')
    """
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def are(number: object) -> str:
    """The verb behind a number: ``is`` behind 1, otherwise ``are``.

    >>> f"at least 1 {are(1)} required", f"at most 2 {are(2)} allowed"
    ('at least 1 is required', 'at most 2 are allowed')
    """
    return "is" if number == 1 else "are"
