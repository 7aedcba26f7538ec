"""Whether a tokenizer of transformers belongs to a model: found out before a model writes anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interlock._core import ArgumentError
from interlock.util.caller_warnings import warn_caller

__all__ = ["check_tokenizer"]

_PADDING = 2048
"""More rows than any model's logits are known to have beyond the tokens of its tokenizer, which is about a thousand."""

_REMEDY = "load both from the same name, AutoTokenizer.from_pretrained(name)"


def check_tokenizer(tokenizer: Any, size: int, eos_token_ids: Sequence[int]) -> None:
    """``ArgumentError`` for a tokenizer that cannot be that of a model with ``size`` logits whose generation config
    names ``eos_token_ids``; a warning for one that hardly is. Logits are often padded, and that is neither.
    """
    try:
        count = len(tokenizer)
    except TypeError:
        return
    numbers = f"it has {count:,} tokens, and the model scores {size:,}"
    if count > size:
        raise ArgumentError(
            f"this tokenizer does not belong to this model: {numbers}. Either {_REMEDY}, or, if you added tokens, "
            "call model.resize_token_embeddings(len(tokenizer))"
        )
    is_short = size - count > _PADDING
    wrong = _text_of_plain_token(tokenizer, eos_token_ids)
    if not is_short and not wrong:
        return
    found = f"{numbers}{wrong and f'; {wrong}'}" if is_short else wrong
    if is_short and wrong:
        raise ArgumentError(f"this tokenizer does not belong to this model: {found}. Remedy: {_REMEDY}")
    remedy = _REMEDY if is_short else f"{_REMEDY}, or set model.generation_config.eos_token_id"
    warn_caller(f"this tokenizer may not belong to this model: {found}. Remedy: {remedy}", UserWarning)


def _text_of_plain_token(tokenizer: Any, eos_token_ids: Sequence[int]) -> str:
    """What is wrong with the stop tokens, in words, if one of them is an ordinary token of the tokenizer."""
    special = getattr(tokenizer, "all_special_ids", None)
    if special is None:
        return ""
    known = {*special, *(getattr(tokenizer, "added_tokens_decoder", None) or ())}
    for one in eos_token_ids:
        if one not in known:
            spelled = repr(tokenizer.decode([one])) if one < len(tokenizer) else "no token"
            return f"the model stops at the token {one}, which is {spelled} in this tokenizer"
    return ""
