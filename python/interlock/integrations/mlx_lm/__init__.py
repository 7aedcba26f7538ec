"""Constrained generation with mlx-lm.

``GuideLogitsProcessor`` goes into ``generate(logits_processors=[...])``, ``stream_generate``, ``batch_generate`` and
``BatchGenerator``; ``constrained_batch`` runs a batch with a constraint per prompt; ``vocabulary_from_mlx`` makes the
vocabulary from what ``mlx_lm.load`` returns. mlx is imported when the first mask is made, and torch never.
"""

from interlock.integrations._triggers import Triggered
from interlock.integrations.mlx_lm._batch import BatchReply, constrained_batch
from interlock.integrations.mlx_lm._logits_processor import GuideLogitsProcessor
from interlock.integrations.mlx_lm._vocabulary import vocabulary_from_mlx

__all__ = ["BatchReply", "GuideLogitsProcessor", "Triggered", "constrained_batch", "vocabulary_from_mlx"]
