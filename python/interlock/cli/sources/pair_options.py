"""Options whose value is a pair: ``--limit NAME=N``, ``--import`` and ``--grammar``."""

from __future__ import annotations

import interlock
from interlock.cli.terminal import atomic_files
from interlock.cli.terminal.exits import UsageError
from interlock.util.near_words import nearest

LIMITS = tuple(sorted(name for name in dir(interlock.Limits) if name.startswith("max_")))
"""What ``--limit`` takes."""


def limits(pairs: list[str]) -> dict[str, int]:
    """The limits that ``--limit`` gives."""
    found = {}
    for pair in pairs:
        name, equals, number = pair.partition("=")
        if not equals or not number.isdecimal():
            raise UsageError(f"--limit {pair}: write NAME=N, for example --limit max_depth=200")
        found[name] = int(number)
    if found:
        try:
            interlock.Limits(**found)
        except (TypeError, ValueError) as error:
            meant = next((m for name in found if name not in LIMITS and (m := nearest(name, LIMITS))), "")
            hint = f"; did you mean {meant}?" if meant else f"; the limits are {', '.join(LIMITS)}"
            raise UsageError(f"--limit: {str(error).partition(';')[0]}{hint}") from None
    return found


def named_text(option: str, pair: str) -> tuple[str, str]:
    """A name and the text that ``--import`` or ``--grammar`` gives for it."""
    name, equals, path = pair.partition("=")
    if not equals or not name or not path:
        raise UsageError(f"--{option.removesuffix('s')} {pair}: write NAME=FILE")
    return name, atomic_files.read(path).decode("utf-8")
