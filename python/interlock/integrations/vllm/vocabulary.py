"""The vocabulary of vLLM's tokenizer."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from interlock import Index, Vocabulary, VocabularyError
from interlock.integrations.vllm.counts import Counts
from interlock.integrations.vllm.options import Options
from interlock.integrations.vocabulary_packs import found_or_made

__all__ = ["markup_ids", "speller_of", "unwrapped", "vocabulary_of"]


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
    forbidden = sorted(markup_ids(tokenizer)) if options.forbid_markup else []
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
    """The tokenizer's own way from a text to ids, for forced bytes; None if interlock knows how it encodes.

    A tokenizer that cannot encode without its special tokens spells nothing.
    """
    if Index.from_choices(["words that are forced"], vocabulary).guide().forced_tokens():
        return None

    def spell(text: str) -> list[int]:
        try:
            return [int(i) for i in tokenizer.encode(text, add_special_tokens=False)]
        except (TypeError, ValueError):
            return []

    return spell


_PAIRS = {"<": ">", "[": "]", "〈": "〉", "｜": "｜", "|": "|"}


def markup_ids(tokenizer: Any) -> set[int]:
    """Added tokens that are not special and yet no text of a document: ``</think>``, ``<｜tool▁calls▁begin｜>``.

    They end reasoning, begin the calls of tools or forge a turn, so a string of an output must not hold one. That is
    every added token that the chat template names, or that begins and ends as markup does. Runs of blanks are none. The
    same characters, written with other tokens, stay allowed.
    """
    added = getattr(tokenizer, "added_tokens_decoder", None)
    if not isinstance(added, dict):
        return set()
    template = getattr(tokenizer, "chat_template", None)
    template = (
        template if isinstance(template, str) else " ".join(template.values()) if isinstance(template, dict) else ""
    )
    found = set()
    for i, token in added.items():
        text = str(getattr(token, "content", token)).strip()
        if text and not getattr(token, "special", False):
            closed = _PAIRS.get(text[0]) == text[-1] and len(text) > 2
            if closed or (text in template and not text.isalnum()):
                found.add(int(i))
    return found
