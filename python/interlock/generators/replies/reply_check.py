"""What a server wrote, read once more: a server may enforce less than it was asked for, or nothing.

The reply is walked byte by byte through masks of our own, over a vocabulary of single bytes. So what a server lets
through is an error that names the place, whatever the server promised.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from interlock._core import Index, LimitError, UnsupportedError
from interlock._recipe import byte_vocabulary
from interlock.output_types import InvalidOutputError, OutputType

__all__ = ["ReplyCheck"]


class ReplyCheck:
    """Reads replies of one output type. Keys of objects may come in any order, and blanks and spelling are free.

    A schema that masks cannot take in any order is checked in its own. In another order such a reply is left to its
    class where that checks everything (pydantic), and refused otherwise.
    """

    def __init__(self, output: OutputType[Any]) -> None:
        self._name, self._output, self._is_ordered = output.name, output, False
        self._is_json = output.kind == "json_schema"
        self._index: Index | None = None
        if output.kind == "text":
            return
        options: dict[str, Any] = {}
        if output.kind == "json_schema":
            options = {"whitespace": "flexible", "spelling": "any", "property_order": "any"}
        try:
            self._index = output.index(byte_vocabulary(), **options)
        except (LimitError, UnsupportedError):
            if not options:
                raise
            self._is_ordered = True
            self._index = output.index(byte_vocabulary(), **{**options, "property_order": "schema"})

    def __call__(self, text: str, parse: Callable[[str], Any] | None = None) -> str:
        """``text``; ``InvalidOutputError``, with the place and the reason, if the server should not have written it."""
        if self._index is None:
            return text
        guide = self._index.guide()
        data = (text.strip(" \t\r\n") if self._is_json else text).encode()
        taken = guide.advance_many(data)
        if taken == len(data) and guide.is_accepting:
            return text
        if taken == len(data):
            raise InvalidOutputError(f"the server stopped in the middle of {self._name}: {text[-40:]!r}", text)
        why = guide.explain(data[taken])
        if self._is_ordered:
            if self._output.is_checked:
                # That of the call at hand, which may have a context of its own.
                (parse or self._output.parse)(text)
                return text
            why += " (keys are expected in the schema's order)"
        raise InvalidOutputError(
            f"the server did not enforce {self._name}; after {data[:taken].decode(errors='replace')[-40:]!r}: {why}",
            text,
        )
