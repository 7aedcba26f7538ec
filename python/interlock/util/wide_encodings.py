"""Texts in UTF-16 or UTF-32, which some editors and shells write: nothing here reads them, and errors name them."""

from __future__ import annotations

MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
"""Byte order marks, the longer ones first."""
LOOKED_AT = 64
"""Bytes of a text without a mark that say what it is."""


def wide_encoding(data: bytes) -> str:
    """``UTF-16`` or ``UTF-32`` where a text begins with the mark of one, ``UTF-16LE`` or ``UTF-16BE`` where it has no
    mark and every second byte of its beginning is zero; otherwise empty.
    """
    for mark, name in MARKS:
        if data.startswith(mark):
            return name
    head = data[: min(len(data), LOOKED_AT) & ~1]
    even, odd = head[::2], head[1::2]
    if len(head) < 4:
        return ""
    if not any(odd) and all(even):
        return "UTF-16LE"
    return "UTF-16BE" if not any(even) and all(odd) else ""
