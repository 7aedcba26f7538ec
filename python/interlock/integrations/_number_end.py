"""Where a number at the top of an output ends.

An object ends with its brace. A number by itself has no closing character: a mask allows a stop token and one more
digit, and forbids the blank or the word that the model would write next. A small model that has learnt to write a blank
behind a number then writes digits until its budget ends. So a complete number ends where the model, without the mask,
would write what is no part of it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from interlock._core import Guide, Vocabulary
from interlock.budget_cuts import NO_TEXT, first_bytes

__all__ = ["Ending", "NumberEnd"]

_NONE = float("-inf")


@dataclass(frozen=True)
class Ending:
    """That an output ends here: for certain, or as likely as ``score`` says."""

    stop: list[int]
    """The stop tokens that are allowed."""
    score: float | None
    """The logit of the first stop token; ``None`` where nothing else may follow."""

    def apply(self, masked: Any) -> None:
        """Change one row of masked logits, an array of NumPy or a tensor, in place."""
        if self.score is not None:
            masked[self.stop[0]] = self.score
            return
        kept = masked[self.stop]
        masked[:] = _NONE
        masked[self.stop] = kept


class NumberEnd:
    """Ends complete numbers at the top of an output of JSON as the model would.

    ``temperature`` is that of the sampling that follows. With 0 the number ends if the likeliest token, before masking,
    is no part of the number. Otherwise it ends as often as a token that was sampled without the mask would be no part
    of it: a stop token takes over the probability of all such tokens. A token that begins with what may follow, as
    ``"7 "`` begins with a digit, is a part.
    """

    def __init__(self, vocabulary: Vocabulary, temperature: float = 0.0) -> None:
        self._vocabulary, self._temperature = vocabulary, temperature
        self._first: npt.NDArray[np.uint16] | None = None

    def at(self, temperature: float) -> NumberEnd:
        """The same with another temperature."""
        other = NumberEnd(self._vocabulary, temperature)
        other._first = self._first
        return other

    @property
    def first_bytes(self) -> npt.NDArray[np.uint16]:
        """See the function of this name."""
        if self._first is None:
            self._first = first_bytes(self._vocabulary)
        return self._first

    def is_open(self, guide: Guide | None) -> bool:
        """Whether ``guide`` stands behind a value that is complete and can go on: of JSON, a number."""
        return guide is not None and guide.is_accepting and not guide.must_stop and guide.index.kind == "json_schema"

    def ending(self, guide: Guide, logits: npt.NDArray[Any], stop: Collection[int]) -> Ending | None:
        """The end that the model asks for where ``is_open``, from its logits before masking; ``None`` for no end."""
        logits = np.asarray(logits, dtype=np.float64).reshape(-1)
        allowed = guide.allowed_token_ids()
        allowed = allowed[allowed < len(logits)]
        stops = [int(i) for i in allowed if int(i) in stop]
        if not stops:
            return None
        first = self.first_bytes
        going_on = np.zeros(NO_TEXT + 1, dtype=np.bool_)
        going_on[first[allowed]] = True
        going_on[NO_TEXT] = False
        is_part = np.zeros(len(logits), dtype=np.bool_)
        width = min(len(first), len(logits))
        is_part[:width] = going_on[first[:width]]
        if not self._temperature:
            return None if is_part[int(logits.argmax())] else Ending(stops, None)
        others = logits[~is_part] / self._temperature
        top = float(others.max())
        if top == _NONE:
            return None
        best = max(stops, key=lambda i: float(logits[i]))
        score = self._temperature * (top + float(np.log(np.exp(others - top).sum())))
        return Ending([best], score)
