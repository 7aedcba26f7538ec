"""The names of types, as their users write them."""

from __future__ import annotations

import types
from typing import Annotated, Any, get_args, get_origin

__all__ = ["name_of"]


def name_of(hint: Any) -> str:
    """``User``, ``list[int]``, ``int | None``.

    >>> name_of(dict[str, int]), name_of(int)
    ('dict[str, int]', 'int')
    """
    if get_origin(hint) is Annotated:
        return name_of(get_args(hint)[0])
    if get_origin(hint) is not None or isinstance(hint, types.UnionType):
        return str(hint).replace("typing.", "").replace("__main__.", "")
    if hint is None or hint is type(None):
        return "None"
    return str(getattr(hint, "__name__", None) or hint)
