"""Constrained generation with transformers.

``GuideLogitsProcessor`` goes into ``generate(logits_processor=[...])`` and works with greedy search, sampling, beams
and assisted generation. Two loops go into ``generate(custom_generate=...)``: ``jump_forward`` appends tokens that the
index forces without asking the model, ``forced_drafts`` has the model verify them as drafts.
``ToolLoop`` runs the functions that a model calls, and writes their results into its output.
``ContinuousBatchingGuides`` gives requests of a continuous batch a constraint each. Importing this module imports torch
and transformers.
"""

from typing import TYPE_CHECKING, Any

from interlock.integrations._triggers import Triggered
from interlock.integrations.transformers._drafts import ForcedCandidates, forced_drafts
from interlock.integrations.transformers._jump import JumpForwardStats, jump_forward
from interlock.integrations.transformers._logits_processor import GuideLogitsProcessor
from interlock.integrations.transformers._tool_loop import ToolLoop, ToolRun

if TYPE_CHECKING:
    from interlock.integrations.transformers._continuous import ContinuousBatchingGuides

__all__ = [
    "ContinuousBatchingGuides",
    "ForcedCandidates",
    "GuideLogitsProcessor",
    "JumpForwardStats",
    "ToolLoop",
    "ToolRun",
    "Triggered",
    "forced_drafts",
    "jump_forward",
]


def __getattr__(name: str) -> Any:
    # What it is built on came late to transformers, and is not to be missed where it is not used.
    if name == "ContinuousBatchingGuides":
        from interlock.integrations.transformers._continuous import ContinuousBatchingGuides

        return ContinuousBatchingGuides
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
