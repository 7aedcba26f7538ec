"""Random numbers of one call: the same seed draws the same, whatever else draws beside it.

torch has one random generator for each device, which all threads share. A mode of torch's functions belongs to one
thread: within it, each function that draws is given a generator of the call.
"""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

__all__ = ["OwnDraws", "own_draws"]

_NAMES = "multinomial bernoulli normal poisson rand randn randint randperm"
_METHODS = "multinomial bernoulli bernoulli_ cauchy_ exponential_ geometric_ log_normal_ normal_ random_ uniform_"
_DRAW = {
    *(getattr(torch, name) for name in _NAMES.split()),
    *(getattr(torch.Tensor, name) for name in _METHODS.split()),
}  # fmt: skip

_LIKE = {torch.rand_like: torch.rand, torch.randn_like: torch.randn, torch.randint_like: torch.randint}


class OwnDraws(TorchFunctionMode):  # type: ignore[misc, unused-ignore]
    """``with OwnDraws(seed):`` draws from generators of its own, one for each device. It may be entered again and
    again, and then goes on where it was.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed = seed
        self._generators: dict[torch.device, torch.Generator] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = dict(kwargs or {})
        if func in _LIKE and given.get("generator") is None:
            # Older versions of torch take no generator here.
            like = args[0] if args else given.pop("input")
            kept = {name: given.get(name) or getattr(like, name) for name in ("dtype", "device", "layout")}
            func, args, given = _LIKE[func], (*args[1:], like.shape), {**given, **kept}
        if func in _DRAW and given.get("generator") is None:
            given["generator"] = self._generator(args, given)
        return func(*args, **given)

    def _generator(self, args: Any, given: dict[str, Any]) -> torch.Generator:
        tensor = next((one for one in (*args, *given.values()) if isinstance(one, torch.Tensor)), None)
        named = given.get("device")
        if named is None:
            device = torch.get_default_device() if tensor is None else tensor.device
        else:
            device = torch.device(named)
        if device not in self._generators:
            self._generators[device] = torch.Generator(device).manual_seed(self._seed)
        return self._generators[device]


def own_draws(seed: int | None) -> contextlib.AbstractContextManager[Any]:
    """``OwnDraws``; without a seed the random numbers are those of everybody."""
    return contextlib.nullcontext() if seed is None else OwnDraws(seed)
