"""A witness made shorter: members, elements and characters are left out while it stays a witness."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["shortened"]

MOST_TRIES = 1500
"""Texts that are tried."""
LONGEST = 20_000
"""Bytes of a text that is made shorter."""
FEW = 12
"""Characters of a run that is left out wherever it stands: a statement of a few characters, say."""
SIMPLE: tuple[Any, ...] = (0, "", None, True, False, [], {}, 1)
"""What is put in the place of a value."""


def shortened(witness: bytes, is_witness: Callable[[bytes], bool]) -> bytes:
    """A text that is no longer than the witness, and is one as well: ``is_witness`` says so of each that is tried. Each
    try is a walk through both sides; there are at most ``MOST_TRIES``.

    >>> shortened(b'{"a": "long", "b": [1, 2]}', lambda text: b'"a":' in text)
    b'{"a":0}'
    >>> shortened(b'{"abc": 0}', lambda text: b'b":' in text)
    b'{"b":0}'
    >>> shortened(b"xxbxx", lambda text: b"b" in text)
    b'b'
    """
    if len(witness) > LONGEST:
        return witness
    left = MOST_TRIES

    def stays(text: bytes) -> bool:
        nonlocal left
        left -= 1
        return left >= 0 and is_witness(text)

    try:
        value = json.loads(witness)
    except (ValueError, RecursionError):
        return _shorter_text(witness, stays)
    best = witness
    while left > 0:
        for candidate in _simpler(value):
            shorter = next((t for t in _written(candidate) if len(t) < len(best) and stays(t)), None)
            if shorter is not None:
                value, best = candidate, shorter
                break
        else:
            return best
    return best


def _written(value: Any) -> Iterator[bytes]:
    """As JSON, without blanks and with one behind each mark."""
    for separators in ((",", ":"), (", ", ": ")):
        yield json.dumps(value, ensure_ascii=False, separators=separators).encode("utf-8", "replace")


def _simpler(value: Any) -> Iterator[Any]:
    """The value with one part simpler or left out; what leaves out most comes first."""
    yield value
    if isinstance(value, dict | list):
        yield type(value)()
        yield from list(value.values() if isinstance(value, dict) else value)[:40]
    if isinstance(value, dict):
        yield from ({k: v for k, v in value.items() if k != key} for key in value)
        for key, part in value.items():
            yield from (value | {key: simple} for simple in SIMPLE if part != simple or type(part) is not type(simple))
            yield from (value | {key: simpler} for simpler in _simpler(part))
            yield from ({shorter if k == key else k: v for k, v in value.items()} for shorter in _without_runs(key))
        return
    if isinstance(value, list):
        size = len(value) // 2
        while size:
            yield from ([*value[:at], *value[at + size :]] for at in range(0, len(value), size))
            size //= 2
        for at, part in enumerate(value[:40]):
            yield from ([*value[:at], simple, *value[at + 1 :]] for simple in SIMPLE)
            yield from ([*value[:at], simpler, *value[at + 1 :]] for simpler in _simpler(part))
    if isinstance(value, str):
        yield from _without_runs(value)
    if isinstance(value, float | int) and not isinstance(value, bool):
        yield from (0, 1)
        if abs(value) < 10**15:
            yield from (int(value), value // 10)


def _without_runs(text: str) -> Iterator[str]:
    """The text without a run of its characters, long ones first."""
    size = len(text)
    while size:
        yield from (text[:at] + text[at + size :] for at in range(0, len(text), size))
        size //= 2


def _shorter_text(witness: bytes, stays: Callable[[bytes], bool]) -> bytes:
    """A text with as few of its characters as tries find: runs of them are left out, long ones first."""
    try:
        text = witness.decode("utf-8")
    except UnicodeDecodeError:
        return witness
    size = len(text)
    while size:
        at = 0
        while at < len(text):
            if stays((shorter := text[:at] + text[at + size :]).encode()):
                text = shorter
            else:
                at += size if size > FEW else 1
        size = size // 2 if size > 2 * FEW else size - 1
    return text.encode()
