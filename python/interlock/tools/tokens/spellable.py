"""Characters that a vocabulary can spell wherever they stand: those whose bytes all are tokens.

Some vocabularies have no token for a few control characters, or for the first byte of rare characters. Free text of a
structural tag leaves these characters out, because a model could begin such a character and never end it.
"""

from __future__ import annotations

from interlock._core import Vocabulary

__all__ = ["spellable"]

_CONTINUATION = range(0x80, 0xC0)
_KEPT = 64
# By fingerprint.
_known: dict[str, str] = {}


def spellable(vocabulary: Vocabulary) -> str:
    """A terminal of all texts of such characters; ``""`` where every character is one. Looks at each token of a
    vocabulary once, some milliseconds for 50,000.

    >>> spellable(Vocabulary([bytes([b]) for b in range(256) if b != 4] + [b""], eos_token_ids=[255]))
    '/[^\\\\x{4}]*/s'
    """
    found = _known.get(vocabulary.fingerprint)
    if found is None:
        if len(_known) >= _KEPT:
            _known.clear()
        found = _known[vocabulary.fingerprint] = _of(_single_bytes(vocabulary))
    return found


def _single_bytes(vocabulary: Vocabulary) -> frozenset[int]:
    special = {*vocabulary.special_token_ids, *vocabulary.eos_token_ids}
    spelled = (vocabulary.token_bytes(i) for i in range(len(vocabulary)) if i not in special)
    return frozenset(token[0] for token in spelled if len(token) == 1)


def _of(bytes_known: frozenset[int]) -> str:
    ranges = [(byte, byte) for byte in range(0x80) if byte not in bytes_known]
    if any(byte not in bytes_known for byte in _CONTINUATION):
        ranges.append((0x80, 0x10FFFF))
    else:
        ranges += [_led_by(byte) for byte in range(0xC2, 0xF5) if byte not in bytes_known]
    return f"/[^{''.join(map(_range, ranges))}]*/s" if ranges else ""


def _led_by(byte: int) -> tuple[int, int]:
    """The first and the last character whose UTF-8 begins with ``byte``."""
    if byte < 0xE0:
        first = (byte - 0xC0) << 6
        return first, first + 0x3F
    if byte < 0xF0:
        first = (byte - 0xE0) << 12
        return max(first, 0x800), 0xD7FF if byte == 0xED else first + 0xFFF
    first = (byte - 0xF0) << 18
    return max(first, 0x10000), min(first + 0x3FFFF, 0x10FFFF)


def _range(ends: tuple[int, int]) -> str:
    first, last = ends
    return f"\\x{{{first:x}}}" if first == last else f"\\x{{{first:x}}}-\\x{{{last:x}}}"
