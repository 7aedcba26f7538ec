"""The vocabulary of vLLM's tokenizer."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from interlock import Index, Vocabulary, VocabularyError
from interlock.integrations.markup_tokens import readable_markup_ids
from interlock.integrations.server_counts import Counts
from interlock.integrations.vllm.options import Options
from interlock.integrations.vocabulary_packs import found_or_made

__all__ = ["speller_of", "unwrapped", "vocabulary_of"]


def unwrapped(tokenizer: Any) -> Any:
    """The tokenizer that interlock can read inside the one that vLLM uses.

    vLLM wraps Mistral's tokenizer in a class of its own; the original is its attribute ``tokenizer``.
    """
    if getattr(type(tokenizer), "IS_MISTRAL_TOKENIZER", False) or hasattr(tokenizer, "mistral"):
        return tokenizer.tokenizer
    return tokenizer


def vocabulary_of(tokenizer: Any, size: int, options: Options, counts: Counts) -> Vocabulary:
    """The vocabulary of vLLM's tokenizer for logits of width ``size``: from its pack, or made and kept.

    ``VocabularyError`` or ``UnsupportedError`` for a tokenizer that has no bytes per token.
    """
    begin = time.perf_counter()
    inner = unwrapped(tokenizer)
    eos = _eos(tokenizer, inner)
    forbidden = readable_markup_ids(tokenizer) if options.forbid_markup else []
    vocabulary, found = found_or_made(inner, size, eos, forbidden, folder=options.cache_folder())
    counts.vocabulary_seconds.set(time.perf_counter() - begin, "pack" if found else "tokenizer")
    return vocabulary


def _eos(tokenizer: Any, inner: Any) -> list[int]:
    for holder in (tokenizer, inner):
        found = getattr(holder, "eos_token_id", None)
        if found is not None:
            return [found]
    # The stop tokens of every request come with the request; this is what an output without any would end with.
    raise VocabularyError("the tokenizer names no stop token (eos_token_id)")


def speller_of(tokenizer: Any, vocabulary: Vocabulary) -> Callable[[str], list[int]] | None:
    """The tokenizer's own way from a text to ids, for forced bytes; None if interlock knows how it encodes,
    or if there is none.

    A tokenizer that cannot encode without its special tokens spells nothing.
    """
    encode = getattr(tokenizer, "encode", None)
    if encode is None or Index.from_choices(["words that are forced"], vocabulary).guide().forced_tokens():
        return None

    def spell(text: str) -> list[int]:
        try:
            return [int(i) for i in encode(text, add_special_tokens=False)]
        except (TypeError, ValueError):
            return []

    return spell
