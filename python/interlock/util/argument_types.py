"""Checks of arguments: a ``TypeError`` that names the argument, what it must be, and what it is.

What is written in Rust says the same in the same words.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from interlock._core import CancelToken, Index, Limits, Vocabulary

__all__ = ["require"]


def _is_texts(value: Any) -> bool:
    return hasattr(value, "__iter__")


def _is_output(value: Any) -> bool:
    return hasattr(value, "__iter__") and hasattr(value, "__len__")


# What an argument can be, and the words for it.
_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "text": (lambda v: isinstance(v, str), "a str"),
    "text?": (lambda v: v is None or isinstance(v, str), "a str or None"),
    "text or bytes": (lambda v: isinstance(v, str | bytes), "a str or bytes"),
    "flag": (lambda v: isinstance(v, bool), "True or False"),
    "flag?": (lambda v: v is None or isinstance(v, bool), "True, False or None"),
    "count": (lambda v: hasattr(v, "__index__") and not isinstance(v, bool), "an int"),
    "count?": (lambda v: v is None or (hasattr(v, "__index__") and not isinstance(v, bool)), "an int or None"),
    "path": (lambda v: isinstance(v, str | os.PathLike), "a str or a path (os.PathLike)"),
    "path?": (lambda v: v is None or isinstance(v, str | os.PathLike), "a str, a path (os.PathLike) or None"),
    "index": (lambda v: isinstance(v, Index), "an interlock.Index"),
    "vocabulary": (lambda v: isinstance(v, Vocabulary), "an interlock.Vocabulary"),
    "cancel?": (lambda v: v is None or isinstance(v, CancelToken), "an interlock.CancelToken or None"),
    "limits?": (lambda v: v is None or isinstance(v, Limits | Mapping), "an interlock.Limits, a mapping or None"),
    "function": (callable, "a function"),
    "exception": (lambda v: isinstance(v, BaseException), "an exception"),
    "output": (_is_output, "bytes, a str or a sequence of token ids"),
    "special tokens?": (
        lambda v: v is None or v == "all" or (hasattr(v, "__iter__") and not isinstance(v, str | bytes)),
        'an iterable of ids and texts of special tokens, "all" or None',
    ),
    "token ids": (lambda v: hasattr(v, "__iter__") and not isinstance(v, str | Mapping), "an iterable of token ids"),
    "texts": (_is_texts, "bytes, a str or an iterable of texts and token ids"),
}


def require(**given: tuple[Any, str]) -> None:
    """Check arguments: each is a value and the kind that it must be of. ``TypeError`` for the first that is not.

    >>> require(path=("a.json", "path"), max_bytes=(None, "count?"))
    >>> require(max_bytes=("5", "count?"))
    Traceback (most recent call last):
      ...
    TypeError: max_bytes must be an int or None, not str
    """
    for name, (value, kind) in given.items():
        is_one, words = _KINDS[kind]
        if not is_one(value):
            raise TypeError(f"{name} must be {words}, not {type(value).__name__}")
