"""The examples of the README run, in order, and print what it says; the package's docstrings too."""

import contextlib
import doctest
import io
import re
from pathlib import Path

import interlock
import interlock.masks

README = Path(__file__).parents[2] / "README.md"


def blocks():
    """Pairs of code and expected output."""
    pattern = r"```python\n(.*?)```(?:\s*```output\n(.*?)```)?"
    return re.findall(pattern, README.read_text(encoding="utf-8"), re.DOTALL)


def test_readme():
    examples = blocks()
    assert len(examples) >= 5
    names = {}
    for code, expected in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "<README example>", "exec"), names)
        assert printed.getvalue() == expected, code


def test_docstrings():
    for module in (interlock, interlock.masks):
        assert doctest.testmod(module).failed == 0
