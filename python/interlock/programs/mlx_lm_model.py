"""A model of mlx-lm with its KV cache."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from interlock._core import Vocabulary
from interlock.output_types.context_room import context_of_mlx
from interlock.programs.cached_model import CachedModel

__all__ = ["MlxLmModel"]


class MlxLmModel(CachedModel):
    """Reads token after token of one sequence."""

    def __init__(self, model: Any, tokenizer: Any, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary, context_of_mlx(model))
        self._model, self._tokenizer = model, tokenizer
        self._cache: Any = None

    def encode(self, text: str) -> list[int]:
        """The tokens of plain text, without those that begin a prompt."""
        inner = getattr(self._tokenizer, "_tokenizer", self._tokenizer)
        made = inner(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
        return [int(token) for token in made]

    def _kept(self, length: int, known: int) -> bool:
        from mlx_lm.models.cache import can_trim_prompt_cache, trim_prompt_cache

        if length < known:
            if not can_trim_prompt_cache(self._cache):
                return False
            trim_prompt_cache(self._cache, known - length)
        return True

    def _forget(self) -> None:
        from mlx_lm.models.cache import make_prompt_cache

        self._cache = make_prompt_cache(self._model)

    def _feed(self, ids: list[int]) -> npt.ArrayLike:
        import mlx.core as mx

        found = self._model(mx.array(ids)[None], cache=self._cache)
        return np.array(found[0, -1].astype(mx.float32))
