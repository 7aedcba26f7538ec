"""Flags inside of a pattern are read, and refused, in the words of Python's `re`."""

import itertools
import re
import warnings

import pytest

import interlock

PLACED = re.compile("missing [-:f]|unknown flag")
"""Messages that point at the character at fault, as those of `re` do. The others point at the group."""


def refused(pattern):
    try:
        interlock.check_regex(pattern)
    except interlock.PatternError as error:
        return str(error).partition(" (at offset ")[0], error.offset
    return None


def refused_by_python(pattern):
    try:
        re.compile(pattern)
    except re.error as error:
        return error.msg, error.pos
    return None


@pytest.mark.parametrize("first", "iauLs-:)z1")
def test_flags_are_read_as_python_reads_them(first):
    for count in range(4):
        for rest in itertools.product("iauL-:)z1", repeat=count):
            pattern = f"(?{first}{''.join(rest)}"
            for whole in (pattern, f"{pattern}a)"):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    theirs, ours = refused_by_python(whole), refused(whole)
                assert (ours and ours[0]) == (theirs and theirs[0]), whole
                assert theirs is None or not PLACED.match(theirs[0]) or ours == theirs, whole
