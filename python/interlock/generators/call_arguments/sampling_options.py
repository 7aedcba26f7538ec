"""Options of sampling, checked before a model runs: the same ranges and the same errors whatever the backend.

Backends answer a wrong value in many ways: with errors of their own from deep inside, after the prompt was read, or not
at all. What only one backend has is left to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from interlock._core import ArgumentError
from interlock.util.caller_warnings import warn_caller
from interlock.util.quoting import quoted

__all__ = ["MAX_TEMPERATURE", "UnusedSeedWarning", "check_sampling", "plain_numbers", "warn_unused_seed"]

MAX_TEMPERATURE = 10
"""Above it a model's choice is hardly more than chance: a slip, or a temperature of another kind."""


class UnusedSeedWarning(UserWarning):
    """A ``seed`` was passed to greedy search, which makes no random choices, so that it changes nothing.

    Pass a ``temperature``, or leave the seed out.
    """

    __module__ = "interlock"  # Where programs find it, as tracebacks should say.


@dataclass(frozen=True)
class _Option:
    """What a value must be: its type, and of a number its range."""

    kind: type
    kind_name: str
    is_in_range: Callable[[Any], bool] = lambda value: True
    range: str = ""

    def check(self, name: str, value: Any) -> None:
        """``TypeError`` for a value of another kind, ``ArgumentError`` for one that is out of range."""
        if not isinstance(value, self.kind) or (isinstance(value, bool) and self.kind is not bool):
            raise TypeError(f"{name} must be {self.kind_name}, not {type(value).__name__}")
        if not self.is_in_range(value):
            raise ArgumentError(f"{name} is {self.range}, not {quoted(value)}")


def _number(is_in_range: Callable[[Any], bool], words: str) -> _Option:
    return _Option(Real, "a number", lambda value: -math.inf < value < math.inf and is_in_range(value), words)


def _count(is_in_range: Callable[[Any], bool], words: str) -> _Option:
    return _Option(Integral, "an int", is_in_range, words)


_FLAG = _Option(bool, "True or False")
_FRACTION = _number(lambda v: 0 <= v <= 1, "a number from 0 to 1")
_SHARE = _number(lambda v: 0 < v <= 1, "a number above 0 and at most 1")
_PENALTY = _number(lambda v: -2 <= v <= 2, "a number from -2 to 2")
_FACTOR = _number(lambda v: v > 0, "a number above 0")

# ``None`` always means the backend's default.
_OPTIONS = {
    "temperature": _number(lambda v: 0 <= v <= MAX_TEMPERATURE, "0 for greedy search, or a number up to 10"),
    "top_p": _SHARE,
    "top_k": _count(lambda v: v >= 0, "a number of tokens, or 0 for all"),
    "min_p": _FRACTION,
    "typical_p": _SHARE,
    "epsilon_cutoff": _FRACTION,
    "eta_cutoff": _FRACTION,
    "top_h": _FRACTION,
    "seed": _count(lambda v: -(2**63) <= v < 2**63, "a whole number of 64 bits"),
    "presence_penalty": _PENALTY,
    "frequency_penalty": _PENALTY,
    "repetition_penalty": _FACTOR,
    "repeat_penalty": _FACTOR,
    "no_repeat_ngram_size": _count(lambda v: v >= 0, "a number of tokens, or 0 for no bound"),
    "length_penalty": _number(lambda v: True, "a number"),
    "guidance_scale": _number(lambda v: v > 0, "a number above 0"),
    "num_beams": _count(lambda v: v >= 1, "a number of beams, at least 1"),
    "do_sample": _FLAG,
    "use_cache": _FLAG,
    "jump_forward": _FLAG,
    "chat": _FLAG,
}


def check_sampling(options: Mapping[str, Any]) -> None:
    """``TypeError`` for an option of sampling whose value is of another type, ``ArgumentError`` for one out of range.

    >>> check_sampling({"temperature": 0.7, "top_p": None})
    >>> check_sampling({"top_p": 2.0})
    Traceback (most recent call last):
      ...
    interlock.ArgumentError: top_p is a number above 0 and at most 1, not 2.0
    """
    for name, value in options.items():
        known = _OPTIONS.get(name)
        if known is not None and value is not None:
            known.check(name, value)


def plain_numbers(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of sampling that are numbers of NumPy, as Python's: backends take these alone.

    >>> import numpy
    >>> plain_numbers({"temperature": numpy.float32(0.5), "top_k": 3})
    {'temperature': 0.5}
    """
    numbers = {name for name, value in options.items() if name in _OPTIONS and isinstance(value, Real)}
    return {name: options[name].item() for name in numbers if hasattr(options[name], "dtype")}


def warn_unused_seed() -> None:
    """Warn of a seed in greedy search. Whoever passes one expects another output for another seed."""
    warn_caller(
        "seed changes nothing here: without a temperature the search is greedy, which makes no random choices; "
        "pass temperature=0.7, say, or leave the seed out",
        UnusedSeedWarning,
    )
