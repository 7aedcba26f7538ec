"""Compiled sources and refusals by what was asked: what SGLang keeps for later requests, with a bound.

SGLang keeps every source forever. Here the least recently used leave, counted by entries and by the text that they
were asked with. Both are the same in all ranks of a server, whatever their threads do: ranks that disagree about what
is kept would wait for each other forever.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

__all__ = ["GrammarCache", "Key"]

Key = tuple[str, str]

MOST_CHARACTERS = 1 << 26
"""Characters of all sources together: 64 Mi."""


class GrammarCache(OrderedDict[Key, Any]):
    """A dictionary with at most ``entries`` entries. ``get`` makes an entry the newest."""

    def __init__(self, entries: int, characters: int = MOST_CHARACTERS) -> None:
        super().__init__()
        self._entries = entries
        self._characters = characters

    def get(self, key: Key, default: Any = None) -> Any:
        """The grammar of ``key``, ``default`` where it is not kept."""
        if key not in self:
            return default
        self.move_to_end(key)
        return self[key]

    def __setitem__(self, key: Key, value: Any) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        held = sum(len(text) for _, text in self)
        while len(self) > 1 and (len(self) > self._entries or held > self._characters):
            (_, text), _ = self.popitem(last=False)
            held -= len(text)
