"""Indexes without their vocabulary: small messages between processes that have the vocabulary already.

A pickled index carries its whole vocabulary, some megabytes. A server's processes each have one. What they need of an
index is what it was made from.
"""

from __future__ import annotations

from typing import Any

from interlock._core import Index, Vocabulary, VocabularyError
from interlock.util.argument_types import require

__all__ = ["DetachedIndex"]


class DetachedIndex:
    """What an index was made from, without its vocabulary; made by ``without_vocabulary``.

    It pickles to about the size of its source, and two of one index are equal. ``attach`` makes the index again.

    >>> import pickle
    >>> import interlock
    >>> vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    >>> index = interlock.Index.from_choices(["yes", "no"], vocabulary)
    >>> message = pickle.dumps(interlock.without_vocabulary(index))
    >>> len(message) < 1000
    True
    >>> pickle.loads(message).attach(vocabulary) == index
    True
    """

    __slots__ = ("_arguments", "_method", "fingerprint", "vocabulary_fingerprint")

    fingerprint: str
    """The fingerprint of the index."""
    vocabulary_fingerprint: str
    """The fingerprint of the vocabulary that ``attach`` takes."""

    def __getattr__(self, name: str) -> Any:
        said = f"'DetachedIndex' object has no attribute {name!r}"
        raise AttributeError(f"{said}: attach(vocabulary) makes the index" if hasattr(Index, name) else said)

    def __init__(self, index: Index) -> None:
        require(index=(index, "index"))
        method, arguments = index.__reduce__()[:2]
        self._method: str = method.__name__
        self._arguments: tuple[Any, ...] = (arguments[0], None, *arguments[2:])
        self.fingerprint = index.fingerprint
        self.vocabulary_fingerprint = index.vocabulary.fingerprint

    def attach(self, vocabulary: Vocabulary) -> Index:
        """The index over ``vocabulary``: the one that was made of the same source lately, or compiled again.

        ``VocabularyError`` if it is not the vocabulary of the index.
        """
        require(vocabulary=(vocabulary, "vocabulary"))
        if vocabulary.fingerprint != self.vocabulary_fingerprint:
            raise VocabularyError(
                f"the index is for the vocabulary {self.vocabulary_fingerprint}, not for {vocabulary.fingerprint}"
            )
        source, _, *options = self._arguments
        index: Index = getattr(Index, self._method)(source, vocabulary, *options)
        return index

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DetachedIndex):
            return NotImplemented
        return self.fingerprint == other.fingerprint and self.vocabulary_fingerprint == other.vocabulary_fingerprint

    def __hash__(self) -> int:
        return hash((self.fingerprint, self.vocabulary_fingerprint))

    def __repr__(self) -> str:
        return f"<interlock.DetachedIndex {self.fingerprint[:16]} of the vocabulary {self.vocabulary_fingerprint[:16]}>"


def without_vocabulary(index: Index) -> DetachedIndex:
    """The index as a small message: see ``DetachedIndex``."""
    return DetachedIndex(index)
