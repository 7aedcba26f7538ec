"""Constrained generation with transformers.

``GuideLogitsProcessor`` goes into ``generate(logits_processor=[...])`` and works with greedy search, sampling, beams and
assisted generation. ``jump_forward`` goes into ``generate(custom_generate=...)``: tokens that the index forces are
appended without asking the model. Importing this module imports torch and transformers.
"""

from interlock.integrations.transformers._jump import JumpForwardStats, jump_forward
from interlock.integrations.transformers._processor import GuideLogitsProcessor
from interlock.integrations.transformers._row import Triggered

__all__ = ["GuideLogitsProcessor", "JumpForwardStats", "Triggered", "jump_forward"]
