"""What an event loop may do by itself: look through a small body, and find a source that was compiled before."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from typing import Any

from interlock.tools.requests.request_body import FIELDS

__all__ = ["KnownSources", "has_few_fields"]

_MOST_SOURCES = 4096
_MOST_CHARACTERS = 1 << 16
"""A longer source takes milliseconds to be looked up: too long for an event loop."""
_FIELDS = (
    *("tools", "tool_choice", "parallel_tool_calls", "max_reasoning_tokens", "stop_token_ids"),
    *("reasoning", "reasoning_is_open"),
)
"""What an index is made from beside the format that is asked for."""
_MOST_FIELDS = 200
_LONGEST_NAME = 100
_NOT_COMPARED = frozenset((*FIELDS, "format", "logit_bias"))
"""Fields whose names inside are compared with nothing."""


def has_few_fields(body: Mapping[Any, Any]) -> bool:
    """Whether a body is looked through for misspelt constraints in some milliseconds. Each of its names takes up to a
    tenth of one, and so do those of objects inside.

    >>> has_few_fields({"messages": [], "logit_bias": dict.fromkeys(range(999), 1)}), has_few_fields({"a" * 999: 1})
    (True, False)
    """
    todo: list[Mapping[Any, Any]] = [body]
    number = 0
    for fields in todo:
        number += len(fields)
        if number > _MOST_FIELDS or any(isinstance(name, str) and len(name) > _LONGEST_NAME for name in fields):
            return False
        inside = ((name, held) for name, held in fields.items() if isinstance(held, Mapping))
        todo += [held for name, held in inside if name not in _NOT_COMPARED]
    return True


def _is_long(value: Any) -> bool:
    """Whether the JSON of a value has too many characters for an event loop, which is known after as many.

    >>> _is_long({"a": ["b"]}), _is_long(["x" * 70_000]), _is_long([[0]] * 20_000)
    (False, True, True)
    """
    room = _MOST_CHARACTERS
    todo = [value]
    for one in todo:
        if isinstance(one, str):
            room -= len(one)
        elif isinstance(one, Mapping):
            room -= 4 * len(one)
            if room >= 0:
                todo += one
                todo += one.values()
        elif isinstance(one, list | tuple):
            room -= 2 * len(one)
            if room >= 0:
                todo += one
        if room < 0:
            return True
    return False


class KnownSources:
    """Digests of 4,096 sources, those that were added last. It keeps no index: one that has left the cache of indexes
    is compiled again, so an answer here is a guess. Any number of threads may share it.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._kept: dict[bytes, None] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return KnownSources, ()

    def key_of(self, body: Mapping[str, Any], asked: Any, options: Mapping[str, Any]) -> bytes | None:
        """What stands for the source in a body; ``None`` for one that is long, or no JSON. A microsecond for some 100
        characters.

        >>> known, body = KnownSources(), {"stop": "a", "max_tokens": 5}
        >>> known.key_of(body, None, {}) == known.key_of({"stop": "b"}, None, {}) != known.key_of({}, None, {})
        True
        """
        fields = [(body.get(name), options.get(name)) for name in _FIELDS]
        if _is_long([asked, fields]):
            return None
        try:
            text = json.dumps([asked, fields, bool(body.get("stop"))])
        except (TypeError, ValueError, RecursionError):
            return None
        return hashlib.blake2b(text.encode(), digest_size=16).digest()

    def __contains__(self, key: bytes) -> bool:
        with self._mutex:
            return key in self._kept

    def add(self, key: bytes) -> None:
        """This source was asked for just now."""
        with self._mutex:
            self._kept.pop(key, None)
            self._kept[key] = None
            if len(self._kept) > _MOST_SOURCES:
                del self._kept[next(iter(self._kept))]

    def discard(self, key: bytes) -> None:
        """This source is in no cache any more."""
        with self._mutex:
            self._kept.pop(key, None)
