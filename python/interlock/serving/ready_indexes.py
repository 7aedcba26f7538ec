"""Indexes that a request finds without a compile: those that the server keeps, and those of its store."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from interlock._core import ArgumentError, ArtifactError, Guide, Index, InterlockError, Vocabulary
from interlock.masks import make_mask
from interlock.store import Store

__all__ = ["KeptIndexes", "make_masks_of", "stored_index"]

_LOGGER = logging.getLogger(__name__)
_OF_SERVER = frozenset(("format", "allowed_tokens"))
"""Options that are the same for each request, and no JSON."""


class KeptIndexes:
    """Indexes by their sources, which no cache forgets. Any number of threads may share it."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._kept: dict[bytes, Index] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _with_indexes, (self._kept,)

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, kind: str, source: Any, options: Mapping[str, Any], index: Index) -> None:
        """Keep an index."""
        key = _key_of(kind, source, options)
        if key is not None:
            with self._mutex:
                self._kept[key] = index

    def find(self, kind: str, source: Any, options: Mapping[str, Any]) -> Index | None:
        """The index that is kept of this source."""
        if not self._kept:
            return None
        key = _key_of(kind, source, options)
        return None if key is None else self._kept.get(key)


def _with_indexes(kept: dict[bytes, Index]) -> KeptIndexes:
    made = KeptIndexes()
    made._kept = kept
    return made


def _key_of(kind: str, source: Any, options: Mapping[str, Any]) -> bytes | None:
    """A digest of a source and its options; ``None`` for what is no JSON."""
    named = {name: option for name, option in options.items() if name not in _OF_SERVER}
    try:
        return hashlib.sha256(json.dumps([kind, source, named]).encode()).digest()
    except (TypeError, ValueError, RecursionError):
        return None


def make_masks_of(guide: Guide, output: Iterable[int], name: str) -> None:
    """Make the masks along an output, so that the states behind them are there for every guide of its index.
    ``ArgumentError`` for an output that the guide does not allow.
    """
    for at, token in enumerate(output):
        make_mask(guide)
        if not guide.try_advance(token):
            raise ArgumentError(f"{name} is no output of this body: its token {at} is not allowed there")


def stored_index(
    store: Store, kind: str, source: Any, options: Mapping[str, Any], vocabulary: Vocabulary
) -> Index | None:
    """The index in a store; ``None`` where there is none, and where a store that should not fail does."""
    try:
        return store.get(store.key_of(kind, source, vocabulary, **options), vocabulary)
    except ArtifactError as error:
        if store.on_failure == "error":
            raise
        _LOGGER.warning("an index is compiled without the store: %s", error)
    except InterlockError as error:
        if not error.is_client_error:
            raise
        # What has no key is no source: compiling it refuses it too, and knows the place.
    return None
