"""The bytes of a request's body, read in bounded time and memory."""

from __future__ import annotations

import gc
import json
from typing import Any

from interlock.tools.errors import RequestError
from interlock.util.argument_types import require

__all__ = ["parse_body"]


def parse_body(raw: bytes | bytearray, *, max_bytes: int = 1 << 20, max_values: int = 100_000) -> Any:
    """The JSON of a request's body, for an event loop: it takes some 15 ms at most, and what it returns some 10 MB.

    ``json.loads`` by itself takes a second for a megabyte of empty lists, because Python's collector of garbage comes
    again and again while they are made, and 30 MB; a thread does not help, since it holds Python's lock. Here the
    collector waits. More than ``max_bytes`` are refused (``interlock.refusal``: 413), and so are more than
    ``max_values`` brackets, braces and commas, those in texts among them (400): a schema of half a megabyte has some
    40,000. Raises ``RequestError`` then, and of bytes that are no JSON what ``json.loads`` raises; there is an
    ``interlock.refusal`` for each. A number beyond the largest double, as ``1e999``, is an infinity, as ``json.loads``
    has it: in a schema the compile refuses it at its place, and in a field of yours look at it with ``math.isfinite``.

    >>> parse_body(b'{"guided_choice": ["yes", "no"]}')
    {'guided_choice': ['yes', 'no']}
    >>> try:
    ...     parse_body(b"[" + b"[]," * 60_000 + b"0]")
    ... except ValueError as error:
    ...     print(error)
    the body has 120,001 brackets and commas, and 100,000 are the most
    """
    require(max_bytes=(max_bytes, "count"), max_values=(max_values, "count"))
    if not isinstance(raw, bytes | bytearray):
        raise TypeError(f"raw must be bytes, not {type(raw).__name__}")
    if len(raw) > max_bytes:
        raise RequestError(f"the body has {len(raw):,} bytes, and {max_bytes:,} are the most", code="body_too_long")
    values = sum(raw.count(mark) for mark in (b"[", b"{", b","))
    if values > max_values:
        raise RequestError(f"the body has {values:,} brackets and commas, and {max_values:,} are the most")
    text = raw.decode()
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return json.loads(text)
    finally:
        if was_enabled:
            gc.enable()
