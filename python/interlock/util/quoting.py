"""Values and texts in messages, cut where they are long: whoever reads a message needs the beginning."""

from __future__ import annotations

from typing import Any

__all__ = ["LONGEST", "quoted", "shortened"]

LONGEST = 60
"""Characters of a value in a message."""


def shortened(text: str, longest: int = LONGEST) -> str:
    """``text``, or its beginning and three dots."""
    return text if len(text) <= longest else text[: longest - 3] + "..."


def quoted(value: Any, longest: int = LONGEST) -> str:
    """A value as Python writes it, of a long one the beginning.

    >>> quoted("warm"), quoted("w" * 1_000, 12), quoted([1] * 1_000, 12)
    ("'warm'", "'wwwwwwwww...'", '[1, 1, 1,...')
    """
    if isinstance(value, str):
        return repr(shortened(value, longest))
    try:
        return shortened(repr(value), longest)
    except ValueError:  # An int of more digits than Python writes.
        return f"a very long {type(value).__name__}"
