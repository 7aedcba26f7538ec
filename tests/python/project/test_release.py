"""What a release needs: workflows that hold together, metadata, and licences of everything that a wheel contains."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import interlock

ROOT = Path(__file__).parents[3]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
if not (ROOT / "Cargo.lock").is_file():
    pytest.skip("this is no checkout", allow_module_level=True)


def loaded(path: Path) -> dict:
    text = path.read_text(encoding="utf-8")
    # YAML 1.1 reads the key "on" as true.
    return yaml.safe_load(re.sub(r"^on:", '"on":', text, flags=re.MULTILINE))


def steps(workflow: dict):
    for name, job in workflow["jobs"].items():
        for step in job["steps"]:
            yield name, step


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow(path):
    workflow = loaded(path)
    assert workflow["permissions"] == {"contents": "read"}, "more is given to single jobs alone"
    for name, job in workflow["jobs"].items():
        assert job["timeout-minutes"] <= 90, name
        needed = job.get("needs", [])
        assert set([needed] if isinstance(needed, str) else needed) <= set(workflow["jobs"]), name
        used = set(re.findall(r"\$\{\{ matrix\.(\w+)", str(job)))
        matrix = job.get("strategy", {}).get("matrix", {})
        rows = [set(row) for row in matrix.get("include", [])]
        given = set(matrix) - {"include"} | (set.union(*rows) if rows else set())
        assert used <= given, (name, used - given)
    for name, step in steps(workflow):
        assert ("uses" in step) != ("run" in step), (name, step)
        if "uses" in step:
            assert re.fullmatch(r"[\w.-]+/[\w.-]+@[\w./-]+", step["uses"]), step["uses"]
        for script in re.findall(r"\b(?:python|bash) ([\w./]+\.py|\.ci/\w+)", step.get("run", "")):
            assert (ROOT / script).is_file(), script
        for target in re.findall(r"\bmake ([\w-]+)", step.get("run", "")):
            assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE), target


def rule(target: str) -> str:
    """What the Makefile needs for a target, and runs for it."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = re.search(rf"^{target}:.*\n(?:\t.*\n)*", text, re.MULTILINE)
    assert found is not None, target
    return found[0]


@pytest.mark.parametrize("target", ["check", "lint", "test"])
def test_every_loop_looks_at_formats_and_style(target):
    """A line that is too long once passed `make test`, and was found on the main branch."""
    head, *commands = rule(target).splitlines()
    needed = head.split(":")[1].split("##")[0].split()
    assert "style" in needed or any(line.endswith(" style") for line in commands), target
    for program in ("ruff format --check .", "ruff check .", "cargo fmt --check"):
        assert program in rule("style-python") + rule("style"), program


def made_by(target: str, *more: str) -> str:
    """What ``make`` would run for a target."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    return subprocess.run(
        ["make", "-n", "-o", ".venv/.ready", target, *more], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


def test_python_is_worked_on_without_rust():
    checks = made_by("check-python")
    for program in (
        "ruff format --check .",
        "ruff check .",
        "-m mypy",
        '-m "not slow"',
        "tests/python/project/test_layering.py",
    ):
        assert program in checks, program
    for commands in (checks, made_by("dev-python")):
        assert "cargo " not in commands and "rustc " not in commands
    assert re.search(r"^check-python:.* ## ", rule("check-python")), "make help lists it"


def refused_by_make(*arguments):
    """What make says, and stops at, before it does anything of a target."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    done = subprocess.run(["make", *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2, done
    return done.stderr


def test_a_name_that_no_rust_test_has_is_refused(tmp_path):
    """Cargo runs no test then, and is content."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    for name, lists, code, said in (
        ("works", "a::xyz: test\na::b: test", 0, ""),
        ("none", "0 tests, 0 benchmarks", 2, "no test of src has 'xyz' in its name"),
        ("one", "a::xyz: test", 2, "no test of src has 'a::b' in its name"),
    ):
        cargo = tmp_path / name / "cargo"
        cargo.parent.mkdir()
        cargo.write_text(f'#!/bin/sh\ncase "$*" in *--list*) echo "{lists}";; esac\n')
        cargo.chmod(0o755)
        path = f"{cargo.parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["make", "test-one", "NAME=xyz" if name != "one" else "NAME=xyz a::b"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": path},
        )
        assert done.returncode == code and said in done.stderr, done


def test_paths_of_tests_that_are_not_there_are_refused(tmp_path):
    """Workers of pytest once collected nothing for such a path, and said so in no words."""
    ready = tmp_path / "venv"
    ready.mkdir()
    (ready / ".ready").touch()
    for given in ("missing", "tests/python/project missing", "tests/python/missing.py::test_a -k tests"):
        for target in ("check", "check-python"):
            said = refused_by_make(
                "-o", f"{ready}/.ready", "-o", "style-python", f"VENV={ready}", target, f"TESTS={given}"
            )
            assert "TESTS: no file or folder is named" in said and "missing" in said
    # Options and their words are no paths.
    words = ["TESTS=tests/python/project -k 'a or b' -x -m slow"]
    words = ["-o", f"{ready}/.ready", "-o", "style-python", f"VENV={ready}", "check-python", *words]
    assert "TESTS: " not in refused_by_make(*words)
    assert "TESTS: " not in refused_by_make(*words[:-1], "TESTS=tests/python/project -n 0 --maxfail 1 -k x")
    assert "TESTS: name a file or folder first" in refused_by_make(*words[:-1], "TESTS=-k a")


@pytest.mark.parametrize("target", ["check", "check-python"])
def test_a_selection_of_tests_leaves_the_order_of_folders_in(target):
    layers = "-m pytest -q tests/python/project/test_layering.py"
    path = "tests/python/guides/test_guide.py"
    made = made_by(target, f'TESTS={path} -k "a or b"')
    assert f'-m "not slow" {path} -k "a or b" && ' in made and layers in made
    made = made_by(target, f"TESTS={path}")
    assert f'-m "not slow" {path}  tests/python/project/test_layering.py' in made and layers not in made


def test_style_installs_the_linter_alone(tmp_path):
    def installed(venv):
        made = made_by("style", f"VENV={venv}")
        return [line.split("version-check ")[1] for line in made.splitlines() if "pip install" in line]

    assert [words.count(" ") for words in installed(tmp_path / "none")] == [0]
    (tmp_path / ".ready").touch()
    assert installed(tmp_path) == []


def test_what_is_not_installed_is_uninstalled_without_a_warning():
    for target in ("dev", "dev-python"):
        (line,) = [line for line in made_by(target).splitlines() if "pip uninstall" in line]
        assert line.count("--quiet") == 2


def test_nothing_is_installed_in_an_environment_of_others(tmp_path):
    (tmp_path / "pyvenv.cfg").touch()
    for target in ("check", "style", "dev-python", f"{tmp_path}/.ready"):
        assert f"make did not make {tmp_path}" in refused_by_make(f"VENV={tmp_path}", target)
    assert [path.name for path in tmp_path.iterdir()] == ["pyvenv.cfg"]


def test_format_writes_what_style_checks():
    written = rule("format").replace("ruff format .", "ruff format --check .").replace("cargo fmt", "cargo fmt --check")
    style = [line for line in (rule("style-python") + rule("style")).splitlines() if " --check" in line]
    assert [line for line in written.splitlines() if " --check" in line] == style
    assert " ## " in rule("format").splitlines()[0], "make help lists it"


def test_everything_is_built_where_cargo_builds(monkeypatch, tmp_path):
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path))
    assert f'"{tmp_path}/layering" --quiet' in made_by("check") and "target/layering" not in made_by("check")
    assert f"cp {tmp_path}/fast-build/" in made_by("dev")


@pytest.mark.parametrize("target", ["dev", "dev-python"])
def test_a_checkout_has_the_command(target):
    assert '-m interlock "$@"' in made_by(target) and "> .venv/bin/interlock" in made_by(target)


def test_one_release_of_ruff():
    """Other releases format in other ways: what is installed for the tests is what the settings ask for."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        wanted = tomllib.load(file)["tool"]["ruff"]["required-version"]
    assert re.fullmatch(r"==\d+\.\d+\.\d+", wanted), wanted
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.findall(r'"(ruff.*?|\$\(RUFF\))"', makefile) == ["$(RUFF)"] * 2
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    made = subprocess.run(["make", "-n", "-B", ".venv/.ready"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert f'"ruff{wanted}"' in made.stdout


def test_a_release_has_every_wheel():
    jobs = loaded(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    matrix = jobs["linux"]["strategy"]["matrix"]
    wheels = [f"{policy} {target}" for policy in matrix["policy"] for target in matrix["target"]]
    wheels += [row["target"] for row in jobs["other-systems"]["strategy"]["matrix"]["include"]]
    for policy in ("manylinux_2_17", "manylinux_2_28", "musllinux_1_2"):
        assert {f"{policy} x86_64", f"{policy} aarch64"} <= set(wheels)
    assert {"x86_64-apple-darwin", "aarch64-apple-darwin", "x86_64-pc-windows-msvc"} <= set(wheels)
    counted = next(step["run"] for step in jobs["attest"]["steps"] if "wc -l" in step.get("run", ""))
    assert f'ls dist/*.whl | wc -l)" = {len(wheels)}' in counted


def test_only_publishing_has_an_identity():
    workflow = loaded(ROOT / ".github" / "workflows" / "release.yml")
    trusted = {name for name, job in workflow["jobs"].items() if job.get("permissions", {}).get("id-token")}
    assert trusted == {"attest", "publish-python", "publish-crate"}
    for name in ("publish-python", "publish-crate"):
        job = workflow["jobs"][name]
        assert job["if"] == "github.ref_type == 'tag'" and job["environment"] and "attest" in job["needs"]
    text = "".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    assert "secrets." not in text, "nothing is stored"


def test_actionlint():
    if shutil.which("actionlint") is None:
        pytest.skip("actionlint is not installed")
    done = subprocess.run(["actionlint", *map(str, WORKFLOWS)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_metadata():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    crate = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["package"]
    assert crate["version"] == interlock.__version__ and project["dynamic"] == ["version"]
    assert project["description"] == crate["description"] and project["license"] == crate["license"]
    assert [author["name"] for author in project["authors"]] == crate["authors"]
    assert all((ROOT / name).is_file() for name in project["license-files"])
    assert project["dependencies"] == ["numpy>=1.24"]
    oldest = project["requires-python"].removeprefix(">=")
    assert f"Programming Language :: Python :: {oldest}" in project["classifiers"]
    assert f'"abi3-py{oldest.replace(".", "")}"' in (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    assert list(project["classifiers"]) == sorted(project["classifiers"], key=lambda name: name.replace(" :: ", "\0"))
    # An address is either the project's own in all three places, or in none.
    addresses = set(project.get("urls", {}).values()) | {crate.get("repository"), crate.get("homepage")} - {None}
    assert not [address for address in addresses if "example" in address]


def test_licences_of_the_crates():
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    sys.path.insert(0, str(ROOT / "tests" / "tools"))
    try:
        import third_party_licenses as tool
    finally:
        sys.path.pop(0)
    try:
        found = tool.metadata("--offline")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"not all crates are downloaded: {error.stderr.splitlines()[-1]}")
    packages = tool.linked(found)
    names = {package["name"] for package in packages}
    assert {"pyo3", "numpy", "mimalloc", "libmimalloc-sys", "regex-syntax", "blake3"} <= names
    assert not names & {"pyo3-macros", "syn", "cc", "interlock"}
    assert tool.page(packages) == tool.FILE.read_text(encoding="utf-8"), (
        "run python tests/tools/third_party_licenses.py"
    )
    strange = {**packages[0], "license": "GPL-3.0-only"}
    with pytest.raises(tool.Missing, match="not permissive"):
        tool.texts(strange)
    with pytest.raises(tool.Missing, match="no licence text"):
        tool.texts({**packages[0], "manifest_path": str(ROOT / "tests" / "Cargo.toml")})


def test_the_installed_wheel(tmp_path):
    try:
        files = importlib.metadata.files("interlock") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package is imported from the checkout")
    assert any(Path(str(path)).name == "LICENSES-THIRD-PARTY.txt" for path in files)
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "tools" / "try_wheel.py")], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0 and "works on Python" in done.stdout, done.stderr
