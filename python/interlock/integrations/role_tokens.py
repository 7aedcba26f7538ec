"""Special tokens that say whose turn it is in a conversation: ``<|im_start|>``, ``<|start_header_id|>``, ``[INST]``.

A client that sends a structural tag or a grammar may name special tokens in it: those of tool calls, of reasoning, of
channels. With a token of a role it could make a model write a turn that is not the model's. So
``Index.from_response_format``, ``Index.from_tools`` and the servers' plug-ins let a client name all special tokens but
these, unless ``allowed_tokens`` says otherwise.

Tokens that end a turn stay: they are stop tokens of most models. Harmony's ``<|start|>`` stays as well, because its own
tool calls begin with it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from interlock._core import Vocabulary

__all__ = ["ENDS_OF_TURNS", "ROLE_TOKENS", "allowed_by_operator", "allowed_to_clients", "nameable_tokens"]

ROLE_TOKENS = frozenset(
    {
        *("<|im_start|>", "<|im_user|>", "<|im_system|>", "<|im_assistant|>", "<|im_middle|>"),  # ChatML, Kimi
        *("<|start_header_id|>", "<|end_header_id|>", "<|header_start|>", "<|header_end|>"),  # Llama 3 and 4
        *("<|begin_of_text|>", "<|startoftext|>", "<s>", "<bos>", "<|bos|>", "[BOS]", "<｜begin▁of▁sentence｜>"),
        *("[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"),  # Mistral
        *("<start_of_turn>", "<|turn>"),  # Gemma
        *("<|user|>", "<|assistant|>", "<|system|>", "<|observation|>"),  # GLM, Phi
        *("<|USER|>", "<|ASSISTANT|>", "<|SYSTEM|>"),
        *("<｜User｜>", "<｜Assistant｜>"),  # DeepSeek
        *("<|START_OF_TURN_TOKEN|>", "<|USER_TOKEN|>", "<|SYSTEM_TOKEN|>", "<|CHATBOT_TOKEN|>"),  # Command
        *("<|start_of_role|>", "<|end_of_role|>", "<|role_start|>", "<|role_end|>"),  # Granite
        *("<|start_of_system|>", "<|start_of_user|>", "<|start_of_assistant|>"),
    }
)
"""The texts of such tokens in common families of models."""

ENDS_OF_TURNS = frozenset({"<|user|>", "<|observation|>"})
"""Those that some model ends its own turn with, by writing the role that speaks next (GLM). Only a vocabulary says
whether it does."""

ALL = "all"
"""The word for every special token."""


def nameable_tokens(vocabulary: Vocabulary) -> list[int]:
    """The special tokens and stop tokens that a client may name: all but those of roles, unless they are stop tokens.

    >>> import interlock
    >>> vocabulary = interlock.Vocabulary([b"a", b"<tool_call>", b"<|im_start|>", b""], 3, [1, 2])
    >>> nameable_tokens(vocabulary)
    [1, 3]
    """
    stops = set(vocabulary.eos_token_ids)

    def is_role(token: int) -> bool:
        return token not in stops and vocabulary.token_bytes(token).decode("utf-8", "replace") in ROLE_TOKENS

    return [token for token in sorted(stops | set(vocabulary.special_token_ids)) if not is_role(token)]


@functools.lru_cache(maxsize=4)
def _without_roles(vocabulary: Vocabulary) -> tuple[int, ...] | None:
    """``nameable_tokens``, or ``None`` where these are all special tokens. There may be thousands of them."""
    allowed = nameable_tokens(vocabulary)
    special = set(vocabulary.special_token_ids) | set(vocabulary.eos_token_ids)
    return None if len(allowed) == len(special) else tuple(allowed)


def allowed_to_clients(allowed_tokens: Any, vocabulary: Vocabulary) -> Iterable[int | str] | None:
    """What ``allowed_tokens`` means for a source that a client wrote, where ``None`` is the caller's silence: all but
    the tokens of roles. In what is returned ``None`` is every special token.
    """
    return _without_roles(vocabulary) if allowed_tokens is None else allowed_by_operator(allowed_tokens)


def allowed_by_operator(allowed_tokens: Any) -> Iterable[int | str] | None:
    """What ``allowed_tokens`` means for a source of the program itself: silence leaves every special token."""
    return None if allowed_tokens is None or allowed_tokens == ALL else tuple(allowed_tokens)
