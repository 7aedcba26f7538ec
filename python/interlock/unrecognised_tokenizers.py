"""What to pass in the place of an object that ``Vocabulary.from_tokenizer`` does not read."""

from __future__ import annotations

import os
import sys
from typing import Any

__all__ = ["what_to_pass"]

_READ = "give one of transformers, tokenizers, tiktoken, sentencepiece or mistral_common"


def what_to_pass(value: Any) -> str:
    """What is said of ``value``, which is no tokenizer that is read: how its vocabulary can be had.

    >>> what_to_pass("gpt2")
    "load it, AutoTokenizer.from_pretrained('gpt2'), or read a file with Vocabulary.from_file"
    >>> what_to_pass(5).partition(" or ")[0]
    'give one of transformers, tokenizers, tiktoken, sentencepiece'
    """
    from interlock.tokenizers import is_recognised

    if isinstance(value, str):
        return f"load it, AutoTokenizer.from_pretrained({value!r}), or read a file with Vocabulary.from_file"
    package = type(value).__module__.partition(".")[0]
    if package == "llama_cpp":
        return "integrations.llama_cpp.vocabulary_from_llama(llama) reads the vocabulary of a llama_cpp.Llama"
    if package == "mlx_lm" or (isinstance(value, tuple) and len(value) == 2):
        return "mlx_lm.load returns two objects, model and tokenizer, and the second one is needed"
    if is_recognised(_attribute(value, "tokenizer")):
        return "its attribute tokenizer is one, so pass that"
    if folder := _folder_with_file(value):
        return f"if it was made of the tokenizer file in its package, read that: Vocabulary.from_file({folder!r})"
    return f"{_READ}, read the tokenizer's file with Vocabulary.from_file, or make a Vocabulary from a list of bytes"


def _attribute(value: Any, name: str) -> Any:
    try:
        return getattr(value, name, None)
    except Exception:  # A property may do anything, and this only makes a message.
        return None


def _folder_with_file(value: Any) -> str:
    """The folder of the module that the class of ``value`` is from, if a tokenizer file lies in it; else empty."""
    from interlock.tokenizers import FILES

    module = value if isinstance(value, type(sys)) else sys.modules.get(type(value).__module__)
    source = _attribute(module, "__file__")
    folder = os.path.dirname(source) if isinstance(source, str) else ""
    return folder if folder and any(os.path.isfile(os.path.join(folder, name)) for name in FILES) else ""
