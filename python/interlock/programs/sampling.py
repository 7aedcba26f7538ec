"""How the next token is chosen from logits."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from interlock._core import ArgumentError
from interlock.generators.call_arguments.sampling_options import MAX_TEMPERATURE, warn_unused_seed

__all__ = ["Sampler"]


class Sampler:
    """Greedy search with ``temperature=0``, which is the default; otherwise sampling.

    ``top_k`` keeps so many tokens, ``top_p`` the likeliest that have so much of the probability together, ``min_p``
    those that have at least so much of the likeliest one's. ``seed`` makes the choices repeatable. ``ArgumentError``
    for a number out of range.

    >>> Sampler().choose(np.array([0.0, 2.0, 1.0], dtype=np.float32))
    1
    """

    def __init__(
        self,
        temperature: float = 0.0,
        top_p: float = 1.0,
        top_k: int = 0,
        min_p: float = 0.0,
        seed: int | None = None,
    ) -> None:
        if not 0 <= temperature <= MAX_TEMPERATURE:
            raise ArgumentError(f"temperature is 0 for greedy search, or a number up to 10, not {temperature!r}")
        if not 0 < top_p <= 1:
            raise ArgumentError(f"top_p is above 0 and at most 1, not {top_p!r}")
        if not 0 <= min_p < 1:
            raise ArgumentError(f"min_p is at least 0 and below 1, not {min_p!r}")
        if top_k < 0:
            raise ArgumentError(f"top_k is a number of tokens, or 0 for all, not {top_k!r}")
        if seed is not None and seed < 0:
            raise ArgumentError(f"seed is a whole number that is not negative, not {seed!r}")
        if seed is not None and not temperature:
            warn_unused_seed()
        self.temperature, self.top_p, self.top_k, self.min_p = temperature, top_p, top_k, min_p
        self._random = np.random.default_rng(seed)

    def choose(self, logits: npt.NDArray[np.float32]) -> int:
        """The id of the token that comes next. ``logits`` has minus infinity where a token is forbidden."""
        if not self.temperature:
            return int(logits.argmax())
        scores = logits.astype(np.float64) / self.temperature
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        if self.top_k and self.top_k < len(weights):
            weights[weights < np.partition(weights, -self.top_k)[-self.top_k]] = 0
        if self.min_p:
            weights[weights < self.min_p * weights.max()] = 0
        if self.top_p < 1:
            order = np.argsort(-weights, kind="stable")
            before = np.cumsum(weights[order]) - weights[order]
            weights[order[before >= self.top_p * weights.sum()]] = 0
        return int(self._random.choice(len(weights), p=weights / weights.sum()))
