"""Constrained generation with llama-cpp-python.

``constrained`` calls ``create_completion`` or ``create_chat_completion`` of a model under a constraint;
``vocabulary_from_llama`` makes the vocabulary from the loaded model. ``GuideLogitsProcessor`` is for loops of your own,
and ``ForcedTokenDrafts`` has the model verify forced tokens as drafts. llama_cpp is imported by the vocabulary only,
and torch by nothing.
"""

from interlock.integrations._triggers import Triggered
from interlock.integrations.llama_cpp._calls import constrained
from interlock.integrations.llama_cpp._drafts import ForcedTokenDrafts
from interlock.integrations.llama_cpp._processor import GuideLogitsProcessor
from interlock.integrations.llama_cpp._vocabulary import vocabulary_from_llama

__all__ = ["ForcedTokenDrafts", "GuideLogitsProcessor", "Triggered", "constrained", "vocabulary_from_llama"]
