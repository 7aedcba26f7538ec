"""What was probably meant by a misspelt name: the known word that is most like it.

All messages that ask "did you mean ...?" look here, so that they agree in what they take for a slip.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import re
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

SLIP = 0.6
"""The likeness (that of ``difflib``, from 0 to 1) from which on one word is taken for a slip of another. Where a name
that nobody knows may be right, callers ask for more.
"""
_NAMELESS = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_UNKNOWN = re.compile(r"unexpected keyword argument '([^']*)'$")


def nearest(word: str, known: Iterable[str], likeness: float = SLIP) -> str:
    """The known word that is most like ``word``, whatever letters are capitals; empty if none is.

    >>> nearest("Lenght", ["length", "width"]), nearest("colour", ["length", "width"])
    ('length', '')

    Two neighbouring letters in the wrong order are a slip however short the word is.

    >>> nearest("tpye", ["type"], likeness=0.9)
    'type'
    """
    lower: dict[str, str] = {}
    for name in known:
        lower.setdefault(name.lower(), name)
    if word.lower() in lower:
        return lower[word.lower()]
    # The likeness of texts of n and m characters is at most 2 * min(n, m) / (n + m).
    if len(word) * likeness > max(map(len, lower), default=0) * (2 - likeness):
        return ""
    found = difflib.get_close_matches(word.lower(), lower, n=1, cutoff=likeness)
    if not found:
        found = [name for name in lower if _is_swapped(word.lower(), name)]
    return lower[found[0]] if found else ""


def _is_swapped(word: str, other: str) -> bool:
    """Whether two neighbouring letters of one word stand the other way round in the other, and all else is the same."""
    if len(word) != len(other) or len(word) < 3:
        return False
    at = next((i for i, (a, b) in enumerate(zip(word, other)) if a != b), len(word))
    return word[at : at + 2] == other[at : at + 2][::-1] and word[at + 2 :] == other[at + 2 :]


def meant(word: object, known: Iterable[str], likeness: float = SLIP) -> str:
    """The end of a message, with the known word that is probably meant; empty if none is.

    >>> meant("json_shema", ["text", "json_schema"]), meant("x", ["text"])
    ("; did you mean 'json_schema'?", '')
    """
    found = nearest(str(word), known, likeness)
    return f"; did you mean {found!r}?" if found else ""


def telling_slips(function: Callable[P, T]) -> Callable[P, T]:
    """``function``, whose ``TypeError`` for an unknown keyword says which one is probably meant.

    >>> telling_slips(lambda *, whitespace: None)(whitespaces=1)
    Traceback (most recent call last):
      ...
    TypeError: <lambda>() got an unexpected keyword argument 'whitespaces'; did you mean 'whitespace'?
    """

    @functools.wraps(function)
    def told(*arguments: P.args, **options: P.kwargs) -> T:
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
