"""A place in a source that an error carries: ``locate_error`` finds it, and ``exits`` shows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class PlaceInSource:
    """Characters ``start`` to ``end`` of a text, the text's name, and what to do (empty where nothing is known)."""

    text: str
    start: int
    end: int
    remedy: str = ""
    found: bool = True
    notes: tuple[str, ...] = ()


def located(error: BaseException) -> PlaceInSource | None:
    """What ``attach`` found out about an error."""
    place = getattr(error, "located", None)
    return place if isinstance(place, PlaceInSource) else None
