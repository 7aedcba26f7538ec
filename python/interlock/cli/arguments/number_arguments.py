"""Whole numbers as arguments."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def whole(text: str) -> int:
    """The type of an argument that is any whole number.

    >>> whole("-5")
    -5
    """
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number, not {text!r}") from None


def at_least(least: int) -> Callable[[str], int]:
    """The type of an argument that is a whole number, ``least`` or more.

    >>> at_least(1)("5")
    5
    """

    def number(text: str) -> int:
        value = whole(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, not {value}")
        return value

    return number
