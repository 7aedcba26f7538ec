"""What is no model of llama-cpp-python, or none any more: said before llama.cpp is asked, which would crash."""

from __future__ import annotations

import os
from typing import Any

from interlock import ArgumentError
from interlock.util.quoting import quoted

__all__ = ["check_llama"]


def check_llama(llama: Any) -> None:
    """``ArgumentError`` for what is no ``llama_cpp.Llama``, and for one that was closed: llama.cpp reads the memory of
    a closed model all the same, and crashes.
    """
    if isinstance(llama, str | os.PathLike):
        name = quoted(str(llama))
        raise ArgumentError(f"a llama_cpp.Llama is needed, and {name} is a name: llama_cpp.Llama({name})")
    if isinstance(llama, type):
        raise ArgumentError(
            f"a llama_cpp.Llama is needed, and this is the class {llama.__name__}: llama_cpp.Llama('model.gguf')"
        )
    if not callable(getattr(llama, "n_vocab", None)):
        what = type(llama).__name__
        way = "pass the Llama itself" if what == "LlamaTokenizer" else "llama_cpp.Llama('model.gguf')"
        raise ArgumentError(f"a llama_cpp.Llama is needed, not {what}: {way}")
    if getattr(llama, "model", llama) is None:
        raise ArgumentError(
            "this llama_cpp.Llama was closed, so there is no model in memory any more: make another one, and with it "
            "another generator or processor; call close() when all answers are there"
        )
