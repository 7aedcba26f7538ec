"""The option ``describe`` of a call: prompts that say what the output type asks for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from interlock._core import ArgumentError
from interlock.generators.call_arguments.arguments import as_messages, check_prompt
from interlock.generators.replies.values import about_row
from interlock.output_types import OutputType
from interlock.output_types.description import describe
from interlock.util.argument_types import require

__all__ = ["described", "described_rows", "take_describe"]


def take_describe(options: dict[str, Any]) -> bool:
    """The option, taken out of ``options``. ``TypeError`` for what is no ``bool`` or ``None``."""
    asked = options.pop("describe", None)
    require(describe=(asked, "flag?"))
    return bool(asked)


def described_rows(prompts: Iterable[Any], outputs: Iterable[OutputType[Any]], is_asked: bool) -> list[Any]:
    """The prompts of a batch, each as ``described`` makes it with its output type. ``ArgumentError`` for what is no
    prompt.
    """
    rows = []
    for i, (prompt, output) in enumerate(zip(prompts, outputs)):
        with about_row(i):
            check_prompt(prompt, {})
            as_messages(prompt)
            rows.append(described(prompt, output, is_asked))
    return rows


def described(prompt: Any, output: OutputType[Any], is_asked: bool) -> Any:
    """A prompt with the description in front of its text; of a chat, in front of what the user said last. The prompt
    itself stays as it is. ``ArgumentError`` for a chat in which the user says no text.
    """
    text = describe(output) if is_asked else ""
    if not text:
        return prompt
    if isinstance(prompt, str):
        return f"{text}\n\n{prompt}"
    turns = list(prompt)
    for i in reversed(range(len(turns))):
        turn = turns[i]
        if not isinstance(turn, dict) or turn.get("role") != "user":
            continue
        content = turn.get("content")
        if isinstance(content, str):
            turns[i] = {**turn, "content": f"{text}\n\n{content}"}
            return turns
        if isinstance(content, list):
            turns[i] = {**turn, "content": [{"type": "text", "text": text}, *content]}
            return turns
    raise ArgumentError(
        "describe=True needs a message of the user with a text: put interlock.describe(output_type) into a message"
    )
