"""Docstrings are the same in the stubs and in the compiled module; `make stubs` compares everything else."""

import ast
import re
from pathlib import Path

import interlock
from interlock import _core

STUB = Path(interlock.__file__).with_name("_core.pyi")


def described(body, owner):
    """Every name of the stub that has a docstring, with the object that it describes."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            there = getattr(owner, node.name)
            if text := ast.get_docstring(node):
                yield f"{getattr(owner, '__name__', '')}.{node.name}", text, there
            if isinstance(node, ast.ClassDef):
                yield from described(node.body, there)


def test_docstrings_agree():
    count = 0
    for name, text, there in described(ast.parse(STUB.read_text(encoding="utf-8")).body, _core):
        there = " ".join((there.__doc__ or "").split())
        assert there == " ".join(text.split()), name
        count += 1
    assert count > 60


def test_limits_name_their_defaults():
    limits = interlock.Limits()
    fields = [name for name in vars(interlock.Limits) if name.startswith("max_")]
    for name in fields:
        said = re.search(r"by\s+default\s+([\d,]*\d)", getattr(interlock.Limits, name).__doc__)
        assert said is not None and int(said[1].replace(",", "")) == getattr(limits, name), name
    assert len(fields) >= 12


def test_everything_public_is_exported():
    assert sorted(interlock.__all__) == interlock.__all__
    for name in interlock.__all__:
        assert getattr(interlock, name) is not None
    errors = {name for name, value in vars(_core).items() if isinstance(value, type) and not name.startswith("_")}
    assert errors <= set(interlock.__all__)
