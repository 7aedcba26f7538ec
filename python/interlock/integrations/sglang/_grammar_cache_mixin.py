"""What both backends, the plain one and the one that waits for reasoning, add to how SGLang keeps grammars."""

from __future__ import annotations

from typing import Any

from sglang.srt.constrained.base_grammar_backend import InvalidGrammarObject

from interlock.integrations.server_counts import counts
from interlock.integrations.sglang._grammar_cache import Key

__all__ = ["KeepsGrammars", "TransientRefusal"]


class TransientRefusal(InvalidGrammarObject):  # type: ignore[misc, unused-ignore]
    """A refusal that says nothing about the source, such as a deadline on a busy machine: it is not kept."""


class KeepsGrammars:
    """Before a backend of SGLang in the order of classes."""

    def get_cached_or_future_value(self, key: Key, require_reasoning: bool) -> tuple[Any, bool]:
        """The grammar of a source that was compiled before, or the future of one that is compiled now."""
        value, is_hit = super().get_cached_or_future_value(key, require_reasoning)  # type: ignore[misc]
        if is_hit:
            counts().cache_hits.add(1, self.kind_of(key))
        return value, is_hit

    def set_cache(self, key: Key, value: Any) -> None:
        """Keep a grammar or a refusal, unless a later request may fare better."""
        if not isinstance(value, TransientRefusal):
            super().set_cache(key, value)  # type: ignore[misc]

    def kind_of(self, key: Key) -> str:
        """The kind of a source."""
        return key[0]
