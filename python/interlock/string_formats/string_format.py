"""What is known of one format of strings, besides what the engine takes for it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["StringFormat"]


@dataclass(frozen=True)
class StringFormat:
    """One value of JSON Schema's ``format``."""

    broken_rule: Callable[[str], str]
    """Says which rule a text breaks, in words; nothing for a text that breaks none of those it knows."""
    example: str
    """A text of the format, which ``interlock check`` shows for one that is none."""
    note: str = ""
    """What people leave out of such a text: ``with an offset``."""
    varied: Callable[[random.Random], str] | None = None
    """Texts that a person would write, for ``interlock sample``; without it, that is the example."""
    is_short: bool = False
    """Whether its texts are short, so that nobody needs a ``maxLength`` beside it. Of times, only the fraction of a
    second could go on.
    """
    holds_delimiters: bool = False
    """Whether its texts may hold ``<`` or a line end, which close strings without quotes."""

    @property
    def hint(self) -> str:
        """What to write in place of a text that is not of the format."""
        return f"write it like {self.example}" + (f", {self.note}" if self.note else "")

    def sample(self, rng: random.Random) -> str:
        """A text of the format, as a person would write it."""
        return self.varied(rng) if self.varied else self.example
