"""What a newcomer sees of the package as a whole: its names, its command, its objects at a prompt."""

from __future__ import annotations

import subprocess
import sys
import types

import pytest

import interlock


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_dir_has_public_names_alone():
    names = dir(interlock)
    assert set(interlock.__all__) <= set(names)
    assert [name for name in names if name.startswith("_") and not name.startswith("__")] == []
    for name in names:
        assert hasattr(interlock, name), name
    modules = {name for name in names if isinstance(getattr(interlock, name), types.ModuleType)}
    assert {"explain", "tools", "grammars", "drawing", "output_types", "generators", "programs"} <= modules
    assert not modules & {"masks", "locks", "remote", "argument_types", "index_methods"}


@pytest.mark.parametrize(
    "module", ["explain", "tools", "grammars", "drawing", "output_types", "events", "schema_hints", "gpu", "serving"]
)
def test_modules_are_found_without_an_import_of_their_own(module):
    out = run(f"import interlock, sys; a = 'interlock.{module}' in sys.modules; print(a, interlock.{module}.__name__)")
    assert out.split()[1] == f"interlock.{module}"


def test_importing_the_package_loads_no_module_that_is_found_late():
    late = ("interlock.explain", "interlock.gpu", "interlock.serving", "pydantic")
    out = run(f"import interlock, sys; print([m for m in sys.modules if m.startswith({late})])")
    assert out.strip() == "[]"


def test_the_package_is_a_command():
    done = subprocess.run(
        [sys.executable, "-m", "interlock", "check", "pattern:[0-9]", "--text", "5"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, ""), done
    assert "accepted" in done.stdout


def test_explanations_can_be_read():
    schema = {"type": "object", "properties": {"age": {"type": "integer", "minimum": 0}}, "additionalProperties": False}
    index = interlock.Index.from_json_schema(schema, interlock.explain.byte_vocabulary())
    assert str(interlock.explain.explain(index, '{"age": 3}')) == "accepted"
    said = str(interlock.explain.explain(index, '{"age": -1,\n "agee": 3}')).splitlines()
    assert said[0] == "refused"
    assert said[1] == "  line 1, column 9: `age`: -1 is below minimum 0"
    assert said[2].startswith("  line 2, column 2: `agee` is no property here")


def test_generators_say_what_they_are():
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    from scripted_generator import ScriptedGenerator

    assert repr(ScriptedGenerator()) == "<interlock generator of the script: no model, 320 tokens>"
