"""How JSON is written in tool calls and structural tags, by the options of those who compile them."""

from __future__ import annotations

from dataclasses import dataclass

from interlock._core import ArgumentError

__all__ = ["JsonWriting", "json_writing"]


@dataclass(frozen=True)
class JsonWriting:
    """How the JSON of a structural tag is written, where the tag does not say."""

    most_whitespace: int | None = None
    """How much may stand between its parts; ``None`` for any."""
    any_escapes: bool = True
    """Whether strings may have escapes that JSON does not need."""


def json_writing(whitespace: str, spelling: str) -> JsonWriting:
    """How JSON is written by the options of ``Index.from_tools`` and ``from_structural_tag``.
    ``ArgumentError`` for what a grammar cannot say.

    >>> json_writing("compact", "plain")
    JsonWriting(most_whitespace=0, any_escapes=False)
    """
    for name, given, known in (
        ("whitespace", whitespace, ("flexible", "compact")),
        ("spelling", spelling, ("any", "plain")),
    ):
        if given not in known:
            raise ArgumentError(
                f"{name} of tools and structural tags is {known[0]!r} or {known[1]!r}, not {given!r:.80}"
            )
    return JsonWriting(0 if whitespace == "compact" else None, spelling == "any")
