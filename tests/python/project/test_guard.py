"""The guard's comparison of instruction counts."""

import json
import sys
from pathlib import Path

import pytest

BENCHES = Path(__file__).parents[3] / "benches"


@pytest.fixture
def guard(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHES))
    yield __import__("guard")
    sys.modules.pop("guard")


def test_only_growth_beyond_the_tolerance_is_wrong(guard):
    assert guard.compare({"a": 1_000, "b": 1_000}, {"a": 1_050, "b": 10}, 5.0) == []
    (wrong,) = guard.compare({"a": 1_000}, {"a": 1_051}, 5.0)
    assert wrong.startswith("a: 1,051 instructions, 5.1 % more")


def test_workloads_that_came_or_went_are_named(guard):
    assert [line.split(":")[0] for line in guard.compare({"gone": 1}, {"new": 1}, 5.0)] == ["gone", "new"]


def test_what_grows_faster_than_its_size_is_named(guard):
    assert guard.grown({"50 tools: masks": 100, "500 tools: masks": 1_500, "small": 1}) == []
    (wrong,) = guard.grown({"50 tools: masks": 100, "500 tools: masks": 1_501})
    assert wrong.startswith("500 tools: masks: 15.0 times")


def test_the_committed_counts_have_the_names_of_the_workloads():
    """Every name that the binary can print is a text of its source, up to what is put in front of the colon."""
    stored = json.loads((BENCHES / "guard.json").read_text())
    source = (BENCHES / "rust" / "src" / "bin" / "guard.rs").read_text()
    assert stored["tolerance_percent"] == 5.0 and len(stored["counts"]) > 15
    for name, count in stored["counts"].items():
        assert count > 0
        assert f'"{name}"' in source or f': {name.split(": ", 1)[-1]}"' in source, name


def test_other_tools_are_a_reason_to_skip_but_where_a_comparison_is_required(guard, monkeypatch, capsys):
    known = guard.stored()["made_with"]
    other = "counts of different tools cannot be compared: rustc 'rustc 0.1' instead of 'rustc "
    for here, why in (({**known, "rustc": "rustc 0.1"}, other), ({**known, "valgrind": "none"}, "valgrind is not")):
        monkeypatch.setattr(guard, "made_with", lambda here=here: here)
        for arguments in ([], ["--state"]):
            monkeypatch.setattr(sys, "argv", ["guard.py", *arguments])
            monkeypatch.delenv("INTERLOCK_GUARD", raising=False)
            guard.main()
            assert f"guard: *** NOT COMPARED: {why}" in capsys.readouterr().out
        monkeypatch.setattr(sys, "argv", ["guard.py"])
        monkeypatch.setenv("INTERLOCK_GUARD", "required")
        with pytest.raises(SystemExit, match=f"FAILED, because INTERLOCK_GUARD=required and {why}"):
            guard.main()
    monkeypatch.setattr(guard, "made_with", lambda: known)
    monkeypatch.setattr(sys, "argv", ["guard.py", "--state"])
    guard.main()
    assert capsys.readouterr().out == "guard: instructions are compared on this machine\n"
