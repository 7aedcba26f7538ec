"""Models and tokenizers that were passed in each other's place, or as names: said where a generator is made."""

from __future__ import annotations

import os
from typing import Any

from interlock._core import ArgumentError
from interlock.util.quoting import quoted

__all__ = ["is_tokenizer", "no_model", "refuse_swapped"]


def is_tokenizer(value: Any) -> bool:
    """Whether an object makes ids of texts and is no model."""
    return callable(getattr(value, "encode", None)) and not any(
        callable(getattr(value, name, None)) for name in ("generate", "create_completion", "parameters")
    )


def refuse_swapped(model: Any, tokenizer: Any, call: str) -> None:
    """``ArgumentError`` for a tokenizer in the place of the model, with something else in its own place."""
    if is_tokenizer(model) and tokenizer is not None and not isinstance(tokenizer, str) and not is_tokenizer(tokenizer):
        raise ArgumentError(
            f"the arguments are in the other order, {type(model).__name__} is a tokenizer: {call}(model, tokenizer)"
        )


def no_model(value: Any, needed: str, load: str, name: str) -> ArgumentError:
    """The error for what is no model. ``load`` is the function that loads one, and ``name`` stands for its argument."""
    if isinstance(value, str | os.PathLike):
        return ArgumentError(f"{needed} is needed, and {quoted(str(value))} is a name: {load}({quoted(str(value))})")
    what = ", which is a tokenizer" if is_tokenizer(value) else ""
    if isinstance(value, type):
        return ArgumentError(f"{needed} is needed, and this is the class {value.__name__}: {load}({name})")
    return ArgumentError(f"{needed} is needed, not {type(value).__name__}{what}: {load}({name})")
