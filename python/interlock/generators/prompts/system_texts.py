"""Texts for the system message of a chat, and whether a chat template shows tools by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interlock._core import ArgumentError
from interlock.generators.prompts.chat_content import templated

__all__ = ["shows_tools", "with_system_text"]

Messages = list[dict[str, Any]]


def shows_tools(tokenizer: Any, messages: Messages, tools: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the chat template writes the names of all ``tools`` into this chat because they are passed to it."""
    shown = _rendered(tokenizer, messages, tools)
    if shown is None or shown == _rendered(tokenizer, messages, None):
        return False
    return all(str(tool["function"]["name"]) in shown for tool in tools)


def with_system_text(tokenizer: Any, messages: Messages, text: str, tools: Any = None) -> Messages | None:
    """``messages``, as the chat template reads them, with ``text`` in them: behind what the system message says, or as
    a system message. Where the template has none, it stands in front of what the user says first. ``None`` where the
    template writes neither.
    """
    if messages and messages[0].get("role") in ("system", "developer"):
        tries = [[_joined(messages[0], text, is_behind=True), *messages[1:]]]
    else:
        tries = [[{"role": "system", "content": text}, *messages]]
    first = next((i for i, one in enumerate(messages) if one.get("role") == "user"), None)
    if first is not None:
        tries.append([*messages[:first], _joined(messages[first], text, is_behind=False), *messages[first + 1 :]])
    for chat in tries:
        try:
            read = templated(tokenizer, chat, tools)
        except ArgumentError:
            continue
        # Templates strip texts.
        if text.strip() in (_rendered(tokenizer, read, tools) or ""):
            return read
    return None


def _joined(message: dict[str, Any], text: str, *, is_behind: bool) -> dict[str, Any]:
    """A message with ``text`` in front of its content, or behind it."""
    content = message.get("content")
    if isinstance(content, list):
        part = {"type": "text", "text": text}
        return {**message, "content": [*content, part] if is_behind else [part, *content]}
    pieces = [content, text] if is_behind else [text, content]
    return {**message, "content": "\n\n".join(piece for piece in pieces if piece)}


def _rendered(tokenizer: Any, messages: Messages, tools: Any) -> str | None:
    """The chat as the template writes it; ``None`` where the template raises what it likes."""
    try:
        return str(tokenizer.apply_chat_template(messages, tools=tools, tokenize=False, add_generation_prompt=True))
    except Exception:  # noqa: BLE001 - see above
        return None
