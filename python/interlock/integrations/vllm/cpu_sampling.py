"""A repair of vLLM's sampler for processors, without which drafts are judged by numbers that nobody asked for.

Beside drafts, vLLM repeats each request's temperature, top-k and top-p for each of its drafts. On a processor, vLLM
0.32 and 0.33 write the repeated numbers into a copy and throw that away (vLLM's issue 55005). What is left in their
place is whatever the memory held before. So the probability of a draft is wrong as soon as a request samples: drafts
that a mask makes certain are rejected, and at worst a token comes past the mask.

The sampler of a GPU is another one and stays as it is. So does a version that repeats the numbers as it should.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from types import ModuleType
from typing import Any

__all__ = ["loses_numbers", "repair", "repeated"]

logger = logging.getLogger("vllm.interlock")


def repeated(
    numbers: Any, ends: Any, num_tokens: int, replace_from: float | None = None, replace_to: float | None = None
) -> Any:
    """The number of each request, once for each of its drafts: a tensor of ``num_tokens``, of the type of ``numbers``.

    Request *i* has the drafts from ``ends[i - 1]`` to ``ends[i]``. The number ``replace_from`` becomes ``replace_to``.
    """
    import torch

    if replace_from is not None:
        numbers = torch.where(numbers == replace_from, torch.tensor(replace_to, dtype=numbers.dtype), numbers)
    counts = torch.diff(ends, prepend=ends.new_zeros(1))
    return torch.repeat_interleave(numbers, counts, output_size=num_tokens)


def loses_numbers(expand: Callable[..., Any]) -> bool:
    """Whether vLLM's ``expand_batch_to_tokens`` does something else than `repeated` with tensors of a processor."""
    import torch

    # Fractions that no other tensor is likely to have left in the memory.
    numbers, ends = torch.tensor([0.8125, 0.0, 0.328125]), torch.tensor([1, 3, 6], dtype=torch.int32)
    found: list[float] = expand(numbers, ends, 6, 0, 1).tolist()
    return found != [0.8125, 1.0, 1.0, 0.328125, 0.328125, 0.328125]


def repair(rejection_sampler: ModuleType) -> bool:
    """Give vLLM's module ``vllm.v1.sample.rejection_sampler`` the numbers it loses; whether it needed that."""
    original: Callable[..., Any] | None = getattr(rejection_sampler, "expand_batch_to_tokens", None)
    if original is None or not loses_numbers(original):
        return False

    def expand_batch_to_tokens(
        x: Any, cu_num_tokens: Any, num_tokens: int, replace_from: int = 0, replace_to: int = 0
    ) -> Any:
        if x.device.type != "cpu":
            return original(x, cu_num_tokens, num_tokens, replace_from, replace_to)
        return repeated(x, cu_num_tokens, num_tokens, replace_from, replace_to)

    rejection_sampler.expand_batch_to_tokens = expand_batch_to_tokens  # type: ignore[attr-defined]
    logger.info("vLLM's sampler for processors loses the temperature of drafts: repaired")
    return True
