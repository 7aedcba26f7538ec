"""The text of a message of the assistant that a chat ends with, which the model goes on with (prefill)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interlock._core import ArgumentError

__all__ = ["prefill_of", "without_prefill"]

_ROLES = ("assistant", "model")


def prefill_of(prompt: Any) -> str | None:
    """What the last message says, if it is the assistant's and calls no tools: the text that the model goes on with.
    ``None`` for any other prompt. ``ArgumentError`` for a part of it that is no text.
    """
    if isinstance(prompt, str) or not isinstance(prompt, Sequence) or not prompt:
        return None
    last = prompt[-1]
    if not isinstance(last, Mapping) or last.get("role") not in _ROLES or last.get("tool_calls"):
        return None
    content = last.get("content")
    if content is None or isinstance(content, str):
        return content
    texts = [part.get("text") if isinstance(part, Mapping) else None for part in content]
    odd = next((i for i, text in enumerate(texts) if not isinstance(text, str)), None)
    if odd is not None:
        raise ArgumentError(
            f"the model goes on with the last message, which is the assistant's, and part {odd} of it is no text: "
            'write its content as a text, or as {"type": "text", "text": "..."}'
        )
    return "\n".join(text for text in texts if text is not None)


def without_prefill(prompt: Any) -> Any:
    """The prompt in front of its prefill; the prompt itself where it has none."""
    return prompt if prefill_of(prompt) is None else list(prompt[:-1])
