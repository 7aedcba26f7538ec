"""`make dev-python`: a core that was built elsewhere is taken if it is the one that the checkout expects."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from interlock import _core

ROOT = Path(__file__).parents[3]
TOOL = ROOT / "tests" / "tools" / "place_core.py"
CORE = Path(_core.__file__)
if not (ROOT / "Cargo.toml").is_file():
    pytest.skip("this is no checkout", allow_module_level=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The Python part of this checkout, without a core."""
    leave_out = shutil.ignore_patterns("_core.*.so", "_core.*.pyd", "__pycache__")
    shutil.copytree(ROOT / "python", tmp_path / "checkout" / "python", ignore=leave_out)
    shutil.copy(ROOT / "Cargo.toml", tmp_path / "checkout")
    return tmp_path / "checkout"


def place(checkout: Path, *source: Path) -> str:
    """What the tool says; empty if it placed the core."""
    command = [sys.executable, "-I", str(TOOL), "--checkout", str(checkout), *map(str, source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode != 0) == bool(done.stderr), done
    return done.stderr


def placed(checkout: Path) -> Path:
    return checkout / "python" / "interlock" / "_core.abi3.so"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_a_library_and_then_none(checkout):
    assert "no core is in this checkout yet" in place(checkout)
    assert place(checkout, CORE) == ""
    assert placed(checkout).read_bytes() == CORE.read_bytes()
    assert place(checkout) == ""


def test_a_wheel(checkout, tmp_path):
    wheel = tmp_path / "interlock.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.write(CORE, "interlock/_core.abi3.so")
    assert place(checkout, wheel) == ""
    assert placed(checkout).read_bytes() == CORE.read_bytes()


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "is no file"), (b"text", "is neither a wheel nor a compiled module"), ("other.py", "holds no interlock")],
)
def test_what_is_no_core(checkout, tmp_path, content, message):
    source = tmp_path / "source.whl"
    if isinstance(content, bytes):
        source.write_bytes(content)
    elif content is not None:
        with zipfile.ZipFile(source, "w") as file:
            file.writestr(content, "")
    assert message in place(checkout, source)


def test_a_library_of_another_platform(checkout, tmp_path):
    source = tmp_path / "_core.abi3.so"
    source.write_bytes(b"no library of this platform")
    assert "cannot load" in place(checkout, source)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("Cargo.toml", f'version = "{_core.__version__}"', 'version = "9.8.7"', "the checkout has 9.8.7"),
        ("python/interlock/_core.pyi", "def check_choices(", "def check_wishes(", "it has no check_wishes"),
        ("python/interlock/_core.pyi", "def is_accepting(", "def accepts(", "it has no Guide.accepts"),
        ("python/interlock/_core.pyi", "def set_num_threads(", "def set_num_threads(wish: int, ", "parameter wish"),
        ("python/interlock/__init__.py", "    check_choices,\n", "    check_wishes,\n", "cannot import name"),
    ],
)
def test_a_core_that_does_not_match(checkout, file, old, new, message):
    edit(checkout / file, old, new)
    said = place(checkout, CORE)
    assert message in said and "build the core: make dev" in said
    assert not placed(checkout).exists()
