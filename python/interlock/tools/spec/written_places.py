"""Errors of a structural tag name places of the form in which it was written."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from interlock._core import InterlockError
from interlock.tools.errors import with_place
from interlock.tools.spec import nodes

__all__ = ["as_written"]


@contextlib.contextmanager
def as_written(tag: nodes.StructuralTag) -> Iterator[None]:
    """Errors that name a place of ``tag`` name it as it was written: clients know no other."""
    try:
        yield
    except InterlockError as error:
        pointer = error.pointer
        if pointer is None or not pointer.startswith("/format") or tag.written == "whole":
            raise
        raise with_place(error, tag.place_as_written(pointer), tag.place_as_written) from error
