"""Tokens that mean something to the server and must not appear inside text.

Tokenizers have *added tokens* that are not marked special: ``</think>``, ``<tool_call>``, ``<|user|>``. A string of a
JSON document may hold such text, but not as that token: the reasoning parser would end the reasoning there, the tool
parser begin a call, and the next turn's prompt hold a forged turn. Reserved tokens never spell text; the text itself
stays possible, in other tokens.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["mentions", "reserved_token_ids"]

_LOG = logging.getLogger(__name__)


def reserved_token_ids(tokenizer: Any, texts: Iterable[str]) -> list[int]:
    """The added tokens whose content stands in one of ``texts``, ascending; blanks and one or two letters do not
    count."""
    added = getattr(tokenizer, "added_tokens_decoder", None)
    if not isinstance(added, dict):
        return []
    together = "\n".join(texts)
    found = []
    for i, token in added.items():
        content = str(getattr(token, "content", token))
        if len(content.strip()) > 2 and content in together:
            found.append(int(i))
    return sorted(found)


def mentions(server_args: Any, tokenizer: Any) -> list[str]:
    """The texts of a server in which its own tokens stand: chat templates, and the marks that its parsers look for."""
    texts = _strings(getattr(tokenizer, "chat_template", None))
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
