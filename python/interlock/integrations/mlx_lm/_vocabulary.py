"""The vocabulary of a model that mlx-lm has loaded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsIndex

from interlock import Vocabulary

__all__ = ["vocabulary_from_mlx"]


def vocabulary_from_mlx(
    tokenizer: Any,
    eos_token_ids: SupportsIndex | Iterable[SupportsIndex] | None = None,
    size: int | None = None,
    special_token_ids: SupportsIndex | Iterable[SupportsIndex] | None = None,
) -> Vocabulary:
    """The vocabulary of ``tokenizer``, an ``mlx_lm.TokenizerWrapper`` or the tokenizer that it wraps.

    Stop tokens are ``eos_token_ids``, by default those at which mlx-lm ends a generation, which are the model's and
    the tokenizer's. ``size`` is the width of the logits, by default the ids that are listed; columns beyond are masked.
    ``special_token_ids`` are tokens that never spell text, beside those that the tokenizer marks as special:
    `interlock.integrations.markup_tokens.markup_token_ids` finds the marks of a chat template.

    Raises ``VocabularyError`` if the tokenizer is not one that is recognised or nothing names a stop token, and
    ``UnsupportedError`` if its decoder gives a token no bytes of its own. Takes up to a second for 128,000 tokens: keep
    the vocabulary beside the model.

    >>> model, tokenizer = mlx_lm.load("folder")  # doctest: +SKIP
    >>> vocabulary = vocabulary_from_mlx(tokenizer)  # doctest: +SKIP
    """
    wrapped = vars(tokenizer).get("_tokenizer") if type(tokenizer).__name__ == "TokenizerWrapper" else None
    if wrapped is None:
        wrapped = tokenizer
    elif eos_token_ids is None:
        eos_token_ids = sorted(tokenizer.eos_token_ids) or None
    return Vocabulary.from_tokenizer(wrapped, eos_token_ids, size, special_token_ids)
