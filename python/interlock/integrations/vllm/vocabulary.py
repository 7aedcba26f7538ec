"""The vocabulary of vLLM's tokenizer."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import interlock
from interlock import Vocabulary, VocabularyError
from interlock import tokenizers as readers
from interlock.integrations.vllm.counts import Counts
from interlock.integrations.vllm.options import Options
from interlock.integrations.vocabulary_packs import digest_of, load_or_make

__all__ = ["markup_ids", "unwrapped", "vocabulary_of"]


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
    digest = digest_of(_description(inner), eos, forbidden, size)
    vocabulary, found = load_or_make(options.cache_folder(), digest, lambda: _made(inner, eos, forbidden, size))
    counts.vocabulary_seconds.set(time.perf_counter() - begin, "pack" if found else "tokenizer")
    return vocabulary


def _eos(tokenizer: Any, inner: Any) -> list[int]:
    for holder in (tokenizer, inner):
        found = getattr(holder, "eos_token_id", None)
        if found is not None:
            return [found]
    # The stop tokens of every request come with the request; this is what an output without any would end with.
    raise VocabularyError("the tokenizer names no stop token (eos_token_id)")


def _made(inner: Any, eos: list[int], forbidden: Iterable[int], size: int) -> Vocabulary:
    table = readers._read(inner)
    table.special.update(forbidden)
    reach = max([*table.tokens, *table.special, *eos], default=-1) + 1
    if reach > size:
        # Ids that the logits lack cannot be sampled.
        reach = size
    tokens = [table.tokens.get(i, b"") for i in range(reach)]
    special = sorted(i for i in table.special if i < reach)
    return interlock._core._vocabulary_with_model(tokens, eos, special, size, **table.model)


def _description(inner: Any) -> str:
    """All that decides the bytes of a tokenizer's tokens, as text."""
    backend = getattr(inner, "backend_tokenizer", None)
    if backend is not None:
        return f"{_class_name(inner)} {backend.to_str()}"
    proto = getattr(getattr(inner, "_model", None) or getattr(inner, "sp_model", None), "serialized_model_proto", None)
    if proto is not None:
        return f"{_class_name(inner)} {proto().hex()} {getattr(inner, 'added_tokens_decoder', None)!r}"
    table = readers._read(inner)
    return f"{_class_name(inner)} {sorted(table.tokens.items())!r} {sorted(table.special)!r}"


def _class_name(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


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
