"""Every example runs with the tiny random model; each checks its own output and exits with an error if it is wrong."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed: make test-torch")
pytest.importorskip("transformers", reason="transformers is not installed: make test-torch")

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize(
    "name",
    "fill_schema multiple_choice floats react knowledge_graph tool_calls extract_csv grpo_rollouts".split(),
)
def test_example(name, monkeypatch, capsys):
    if not EXAMPLES.is_dir():
        pytest.skip("the examples are not here")
    monkeypatch.setattr(sys, "path", [str(EXAMPLES), *sys.path])
    importlib.import_module(name).main(["--model", "tiny"])
    assert capsys.readouterr().out


def test_grpo_with_trl(monkeypatch, capsys):
    pytest.importorskip("trl", reason="trl is not installed: make test-torch")
    if not EXAMPLES.is_dir():
        pytest.skip("the examples are not here")
    monkeypatch.setattr(sys, "path", [str(EXAMPLES), *sys.path])
    # TRL says once that what the example uses may change.
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    importlib.import_module("grpo_trl").main(["--model", "tiny"])
    assert "rollouts, loss" in capsys.readouterr().out
