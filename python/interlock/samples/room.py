"""How many bytes the parts of an example may take: documents of recursive schemas would have no end otherwise.

Nothing is shared at first, since most documents are small. One that becomes large is begun again, and then each member
and element gets its share of the bytes of what it lies in. What a schema requires is written in any case.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

__all__ = ["LARGE", "GivenUp", "Room", "TooLarge"]

LARGE = 4096
"""Bytes after which an example has nothing more that could be left out."""
MEMBER = 32
"""Bytes that a member takes, about: where its share is smaller, it comes more rarely."""


class GivenUp(Exception):
    """The way that was taken does not lead on."""


class TooLarge(GivenUp):
    """The text became large because nothing was shared."""


@dataclass(frozen=True)
class Room:
    """The bytes for one value."""

    end: int = LARGE
    """Bytes of the whole text after which the value has nothing more that could be left out."""
    is_shared: bool = False

    def check(self, size: int) -> None:
        """``TooLarge`` where a text of so many bytes is large and nothing was shared."""
        if not self.is_shared and size > self.end:
            raise TooLarge

    def is_small(self, size: int) -> bool:
        """Whether a value that begins at ``size`` has no room for members."""
        return self.is_shared and self.end - size < MEMBER

    def takes(self, begin: int, size: int, parts: int, rng: random.Random) -> bool:
        """Whether one of the ``parts`` of a value that begins at ``begin`` is written though it may be left out. Where
        there is little room, all are equally likely.
        """
        self.check(size)
        return not self.is_shared or size < self.end and rng.random() < (self.end - begin) / parts / MEMBER

    def share(self, size: int, parts: int) -> Room:
        """The room of the next of ``parts``. Of many parts that share little, most are left out, and the others have
        their room.
        """
        if not self.is_shared:
            return self
        left = max(0, self.end - size)
        return Room(size + min(left, max(left // parts, MEMBER)), True)
