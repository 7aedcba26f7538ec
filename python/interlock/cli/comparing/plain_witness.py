"""Everyday characters in the place of odd ones, in a text that only one of two sources accepts."""

from __future__ import annotations

import re
from collections.abc import Callable

LETTERS = ("a", "b", "0", "1", " ", "A", "-", ".", "é")
"""What is put in the place of a character that no line can show, in this order."""
MOST = 100
"""Odd characters of a text that are replaced one by one."""
_UNIT = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL)
_LONGEST = 10_000


def plainly_spelled(witness: bytes, is_witness: Callable[[bytes], bool]) -> bytes:
    """A witness with everyday characters in the place of those that no line can show, where that one is a witness, too:
    ``is_witness`` says so of each text that is tried.

    >>> plainly_spelled(b"\\0-\\0", lambda text: len(text) == 3 and text[1:2] == b"-")
    b'a-a'
    """
    try:
        units = _UNIT.findall(witness.decode("utf-8"))
    except UnicodeDecodeError:
        return witness
    odd = [i for i, unit in enumerate(units) if unit.startswith("\\u") or not unit.isprintable()]
    if not odd or len(units) > _LONGEST:
        return witness
    for letter in LETTERS:
        places = set(odd)
        text = "".join(letter if i in places else unit for i, unit in enumerate(units)).encode()
        if is_witness(text):
            return text
    for place in odd[:MOST]:
        for letter in LETTERS:
            text = "".join([*units[:place], letter, *units[place + 1 :]]).encode()
            if is_witness(text):
                units[place] = letter
                break
    return "".join(units).encode()
