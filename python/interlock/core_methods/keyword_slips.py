"""What is said of a keyword argument that a function does not have: the one that is probably meant."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

from interlock._core import Index
from interlock.util.near_words import meant

__all__ = ["attach", "telling_slips"]

_UNKNOWN = re.compile(r"unexpected keyword argument '([^']*)'$")
_NAMELESS = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def telling_slips(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, whose ``TypeError`` for an unknown keyword says which one is probably meant.

    >>> telling_slips(lambda *, whitespace: None)(whitespaces=1)
    Traceback (most recent call last):
      ...
    TypeError: <lambda>() got an unexpected keyword argument 'whitespaces'; did you mean 'whitespace'?
    """

    @functools.wraps(function)
    def told(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except TypeError as error:
            found = _UNKNOWN.search(str(error))
            # An error of what the function calls names a keyword that was not given here.
            if found is None or found[1] not in options:
                raise
            known = [one.name for one in inspect.signature(function).parameters.values() if one.kind not in _NAMELESS]
            if found[1] in known or not (way := meant(found[1], known)):
                raise
            raise TypeError(f"{error}{way}") from None

    return told


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
