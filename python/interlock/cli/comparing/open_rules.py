"""Why the rules of two grammars don't decide which of them accepts more, and which lexer would let them."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

import interlock
from interlock.cli.comparing.grammar_changes import accepts_all, lexer_of
from interlock.cli.sources.source_arguments import Source
from interlock.cli.terminal.style import NOTE, TRY, Line

__all__ = ["OpenRules", "open_rules"]

_NAMES = ("first", "second")


@dataclass(frozen=True)
class OpenRules:
    """A side of which it is open whether it accepts anything that the other refuses: why, and the lexer under which its
    rules decide it. Empty for none.
    """

    side: str
    why: str
    lexer: str

    def machine(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self)

    def lines(self) -> list[Line]:
        """For people."""
        other = _NAMES[1 - _NAMES.index(self.side)]
        found = [Line(("  open: ", NOTE), f"whether the {other} accepts all that the {self.side} accepts: {self.why}")]
        if self.lexer:
            way = f"--lexer {self.lexer}: with it the rules say that the {other} accepts all that the {self.side} does"
            found.append(Line(("  try: ", TRY), way))
        return found


def open_rules(read: list[Source], sides: list[int], vocabulary: interlock.Vocabulary) -> list[OpenRules]:
    """What is open of these sides of two grammars. Empty for other sources."""
    found = []
    for side in sides if all(source.kind == "grammar" for source in read) else ():
        old, new = read[side], read[1 - side]
        if why := accepts_all(old, new, vocabulary).why:
            is_free = lexer_of(old) != "any" and accepts_all(old, new, vocabulary, "any").holds
            why = _swapped(why) if side else why  # The open side was looked at as the first one.
            found.append(OpenRules(_NAMES[side], why, "any" if is_free else ""))
    return found


def _swapped(why: str) -> str:
    """With the words for the two grammars exchanged."""
    return re.sub(r"\bthe (first|second)\b", lambda m: f"the {_NAMES[1 - _NAMES.index(m[1])]}", why)
