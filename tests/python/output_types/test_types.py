"""mypy infers the type of what a generator returns from the type that was asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import interlock

pytest.importorskip("mypy", reason="mypy is not installed")

FILE = Path(__file__).with_name("typed_calls.py")
CONFIG = Path(__file__).parents[3] / "pyproject.toml"


def checked(path, folder):
    """What mypy says about a file, with the package that is tested here."""
    package = str(Path(interlock.__file__).parents[1])
    where = {} if package.endswith("site-packages") else {"MYPYPATH": package}
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(CONFIG), "--cache-dir", str(folder), path]
    ran = subprocess.run(list(map(str, command)), capture_output=True, text=True, env={**os.environ, **where})
    return ran.returncode, ran.stdout


def test_calls_have_the_types_that_were_asked_for(tmp_path):
    if not CONFIG.is_file():
        pytest.skip("the checkout is not here")
    assert checked(FILE, tmp_path / "cache") == (0, "Success: no issues found in 1 source file\n")
    wrong = tmp_path / "wrong.py"
    wrong.write_text(FILE.read_text().replace('gen("x", list[int]), list[int]', 'gen("x", list[int]), list[str]'))
    code, said = checked(wrong, tmp_path / "cache")
    assert code == 1 and "list[int]" in said
