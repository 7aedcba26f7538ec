"""A core that was built elsewhere, or before an edit: what `make dev-python` takes, and when a run of tests warns."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import core_sources
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


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A checkout with two files of Rust, and with what warns of an old core."""
    root = tmp_path / "sources"
    for name in ("tests/python/conftest.py", "tests/python/support/core_sources.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    (root / "src" / "regex").mkdir(parents=True)
    (root / "src" / "lib.rs").write_text("mod regex;\n", encoding="utf-8")
    (root / "src" / "regex" / "parser.rs").write_text("fn parse() {}\n", encoding="utf-8")
    (root / "Cargo.toml").write_text("[package]\n", encoding="utf-8")
    (root / "pytest.ini").write_text("[pytest]\npythonpath = tests/python/support\n", encoding="utf-8")
    return root


def built_of(root: Path) -> ModuleType:
    """A core that was built just now of the sources in ``root``."""
    core = ModuleType("_core")
    core.__file__ = str(root / "_core.abi3.so")
    Path(core.__file__).write_bytes(b"")
    core.__dict__["_sources"] = core_sources.checksum(root)
    newest = max(path.stat().st_mtime for path in core_sources.source_files(root))
    os.utime(core.__file__, (newest + 10, newest + 10))
    return core


def written(path: Path, text: str, later: int) -> None:
    """The file with another text, so many seconds after it was written."""
    before = path.stat().st_mtime if path.exists() else path.parent.stat().st_mtime
    path.write_text(text, encoding="utf-8")
    os.utime(path, (before + later, before + later))


def test_a_core_of_these_sources_is_not_spoken_of(sources):
    core = built_of(sources)
    assert core_sources.age_of(core, sources) is None
    # A file that was only touched, and the file of an editor.
    os.utime(sources / "src" / "lib.rs", (4e9, 4e9))
    (sources / "src" / ".lib.rs.swp").write_bytes(b"")
    assert core_sources.age_of(core, sources) is None
    shutil.rmtree(sources / "src")
    assert core_sources.age_of(core, sources) is None


@pytest.mark.parametrize("name", ["src/regex/parser.rs", "src/regex/new.rs", "Cargo.toml", "Cargo.lock"])
def test_an_edit_after_the_build_is_named(sources, name):
    core = built_of(sources)
    written(sources / name, "fn parse() { todo!() }\n", later=100)
    assert core_sources.age_of(core, sources) == f"the core is older than {name}: run make dev"


def test_all_edits_after_the_build_are_named_the_last_one_first(sources):
    core = built_of(sources)
    for later, name in enumerate(["src/lib.rs", "Cargo.toml"]):
        written(sources / name, "// Edited.\n", later=100 + later)
    assert core_sources.age_of(core, sources) == "the core is older than Cargo.toml and src/lib.rs: run make dev"
    for i in range(4):
        written(sources / "src" / f"new_{i}.rs", "\n", later=200 - i)
    first = "the core is older than src/new_0.rs, src/new_1.rs, src/new_2.rs, src/new_3.rs, Cargo.toml and "
    assert core_sources.age_of(core, sources) == first + "1 other file: run make dev"
    written(sources / "src" / "regex" / "parser.rs", "\n", later=50)
    assert core_sources.age_of(core, sources) == first + "2 other files: run make dev"


def test_a_core_of_another_commit_is_found_whatever_its_date(sources):
    """A copy of an old core is younger than the sources, and so is one behind an old commit."""
    other = "the core was built from other sources than those in src: run make dev"
    core = built_of(sources)
    written(sources / "src" / "regex" / "parser.rs", "fn parse() { todo!() }\n", later=0)
    assert core_sources.age_of(core, sources) == other
    core = built_of(sources)
    (sources / "src" / "lib.rs").rename(sources / "src" / "main.rs")
    assert core_sources.age_of(core, sources) == other
    del core.__dict__["_sources"]  # As built before there was a checksum.
    assert core_sources.age_of(core, sources) == other


def runs(root: Path, test: str, *options: str) -> list[str]:
    """What pytest prints for a test in ``root``, under the core of this process. Only the parser is younger than it."""
    for path in core_sources.source_files(root):
        os.utime(path, (0, 0))
    os.utime(root / "src" / "regex" / "parser.rs", (4e9, 4e9))
    (root / "tests" / "python" / "test_one.py").write_text(test, encoding="utf-8")
    path = os.pathsep.join([str(Path(CORE).parents[1]), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "tests/python"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path})
    return (done.stdout + done.stderr).splitlines()


def test_a_run_begins_and_if_it_failed_ends_with_the_line(sources):
    line = "the core is older than src/regex/parser.rs: run make dev"
    passed = runs(sources, "def test():\n    pass\n")
    assert passed[0] == line and passed.count(line) == 1 and "1 passed" in passed[-1]
    for test, end in [("def test():\n    assert 0\n", "1 failed"), ("from interlock._core import wish\n", "1 error")]:
        failed = runs(sources, test)
        assert failed[0] == line and line in failed[-3:] and end in failed[-1], failed


def test_a_package_that_cannot_be_imported_names_the_core(sources):
    package = sources / "tests" / "python" / "support" / "interlock"
    package.mkdir()
    (package / "__init__.py").write_text("from interlock._core import wish\n", encoding="utf-8")
    said = "\n".join(runs(sources, "def test():\n    pass\n"))
    assert "the core cannot be loaded (No module named 'interlock._core'): run make dev" in said
    shutil.copy(CORE, package)
    said = "\n".join(runs(sources, "def test():\n    pass\n"))
    assert "cannot import name 'wish'" in said and "run make dev" in said and "Traceback" not in said


def test_the_build_makes_the_same_checksum(sources, tmp_path):
    rustc = shutil.which("rustc")
    if rustc is None:
        pytest.skip("there is no compiler of Rust")
    (sources / "src" / ".lib.rs.swp").write_bytes(b"an editor's")
    (sources / "src" / "data.json").write_bytes(bytes(range(256)) * 300)
    script = tmp_path / "build-script"
    subprocess.run([rustc, "--edition", "2024", str(ROOT / "build.rs"), "-o", str(script)], check=True)
    said = subprocess.run([script], cwd=sources, capture_output=True, text=True, check=True).stdout
    assert f"cargo::rustc-env=INTERLOCK_SOURCES={core_sources.checksum(sources)}\n" in said
    assert "cargo::rerun-if-changed=src\n" in said and "cargo::rerun-if-changed=Cargo.toml\n" in said
