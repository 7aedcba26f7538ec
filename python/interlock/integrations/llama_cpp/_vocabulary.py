"""The vocabulary of a model that llama.cpp has loaded."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Iterable
from typing import Any, SupportsIndex

from interlock import InterlockError, Vocabulary, VocabularyError

__all__ = ["vocabulary_from_llama"]

_LONGEST = 65_535
"""Bytes of the longest token that a vocabulary may have."""


def vocabulary_from_llama(
    llama: Any, eos_token_ids: SupportsIndex | Iterable[SupportsIndex] | None = None
) -> Vocabulary:
    """The vocabulary of ``llama``, a ``llama_cpp.Llama``, read from the loaded model.

    Its size is the width of the logits. Control, unknown and unused tokens are special. Stop tokens are
    ``eos_token_ids``, by default all that llama.cpp itself ends a generation at: the model's end of text, end of turn
    and whatever else its file marks so.

    The model does not say how its tokenizer encodes, but its file may. So the file is read too and taken where it makes
    the same masks; then ``Guide.forced_tokens`` is exact for tokenizers of a known kind.

    Raises ``VocabularyError`` if the model has no tokens or no stop token. Takes some tenths of a second for 128,000
    tokens: keep the vocabulary beside the model.

    >>> llama = llama_cpp.Llama("model.gguf")  # doctest: +SKIP
    >>> vocabulary = vocabulary_from_llama(llama)  # doctest: +SKIP
    """
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
        try:
            eos = [operator.index(eos_token_ids)]  # type: ignore[arg-type]
        except TypeError:
            eos = [operator.index(i) for i in eos_token_ids]  # type: ignore[union-attr]
    silent = lib.LLAMA_TOKEN_ATTR_CONTROL | lib.LLAMA_TOKEN_ATTR_UNKNOWN | lib.LLAMA_TOKEN_ATTR_UNUSED
    special = [i for i in range(size) if lib.llama_vocab_get_attr(vocab, i) & silent]
    made = Vocabulary(_pieces(lib, vocab, size), eos, special, size)
    path = getattr(llama, "model_path", None)
    if not path:
        return made
    try:
        read = Vocabulary.from_file(path, eos_token_ids=eos, size=size)
    except (InterlockError, OSError):
        return made
    return read if read.fingerprint == made.fingerprint else made


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
