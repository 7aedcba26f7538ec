"""A model of transformers with its KV cache."""

from __future__ import annotations

import inspect
from typing import Any

import numpy.typing as npt
import torch
from transformers import DynamicCache

from interlock._core import ArgumentError, Vocabulary
from interlock.programs.cached_model import CachedModel

__all__ = ["TransformersModel"]


class TransformersModel(CachedModel):
    """Reads token after token of one sequence. ``ArgumentError`` for encoder-decoder models."""

    def __init__(self, model: Any, tokenizer: Any, vocabulary: Vocabulary) -> None:
        if model.config.is_encoder_decoder:
            raise ArgumentError("programs need a model that continues text; an encoder-decoder model does not")
        context = getattr(model.config.get_text_config(), "max_position_embeddings", None)
        super().__init__(vocabulary, context if isinstance(context, int) else None)
        self._model, self._tokenizer = model, tokenizer
        self._cache: Any = None
        accepted = inspect.signature(model.forward).parameters
        self._name = "past_key_values" if "past_key_values" in accepted else "cache"
        self._extra = {"logits_to_keep": 1} if "logits_to_keep" in accepted else {}

    def encode(self, text: str) -> list[int]:
        """The tokens of plain text, without those that begin a prompt."""
        made = self._tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
        return [int(token) for token in made]

    def _kept(self, length: int, known: int) -> bool:
        if length == known:
            return True
        # Caches of layers that do not see everything cannot go back.
        if not all(type(layer).__name__ == "DynamicLayer" for layer in getattr(self._cache, "layers", [None])):
            return False
        self._cache.crop(length - known)
        return True

    def _forget(self) -> None:
        self._cache = DynamicCache(config=self._model.config)

    @torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
    def _feed(self, ids: list[int]) -> npt.ArrayLike:
        device = self._model.device
        outputs = self._model(
            input_ids=torch.tensor([ids], device=device), use_cache=True, **{self._name: self._cache}, **self._extra
        )
        self._cache = outputs[self._name]
        found: npt.ArrayLike = outputs.logits[0, -1].float().cpu().numpy()
        return found
