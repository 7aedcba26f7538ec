"""Whether masks are right, so that nobody is fast who does nothing.

A buffer that still holds an earlier mask, or the ones that it is made of, has the bit of almost every token that is
asked for. So what a benchmark looks at is made wrong before a mask is filled (`clear`, or an engine's `spoil`), and a
token that may never come must be masked. No text of JSON has the byte zero, `NEVER`; nor has what a pattern accepts,
unless one of its classes is wide.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np

NEVER = b"\0"
# Any character, all but some, and the classes that are named by what they lack.
WIDE = re.compile(r"\.|\[\^|\\[DWSPX]")


def never(kind: str, source: str, tokens: list[bytes]) -> int | None:
    """The id of a token that no mask of the source may have; none where a pattern may have it."""
    return None if kind == "pattern" and WIDE.search(source) else tokens.index(NEVER)


def clear(bits: Any) -> None:
    """Forbid everything: what is allowed afterwards was filled."""
    bits[...] = 0


def allows(row: Any, token: int) -> bool:
    """Whether a mask has a token."""
    return bool(int(row[token >> 5]) >> (token & 31) & 1)


def words(tokens: int) -> int:
    """How many words the mask of so many tokens takes."""
    return (tokens + 31) // 32


def row_of(allowed: Iterable[int], size: int) -> Any:
    """The mask, of so many words, that has these tokens and no other."""
    set_ = np.zeros(size * 32, np.uint8)
    set_[np.fromiter(allowed, np.int64)] = 1
    return np.packbits(set_, bitorder="little").view(np.int32)


def digest(row: Any) -> int:
    """32 bits that another mask has by chance alone."""
    return zlib.crc32(row)
