"""Options of ``model.generate``: which there are, which ask for sampling, and the names that its budget has not."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import transformers

from interlock import ArgumentError

__all__ = ["asks_for_sampling", "option_names", "refuse_other_names", "with_sampling"]

# Options of sampling: to name one without do_sample means that sampling is wanted.
_SAMPLING = frozenset(("temperature", "top_p", "top_k", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff", "top_h"))
_FURTHER = frozenset(("logits_processor", "stopping_criteria", "generation_config", "assistant_model", "tokenizer"))
_BUDGETS = ("max_new_tokens", "max_length", "max_completion_tokens")


def option_names(model: Any) -> frozenset[str]:
    """The keywords of ``model.generate``."""
    config = set(transformers.GenerationConfig().to_dict()) | set(vars(transformers.GenerationConfig()))
    forward = set(inspect.signature(model.forward).parameters) - {"input_ids", "attention_mask"}
    return frozenset({name for name in config | forward if not name.startswith("_")} | _FURTHER)


def refuse_other_names(options: Mapping[str, Any]) -> None:
    """``ArgumentError`` for a budget under the name that transformers gives to a number of tokens."""
    for name in _BUDGETS:
        if name in options:
            raise ArgumentError(f"{name!r} has another name here: pass max_tokens, within which the output is whole")


def asks_for_sampling(options: Mapping[str, Any]) -> bool:
    """Whether an option of sampling is named, and nothing says that sampling is off."""
    return bool(options.keys() & _SAMPLING) and "do_sample" not in options


def with_sampling(options: dict[str, Any]) -> dict[str, Any]:
    """``options`` as transformers reads them: sampling is on if an option of it is named, temperature 0 is greedy."""
    options = {name: value for name, value in options.items() if value is not None or name not in _SAMPLING}
    if asks_for_sampling(options):
        options["do_sample"] = options.get("temperature", 1) != 0
    if options.get("temperature", 1) == 0:
        if options["do_sample"]:
            raise ArgumentError("temperature=0 is greedy search, and do_sample=True asks for sampling")
        del options["temperature"]
    return options
