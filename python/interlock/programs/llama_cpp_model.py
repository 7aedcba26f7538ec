"""A model of llama.cpp with its KV cache, by llama-cpp-python."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from interlock._core import Vocabulary
from interlock.generators.prompts.model_turns import turns_of
from interlock.integrations.llama_cpp._model import check_llama
from interlock.programs.cached_model import CachedModel

__all__ = ["LlamaCppModel"]


class LlamaCppModel(CachedModel):
    """Reads token after token of one sequence of a ``llama_cpp.Llama``, whose cache it takes over."""

    def __init__(self, llama: Any, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary, int(llama.n_ctx()))
        self._llama = llama
        self.turns = turns_of(llama)
        self._seen: npt.NDArray[np.intc] = np.empty(0, dtype=np.intc)

    def encode(self, text: str) -> list[int]:
        """The tokens of plain text, without those that begin a prompt. ``ArgumentError`` if the model was closed."""
        check_llama(self._llama)
        return [int(token) for token in self._llama.tokenize(text.encode(), add_bos=False, special=False)]

    def _kept(self, length: int, known: int) -> bool:
        # Somebody else may have used the model since; and some caches cannot go back.
        llama = self._llama
        check_llama(llama)
        if llama.n_tokens != known or not np.array_equal(llama.input_ids[:known], self._seen):
            return False
        if length < known and not llama._ctx.kv_cache_seq_rm(-1, length, -1):
            return False
        llama.n_tokens = length
        return True

    def _forget(self) -> None:
        check_llama(self._llama)
        self._llama.reset()

    def _feed(self, ids: list[int]) -> npt.ArrayLike:
        import llama_cpp

        check_llama(self._llama)
        self._llama.eval(ids)
        self._seen = self._llama.input_ids[: self._llama.n_tokens].copy()
        found = llama_cpp.llama_get_logits_ith(self._llama.ctx, -1)
        return np.ctypeslib.as_array(found, shape=(int(self._llama.n_vocab()),)).copy()
