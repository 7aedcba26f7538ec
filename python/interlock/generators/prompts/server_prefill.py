"""A chat that ends with the assistant's message, for servers: what asks them to go on with it.

A server's masks begin with what it generates. So the rest of an output is all that it can be asked for: of free text
any text, and of choices what is left of those that begin so. The rest of a schema or of a pattern has no name there.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from interlock._core import ArgumentError
from interlock.generators.prompts.trailing_blank import warn_trailing_blank
from interlock.output_types import OutputType
from interlock.util.quoting import quoted

__all__ = ["going_on", "rest_of"]

_GOES_ON: dict[str, dict[str, Any]] = {
    "vllm": {"continue_final_message": True, "add_generation_prompt": False},
    "sglang": {"continue_final_message": True},
}
"""What goes into the body of a request, by the kind of server."""


def going_on(server: str) -> dict[str, Any]:
    """What the body of a request has beside the chat. ``ArgumentError`` where the server has no such field."""
    if server not in _GOES_ON:
        raise ArgumentError(
            "OpenAI's chat completions do not go on with a message of the assistant, which the chat ends with: leave "
            "it out, or name the server that does, from_openai(client, model, server='vllm') or 'sglang'"
        )
    return _GOES_ON[server]


def rest_of(output: OutputType[Any], prefill: str) -> OutputType[Any]:
    """What is left of ``output`` behind ``prefill``. ``ArgumentError`` for choices of which none begins so, or one is
    at its end, and for what is neither choices nor free text. A prefill that ends with a blank warns.
    """
    if output.kind in ("text", "choices") and prefill.endswith(" "):
        warn_trailing_blank(prefill)
    if output.kind == "text":
        return output
    if output.kind != "choices":
        raise ArgumentError(
            f"a server begins {output.name} anew behind the assistant's message that the chat ends with, and cannot be "
            "asked for its rest: leave the message out, or use a model in this process (from_transformers, "
            "from_llama_cpp, from_mlx_lm), which goes on with it"
        )
    left = tuple(choice.removeprefix(prefill) for choice in output.source if choice.startswith(prefill))
    if not left:
        raise ArgumentError(
            f"the chat ends with a message of the assistant, {quoted(prefill)}, and none of the choices begins so: "
            "leave the message out"
        )
    if "" in left:
        raise ArgumentError(
            f"the chat ends with a message of the assistant, {quoted(prefill)}, which is one of the choices already: "
            "leave the message out, or shorten it"
        )
    return dataclasses.replace(output, source=left)
