"""Patterns of dates and times in output types: they match what Python reads, and nothing else."""

from __future__ import annotations

import datetime
import re

from interlock.output_types.python_types import type_patterns


def test_formats_are_what_python_reads():
    day = re.compile(type_patterns.DATE)
    for year in (1, 4, 100, 400, 1900, 2000, 2023, 2024, 9999):
        for month in range(14):
            for number in range(33):
                text = f"{year:04}-{month:02}-{number:02}"
                try:
                    expected = datetime.date.fromisoformat(text) is not None
                except ValueError:
                    expected = False
                assert (day.fullmatch(text) is not None) is expected, text
    assert not day.fullmatch("0000-01-01")
    clock = re.compile(type_patterns.TIME)
    for text in ("00:00", "23:59:59", "12:30:00.5", "12:30Z", "12:30:00+05:30", "09:00:00.123456-23:59"):
        assert clock.fullmatch(text) and datetime.time.fromisoformat(text.replace("00.5", "00.500000"))
    for text in ("24:00", "12:60", "12:30:60", "12:30:00.1234567", "1:30", "12:30+24:00"):
        assert not clock.fullmatch(text)
