"""``Index.from_type``, ``Index.draw`` and what a notebook shows."""

import copy
import pickle
import subprocess
import sys
from dataclasses import dataclass
from typing import Literal

import pytest

import interlock
from interlock import Index


@dataclass
class User:
    name: str
    age: int


def test_from_type_is_index_from_type(byte_vocabulary):
    for kind in (User, list[int], Literal["a", "b"], ["a", "b"], {"type": "integer"}, bool):
        assert Index.from_type(kind, byte_vocabulary) == interlock.index_from_type(kind, byte_vocabulary)
    assert Index.from_type(User, byte_vocabulary).guide().forced_text() == '{"name": "'
    assert Index.from_type(User, byte_vocabulary, whitespace="compact").guide().forced_text() == '{"name":"'


def test_from_type_says_what_is_wrong(byte_vocabulary):
    with pytest.raises(interlock.ArgumentError, match="instance of User: pass the class User"):
        Index.from_type(User("Ada", 36), byte_vocabulary)
    with pytest.raises(interlock.ArgumentError, match="vocabulary must be .* not dict"):
        Index.from_type(User, {})
    with pytest.raises(interlock.UnsupportedError):
        Index.from_type(dict[tuple[int, int], str], byte_vocabulary)
    with pytest.raises(TypeError, match="vocabulary"):
        Index.from_type(User)


def test_draw(byte_vocabulary, tmp_path):
    index = Index.from_type(User, byte_vocabulary)
    drawing = index.draw(title="A user")
    assert drawing.form == "structure" and "name" in drawing.svg() and "A user" in drawing.svg()
    drawing.save(tmp_path / "user.html")
    assert "<svg" in (tmp_path / "user.html").read_text(encoding="utf-8")
    pattern = Index.from_regex("(GET|POST) /[a-z]+", byte_vocabulary)
    assert pattern.draw().form == "jumps" and pattern.draw("states").form == "states"
    with pytest.raises(interlock.ArgumentError, match="only a schema or a grammar has a structure"):
        pattern.draw("structure")
    with pytest.raises(interlock.ArgumentError, match="form is one of"):
        pattern.draw("circles")
    with pytest.raises(interlock.LimitError):
        Index.from_regex("[a-z]{3000}", byte_vocabulary).draw(max_states=100).svg()


def test_notebooks(byte_vocabulary):
    assert "<svg" in Index.from_type(User, byte_vocabulary)._repr_html_()
    large = Index.from_regex("[a-z]{5000}<b>", byte_vocabulary)._repr_html_()
    assert "not drawn: " in large and "<svg" not in large and "<b>" not in large


def test_the_methods_belong_to_the_class(byte_vocabulary):
    index = Index.from_type(User, byte_vocabulary)
    for other in (pickle.loads(pickle.dumps(index)), copy.deepcopy(index)):
        assert other == index and other.draw().svg() == index.draw().svg()
    assert Index.draw.__qualname__ == "Index.draw" and "notebook" in Index.draw.__doc__


def test_importing_the_package_imports_nothing_that_draws():
    code = "import sys, interlock; print(*[m for m in sys.modules if m.startswith('interlock.')])"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "interlock.core_methods.index_methods" in modules
    for name in ("drawing", "output_types", "explain", "generators", "programs"):
        assert f"interlock.{name}" not in modules
