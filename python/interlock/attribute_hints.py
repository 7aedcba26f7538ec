"""What is said of a method that an object does not have."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

__all__ = ["no_attribute"]


def no_attribute(owner: object, name: str, others: Mapping[str, str] = {}) -> AttributeError:
    """The ``AttributeError`` for ``owner.name``, for ``__getattr__``: with the name that is probably meant, or with
    what ``others`` say of names from elsewhere.

    >>> no_attribute([], "apend")
    AttributeError("list has no attribute 'apend'; did you mean 'append'?")
    """
    # Python asks for many names with underscores itself.
    way = ""
    if not name.startswith("_"):
        near = difflib.get_close_matches(name, [known for known in dir(type(owner)) if not known.startswith("_")], n=1)
        way = f": {others[name]}" if name in others else f"; did you mean {near[0]!r}?" if near else ""
    return AttributeError(f"{type(owner).__name__} has no attribute {name!r}{way}", name=name, obj=owner)
