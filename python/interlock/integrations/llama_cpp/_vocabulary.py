"""The vocabulary of a model that llama.cpp has loaded."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Iterable
from typing import Any, SupportsIndex

from interlock import Vocabulary, VocabularyError
from interlock.integrations.llama_cpp._model import check_llama

__all__ = ["vocabulary_from_llama"]

_LONGEST = 65_535
"""Bytes of the longest token that a vocabulary may have."""


def vocabulary_from_llama(
    llama: Any,
    eos_token_ids: SupportsIndex | Iterable[SupportsIndex] | None = None,
    special_token_ids: SupportsIndex | Iterable[SupportsIndex] | None = None,
) -> Vocabulary:
    """The vocabulary of ``llama``, a ``llama_cpp.Llama``, read from the loaded model.

    Its size is the width of the logits. Control, unknown and unused tokens are special. Stop tokens are
    ``eos_token_ids``, by default all that llama.cpp itself ends a generation at: the model's end of text, end of turn
    and whatever else its file marks so. ``special_token_ids`` are tokens that never spell text, beside those: give the
    marks of the chat template that the model's file does not call control tokens, such as ``</think>``.

    How the tokenizer splits text is not read, so ``Guide.forced_tokens`` is empty. `ForcedTokenDrafts` asks the model's
    tokenizer.

    Raises ``VocabularyError`` if the model has no tokens or no stop token, and ``ArgumentError`` for what is no
    ``Llama`` and for one that was closed. Takes some tenths of a second for 128,000
    tokens: keep the vocabulary beside the model.

    >>> llama = llama_cpp.Llama("model.gguf")  # doctest: +SKIP
    >>> vocabulary = vocabulary_from_llama(llama)  # doctest: +SKIP
    """
    check_llama(llama)
    import llama_cpp as lib

    vocab = lib.llama_model_get_vocab(llama.model)
    size = int(lib.llama_vocab_n_tokens(vocab))
    if size <= 0:
        raise VocabularyError("the model has no tokens")
    if eos_token_ids is None:
        eos = [i for i in range(size) if lib.llama_vocab_is_eog(vocab, i)]
        if not eos:
            raise VocabularyError("the model names no stop token: give eos_token_ids, the ids that end an output")
    else:
        eos = _ids(eos_token_ids)
    silent = lib.LLAMA_TOKEN_ATTR_CONTROL | lib.LLAMA_TOKEN_ATTR_UNKNOWN | lib.LLAMA_TOKEN_ATTR_UNUSED
    given = _ids(special_token_ids) if special_token_ids is not None else []
    special = {i for i in range(size) if lib.llama_vocab_get_attr(vocab, i) & silent}
    return Vocabulary(_pieces(lib, vocab, size), eos, sorted(special.union(given)), size)


def _ids(given: SupportsIndex | Iterable[SupportsIndex]) -> list[int]:
    """One id or several as a list."""
    try:
        return [operator.index(given)]  # type: ignore[arg-type]
    except TypeError:
        return [operator.index(i) for i in given]  # type: ignore[union-attr]


def _pieces(lib: Any, vocab: Any, size: int) -> list[bytes]:
    """The bytes of every token, those of special ones too."""
    room = 256
    buffer = ctypes.create_string_buffer(room)
    pieces: list[bytes] = []
    for i in range(size):
        length = lib.llama_token_to_piece(vocab, i, buffer, room, 0, True)
        if length < 0:  # minus the bytes that it needs
            room = min(-length, _LONGEST + 1)
            buffer = ctypes.create_string_buffer(room)
            length = lib.llama_token_to_piece(vocab, i, buffer, room, 0, True)
            if length < 0:
                raise VocabularyError(f"token {i} is longer than {_LONGEST} bytes")
        pieces.append(buffer.raw[:length])
    return pieces
