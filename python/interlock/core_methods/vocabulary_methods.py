"""Methods of ``Vocabulary`` that are written in Python."""

from __future__ import annotations

from collections.abc import Iterable
from typing import SupportsIndex

from interlock._core import Vocabulary
from interlock.util.argument_types import require

__all__ = ["attach"]

# The core's own, before ``decode`` of this file takes its place.
_plain_decode = Vocabulary.decode


def decode(self: Vocabulary, ids: Iterable[SupportsIndex], skip_special_tokens: bool = True) -> bytes:
    """The bytes that ``ids`` spell one after the other. ``VocabularyError`` if an id is out of range.

    Special and stop tokens spell nothing, unless ``skip_special_tokens`` is ``False``: then each is written as its
    name, the bytes of ``token_bytes``.

    >>> import interlock
    >>> tokens = [b"a", b"<|call|>", b"<|end|>"]
    >>> vocabulary = interlock.Vocabulary(tokens, eos_token_ids=[2], special_token_ids=[1])
    >>> vocabulary.decode([1, 0, 2]), vocabulary.decode([1, 0, 2], skip_special_tokens=False)
    (b'a', b'<|call|>a<|end|>')
    """
    if skip_special_tokens is True:
        return _plain_decode(self, ids)
    require(skip_special_tokens=(skip_special_tokens, "flag"))
    listed = ids if isinstance(ids, str) else list(ids) if isinstance(ids, Iterable) else ids
    _plain_decode(self, listed)  # It says what is wrong with them.
    return b"".join(map(self.token_bytes, listed))


def attach() -> None:
    """Make the functions of this file methods of ``Vocabulary``, as the stubs say."""
    decode.__qualname__ = "Vocabulary.decode"
    Vocabulary.decode = decode  # type: ignore[method-assign]
