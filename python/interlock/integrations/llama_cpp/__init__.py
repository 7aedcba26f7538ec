"""Constrained generation with llama-cpp-python.

``constrained`` calls ``create_completion`` or ``create_chat_completion`` of a model under a constraint;
``vocabulary_from_llama`` makes the vocabulary from the loaded model. ``GuideLogitsProcessor`` is for loops of your own,
``ForcedTokenDrafts`` has the model verify forced tokens as drafts, and ``index_from_gbnf`` takes the grammars that
llama.cpp takes. llama_cpp is imported by the vocabulary only, and torch by nothing.
"""

from interlock.integrations._triggers import Triggered
from interlock.integrations.llama_cpp._calls import constrained
from interlock.integrations.llama_cpp._drafts import ForcedTokenDrafts
from interlock.integrations.llama_cpp._gbnf import index_from_gbnf
from interlock.integrations.llama_cpp._logits_processor import GuideLogitsProcessor
from interlock.integrations.llama_cpp._vocabulary import vocabulary_from_llama

__all__ = [
    "ForcedTokenDrafts",
    "GuideLogitsProcessor",
    "Triggered",
    "constrained",
    "index_from_gbnf",
    "vocabulary_from_llama",
]
