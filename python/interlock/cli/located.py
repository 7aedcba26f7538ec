"""A place in a source that an error carries: ``error_places`` finds it, and ``exits`` shows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Located:
    """Characters ``start`` to ``end`` of a text, the text's name, and what to do (empty where nothing is known)."""

    text: str
    start: int
    end: int
    remedy: str = ""
    found: bool = True
    notes: tuple[str, ...] = ()


def located(error: BaseException) -> Located | None:
    """What ``attach`` found out about an error."""
    place = getattr(error, "located", None)
    return place if isinstance(place, Located) else None
