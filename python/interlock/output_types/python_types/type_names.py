"""The names of types, as their users write them."""

from __future__ import annotations

import datetime
import types
import typing
from typing import Annotated, Any, get_args, get_origin

__all__ = ["WITHOUT_JSON", "name_of"]

WITHOUT_JSON: dict[Any, str] = {
    typing.LiteralString: "take str: a model's text is no literal of the program",
    typing.Never: "no value is of it: leave it out",
    typing.NoReturn: "no value is of it: leave it out",
    bytearray: "take bytes with pydantic, or str",
    complex: "JSON has no complex numbers: take a NamedTuple of two floats",
    datetime.timezone: "take str, or an int of minutes",
    memoryview: "take str",
    range: "take tuple[int, int]",
    slice: "take tuple[int, int]",
    type: "take str, or a Literal of the names of the types",
}
"""What to take in the place of types of Python that are not written as JSON."""


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
