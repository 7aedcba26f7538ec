"""Warnings that point to the line of the caller's program, however deep in this package they arise."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn_caller"]


_INSIDE = ("interlock", "torch", "transformers", "llama_cpp", "mlx_lm", "collections")
"""Packages between the caller's program and this one: a generation calls back, and streams are generators."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line outside of this package that called it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
