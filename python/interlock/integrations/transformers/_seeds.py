"""Random choices of one call that repeat by its seed, whatever other calls run beside it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

__all__ = ["seeded"]


class _OwnRandom(TorchFunctionMode):  # type: ignore[misc, unused-ignore]
    """Gives torch's random choices a generator of their own, in the thread that enters this.

    ``model.generate`` draws from torch's global generators. All threads share those, so what one call draws depends on
    the calls beside it, and a seed would change what others draw.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed = seed
        self._generators: dict[torch.device, torch.Generator] = {}

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        if func in _OF_TENSORS and named.get("generator") is None:
            drawn_from = args[0] if args else named["input"]
            return func(*args, **{**named, "generator": self._of(drawn_from.device)})
        if func in _LIKE and named.get("generator") is None:
            like = args[0] if args else named["input"]
            made = {name: named.get(name) or getattr(like, name) for name in ("dtype", "device")}
            return _LIKE[func](like.shape, generator=self._of(torch.device(made["device"])), **made)
        if func in _OF_SIZES and named.get("generator") is None:
            device = torch.device(named.get("device") or torch.get_default_device())
            return func(*args, **{**named, "generator": self._of(device)})
        return func(*args, **named)

    def _of(self, device: torch.device) -> torch.Generator:
        if device not in self._generators:
            self._generators[device] = torch.Generator(device=device).manual_seed(self._seed)
        return self._generators[device]


# What draws from the values of a tensor, what draws in the shape of one, and what draws in a shape.
_OF_TENSORS = frozenset((torch.multinomial, torch.Tensor.multinomial, torch.bernoulli, torch.Tensor.bernoulli))
_LIKE: dict[Callable[..., Any], Callable[..., Any]] = {torch.rand_like: torch.rand, torch.randn_like: torch.randn}
_OF_SIZES = frozenset((torch.rand, torch.randn, torch.randint, torch.randperm))


@contextlib.contextmanager
def seeded(seed: int | None, model: Any) -> Iterator[None]:
    """Random choices from ``seed`` in this thread, without a change to those of anybody else.

    A model in training mode drops out at random, which has no generator of its own: there torch's global ones are
    seeded and put back, and the seed repeats only where nothing else draws meanwhile.
    """
    with contextlib.ExitStack() as stack:
        if seed is not None and getattr(model, "training", False):
            devices = [model.device] if model.device.type == "cuda" else []
            stack.enter_context(torch.random.fork_rng(devices=devices))
            torch.manual_seed(seed)
        if seed is not None:
            stack.enter_context(_OwnRandom(seed))
        yield
