"""Forced tokens as drafts: the model reads a forced run in one pass and is asked about every token of it.

llama-cpp-python has one draft model for a ``Llama``, whatever it generates. So the draft model is made first, and the
processor that is at work registers with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from interlock.integrations.llama_cpp._logits_processor import GuideLogitsProcessor

__all__ = ["ForcedTokenDrafts"]


class ForcedTokenDrafts:
    """A draft model: ``Llama(path, draft_model=ForcedTokenDrafts(), logits_all=True)``.

    Proposes the tokens that the constraint of the generation at hand forces. ``fallback``, another
    ``llama_speculative.LlamaDraftModel``, is asked where nothing is forced, and in generations without a constraint.
    ``proposed`` counts the tokens of all drafts.

    ``logits_all`` keeps the logits of every place: 4 bytes for each column and place of the context.
    """

    def __init__(self, fallback: Any = None) -> None:
        self._fallback = fallback
        self._processor: GuideLogitsProcessor | None = None
        self.proposed = 0

    def follow(self, processor: GuideLogitsProcessor | None) -> None:
        """Propose what ``processor`` forces, from now on; processors call it themselves."""
        self._processor = processor

    def __call__(self, input_ids: npt.NDArray[np.intc], /, **kwargs: Any) -> npt.NDArray[np.intc]:
        """Drafts behind ``input_ids``."""
        if self._processor is not None:
            found = self._processor.drafts(input_ids, self._fallback)
        elif self._fallback is not None:
            found = np.asarray(self._fallback(input_ids, **kwargs))
        else:
            found = np.empty(0, dtype=np.intc)
        self.proposed += len(found)
        return found
