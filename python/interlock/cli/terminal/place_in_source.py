"""A place in a source that an error carries: ``locate_error`` finds it, and ``exits`` shows it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import interlock
from interlock.cli.terminal.escaped_lines import lines_remedy


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


def json_value(text: str | bytes) -> Any:
    """The value of JSON text; ``None`` if it is not JSON, which the engine says with its place."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def parsed_json(text: str, what: str, error_type: type[interlock.InterlockError], word: str = "") -> Any:
    """The value of JSON text; raises ``error_type``, with the place, if it is not JSON. ``what`` names the text, and
    ``word`` is what the command line has it in, empty for a file.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        reason, at = getattr(error, "msg", "nested too deeply"), getattr(error, "pos", None)
        refused = error_type(f"{what} is not JSON: {reason}")
        remedy = lines_remedy(text, at, word) if at is not None else ""
        refused.located = PlaceInSource(  # type: ignore[attr-defined]
            text, at or 0, (at or 0) + 1, remedy, found=at is not None
        )
        raise refused from None
