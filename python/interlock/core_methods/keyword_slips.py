"""Methods of ``Index`` that tell of slips in the names of their keyword arguments."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from interlock._core import Index
from interlock.util.near_words import telling_slips

__all__ = ["attach"]


def attach() -> None:
    """Let the methods of ``Index`` that people call with keywords tell of slips. It comes last: it wraps what others
    have put there.
    """
    for name in ("from_regex", "from_choices", "from_grammar", "from_json_schema", "from_structural_tag", "from_tools"):
        setattr(Index, name, classmethod(_of_class(name)))
    setattr(Index, "guide", telling_slips(Index.guide))  # noqa: B010


def _of_class(name: str) -> Callable[..., Any]:
    bound: Callable[..., Any] = getattr(Index, name)
    told = telling_slips(bound)

    def method(cls: type[Index], /, *arguments: Any, **options: Any) -> Index:
        index: Index = told(*arguments, **options)
        return index

    functools.update_wrapper(method, getattr(bound, "__func__", bound))
    signature = inspect.signature(bound)
    own = inspect.Parameter("cls", inspect.Parameter.POSITIONAL_ONLY)
    vars(method).pop("__wrapped__", None)
    method.__signature__ = signature.replace(parameters=[own, *signature.parameters.values()])  # type: ignore[attr-defined]
    return method
