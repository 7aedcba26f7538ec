"""Constrained generation with transformers.

``GuideLogitsProcessor`` goes into ``generate(logits_processor=[...])`` and works with greedy search, sampling, beams
and assisted generation. Two loops go into ``generate(custom_generate=...)``: ``jump_forward`` appends tokens that the
index forces without asking the model, ``forced_drafts`` has the model verify them as drafts. Importing this module
imports torch and transformers.
"""

from interlock.integrations.transformers._drafts import ForcedCandidates, forced_drafts
from interlock.integrations.transformers._jump import JumpForwardStats, jump_forward
from interlock.integrations.transformers._processor import GuideLogitsProcessor
from interlock.integrations._triggers import Triggered

__all__ = [
    "ForcedCandidates",
    "GuideLogitsProcessor",
    "JumpForwardStats",
    "Triggered",
    "forced_drafts",
    "jump_forward",
]
