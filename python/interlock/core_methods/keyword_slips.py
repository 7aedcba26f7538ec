"""Methods of ``Index`` and ``Vocabulary`` that tell of slips in the names of their keyword arguments."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from interlock._core import Index, Vocabulary
from interlock.util.near_words import telling_slips

__all__ = ["attach"]


def attach() -> None:
    """Let the methods of ``Index`` and ``Vocabulary`` that people call with keywords tell of slips. It comes last: it
    wraps what others have put there.
    """
    for name in ("from_regex", "from_choices", "from_grammar", "from_json_schema", "from_structural_tag", "from_tools"):
        setattr(Index, name, classmethod(_of_class(Index, name)))
    for name in ("from_tokenizer", "from_file"):
        setattr(Vocabulary, name, classmethod(_of_class(Vocabulary, name)))
    setattr(Index, "guide", telling_slips(Index.guide))  # noqa: B010


def _of_class(owner: type, name: str) -> Callable[..., Any]:
    bound: Callable[..., Any] = getattr(owner, name)
    told = telling_slips(bound)

    def method(cls: type, /, *arguments: Any, **options: Any) -> Any:
        return told(*arguments, **options)

    functools.update_wrapper(method, getattr(bound, "__func__", bound))
    signature = inspect.signature(bound)
    own = inspect.Parameter("cls", inspect.Parameter.POSITIONAL_ONLY)
    vars(method).pop("__wrapped__", None)
    method.__signature__ = signature.replace(parameters=[own, *signature.parameters.values()])  # type: ignore[attr-defined]
    return method
