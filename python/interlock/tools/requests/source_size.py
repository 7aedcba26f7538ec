"""Structural tags and tools that are longer than a source may be, once they are written as a grammar.

The bound is one of the grammar's text, which no client has written. So the message speaks of what the client sent.
"""

from __future__ import annotations

from interlock._core import InterlockError, LimitError
from interlock.util.client_messages import with_hint

__all__ = ["is_of_whole_grammar", "too_long"]


def is_of_whole_grammar(error: InterlockError, text: str) -> bool:
    """Whether ``error`` says that the grammar ``text`` is longer than ``max_source_bytes``."""
    is_of_length = isinstance(error, LimitError) and error.field == "max_source_bytes" and error.offset is None
    return is_of_length and error.value == len(text.encode())


def too_long(error: InterlockError, what: str, pointer: str, advice: str = "make it shorter") -> LimitError:
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
        f"{at}bytes of {what}, written as a grammar, exceeds its limit: {error.value} > {error.limit}; {advice}"
    )
    moved.pointer, moved.limit, moved.value, moved.field = pointer, error.limit, error.value, error.field
    moved.place = f'at "{pointer}"' if pointer else "at the root"
    return with_hint(moved, error.hint or "")
