"""Questions about a part of a document that are asked of the engine, by a schema beside that of the document."""

from __future__ import annotations

import json
from typing import Any

import interlock
from interlock._recipe import Recipe, byte_vocabulary

__all__ = ["Oracle"]


class Oracle:
    """Says what a schema accepts, as the engine does. The documents are those that the schema at hand may refer to."""

    def __init__(self, recipe: Recipe) -> None:
        self._documents = recipe.options["documents"]
        self._guides: dict[str, interlock.Guide | None] = {}

    def __call__(self, schema: Any, text: str) -> bool | None:
        """Whether a schema accepts a JSON text; ``None`` where the engine cannot say."""
        guide = self._guide(schema)
        if guide is None:
            return None
        data = text.encode()
        return guide.advance_many(list(data)) == len(data) and guide.is_accepting

    def taken(self, schema: Any, text: str) -> str:
        """The beginning of a JSON text that a schema goes along with; all of it where the engine cannot say."""
        guide = self._guide(schema)
        if guide is None:
            return text
        data = text.encode()
        return data[: guide.advance_many(list(data))].decode("utf-8", "ignore")

    def _guide(self, schema: Any) -> interlock.Guide | None:
        """A guide at the beginning of its output, kept for the next question."""
        key = json.dumps(schema)
        if key not in self._guides:
            try:
                made = interlock.Index.from_json_schema(
                    key, byte_vocabulary(), property_order="any", documents=self._documents
                )
                self._guides[key] = made.guide()
            except interlock.InterlockError:
                self._guides[key] = None
        guide = self._guides[key]
        if guide is not None:
            guide.reset()
        return guide
