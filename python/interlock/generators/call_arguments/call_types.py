"""The types in the signatures of calls: what type checkers tell apart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from interlock._core import Index
from interlock.generators.call_arguments.arguments import Message
from interlock.grammars.grammar_text import GrammarText
from interlock.output_types import Grammar

__all__ = ["Batch", "Chat", "TextType"]

TextType = re.Pattern[str] | Grammar | GrammarText | Index | list[str] | tuple[str, ...]
"""Output types whose values are texts."""

Batch = list[str] | tuple[str, ...] | list[list[Message]] | list[list[dict[str, Any]]]
"""Several prompts."""

Chat = str | Sequence[Mapping[str, Any]]
"""One prompt."""
