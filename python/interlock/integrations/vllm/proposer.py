"""A proposer that proposes nothing, so that forced tokens alone are the drafts.

vLLM validates drafts only where it has a proposer. With this one, jump-forward needs no draft model and no n-grams::

    --speculative-config '{"method": "custom_class",
                           "model": "interlock.integrations.vllm.proposer.ForcedTokensProposer",
                           "num_speculative_tokens": 8}'
"""

from __future__ import annotations

from typing import Any

__all__ = ["ForcedTokensProposer"]


class ForcedTokensProposer:
    """vLLM's interface of a ``custom_class`` proposer; what it proposes is always empty."""

    def __init__(self, vllm_config: Any) -> None:
        self.num_speculative_tokens: int = vllm_config.speculative_config.num_speculative_tokens

    def load_model(self, *args: Any, **kwargs: Any) -> None:
        """Nothing to load."""

    def propose(self, sampled_token_ids: list[list[int]], *args: Any, **kwargs: Any) -> list[list[int]]:
        """No drafts for any request: the scheduler adds the forced tokens, which it knows."""
        return [[] for _ in sampled_token_ids]
