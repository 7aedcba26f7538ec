"""The texts in which a server names its own tokens, beside the tokenizer's chat template: see `markup_tokens`."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

__all__ = ["parser_texts"]

_LOG = logging.getLogger(__name__)


def parser_texts(server_args: Any, tokenizer: Any) -> list[str]:
    """The server's own chat template, and the marks that its reasoning and tool parsers look for."""
    texts: list[str] = []
    template = getattr(server_args, "chat_template", None)
    if isinstance(template, str):
        file = Path(template)
        texts.append(file.read_text(errors="replace") if file.is_file() else template)
    for make in (_reasoning_detector, _tool_detector):
        try:
            detector = make(server_args, tokenizer)
        except Exception as error:  # Another version of the server keeps its parsers elsewhere.
            _LOG.warning("the tokens of a parser are not reserved: %s: %s", type(error).__name__, error)
            continue
        if detector is not None:
            texts += _strings(list(vars(detector).values()))
    return texts


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return _strings(list(value.values()))
    if isinstance(value, (list, tuple, set)):
        return [text for part in value for text in _strings(part)]
    return []


def _reasoning_detector(server_args: Any, tokenizer: Any) -> Any:
    name = getattr(server_args, "reasoning_parser", None)
    if not name:
        return None
    from sglang.srt.parser.reasoning_parser import ReasoningParser

    return ReasoningParser(model_type=name, stream_reasoning=False, tokenizer=tokenizer).detector


def _tool_detector(server_args: Any, tokenizer: Any) -> Any:
    name = getattr(server_args, "tool_call_parser", None)
    if not name:
        return None
    from sglang.srt.function_call.function_call_parser import FunctionCallParser

    return FunctionCallParser([], name, tokenizer=tokenizer).detector
