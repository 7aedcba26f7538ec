"""Structural tags and tools that are longer than a source may be, once they are written as a grammar.

The bound is one of the grammar's text, which no client has written. So the message speaks of what the client sent.
"""

from __future__ import annotations

from collections.abc import Mapping

from interlock._core import InterlockError, LimitError, Limits, _restore_limits
from interlock.util.client_messages import with_hint

__all__ = ["is_of_whole_grammar", "most_bytes", "too_long", "too_long_already"]


def is_of_whole_grammar(error: InterlockError, text: str) -> bool:
    """Whether ``error`` says that the grammar ``text`` is longer than ``max_source_bytes``."""
    is_of_length = isinstance(error, LimitError) and error.field == "max_source_bytes" and error.offset is None
    return is_of_length and error.value == len(text.encode())


def most_bytes(limits: Limits | Mapping[str, int] | None) -> int:
    """``max_source_bytes`` of some limits.

    >>> most_bytes({"max_source_bytes": 5}), most_bytes(None)
    (5, 16777216)
    """
    if isinstance(limits, Mapping):
        limits = _restore_limits(dict(limits))
    # What is no limits is refused where the grammar is compiled.
    return (limits if isinstance(limits, Limits) else Limits()).max_source_bytes


def too_long_already(written: int, most: int) -> LimitError:
    """The error of a structural tag whose grammar is not whole yet, and longer than it may be."""
    error = LimitError("a grammar is too long")
    error.limit, error.value, error.field = most, written, "max_source_bytes"
    return too_long(with_hint(error, "Limits.max_source_bytes sets it"), "the structural tag", "")


def too_long(error: InterlockError, what: str, pointer: str, remedy: str = "make it shorter") -> LimitError:
    """The same error about ``what``, which stands at ``pointer`` and is compiled as that grammar.

    >>> from interlock import check_grammar
    >>> try:
    ...     check_grammar('start: "a"', limits={"max_source_bytes": 5})
    ... except LimitError as error:
    ...     print(too_long(error, "the structural tag", "/response_format").client_message)
    at /response_format: bytes of the structural tag, written as a grammar, exceeds its limit: 10 > 5; make it shorter
    """
    at = f"at {pointer}: " if pointer else ""
    moved = LimitError(
        f"{at}bytes of {what}, written as a grammar, exceeds its limit: {error.value} > {error.limit}; {remedy}"
    )
    moved.pointer, moved.limit, moved.value, moved.field = pointer, error.limit, error.value, error.field
    moved.place = f'at "{pointer}"' if pointer else "at the root"
    return with_hint(moved, error.hint or "")
