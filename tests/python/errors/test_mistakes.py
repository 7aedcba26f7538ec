"""Deliberate mistakes: each message says what is wrong, where, and what to do next, and leaks no private name.

The rows are in ``mistakes_in_sources`` and ``mistakes_in_calls``.
"""

# The rows are evaluated, so ruff does not see what they use.
# ruff: noqa: F401

from __future__ import annotations

import base64
import dataclasses
import enum
import functools
import json
import pathlib
import re
import sys
import typing
import warnings
from collections.abc import Callable
from typing import Annotated, Any, Literal, Optional

import numpy as np
import pytest

pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
pytest.importorskip("tokenizers", reason="tokenizers is not installed")

from mistake_errors import Warned
from mistakes_in_calls import CONSTRAINTS, FILES, GENERATORS, GUIDES, SERVERS, VOCABULARIES
from mistakes_in_sources import GRAMMARS, PATTERNS, SCHEMAS, TYPES
from scripted_generator import ScriptedGenerator

import interlock
import interlock.drawing
import interlock.explain
from interlock import Guide, Index, Limits, Store, Vocabulary
from interlock.integrations._row import given_one
from interlock.integrations._triggers import Triggered

MISTAKES = [*SERVERS, *SCHEMAS, *GRAMMARS, *PATTERNS, *TYPES, *VOCABULARIES, *GUIDES, *CONSTRAINTS, *GENERATORS, *FILES]

#: What no user should read: names of the compiled module, of Rust and of PyO3, and private names.
LEAKS = re.compile(
    r"_core\b|\binterlock\._|\b_[a-z]\w+\(|::(?!=)|\bPy[A-Z]\w+|pyo3|\bOption<|\bVec<|&str|\busize\b|\bu32\b|panicked|unwrap|"
    r"builtins\.|<lambda> at|0x[0-9a-f]{8}|is not an instance of"
)


class User(pydantic.BaseModel):
    name: str


class Kind(enum.Enum):
    A = "a"


@dataclasses.dataclass
class Point:
    x: int


@pytest.fixture(scope="module")
def names(byte_vocabulary, tmp_path_factory) -> dict[str, Any]:
    """What the calls of the rows may name."""
    tmp = tmp_path_factory.mktemp("mistakes")
    (tmp / "junk").write_bytes(b"this is no file of interlock")
    (tmp / "folder").mkdir()
    ranks = (b"%s %d\n" % (base64.b64encode(bytes([i])), i) for i in range(256))
    (tmp / "tokens.tiktoken").write_bytes(b"".join(ranks))
    gen = ScriptedGenerator({"a": "b"})

    def pattern(source, **options):
        return Index.from_regex(source, byte_vocabulary, **options)

    def strictly(schema):
        """Compile a schema where a warning is an error."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return Index.from_json_schema(schema, byte_vocabulary)

    def bits(rows=1):
        return interlock.allocate_bitmask(rows, byte_vocabulary)

    def guide(source="a+", **options):
        return pattern(source).guide(**options)

    def named(program):
        """A fork of a program with a part that is named."""
        fork = program.fork()
        fork.select("answer", ["yes"])
        return fork

    return {
        **globals(),
        "named": named,
        "V": byte_vocabulary,
        "R": pattern,
        "G": lambda grammar, **options: Index.from_grammar(grammar, byte_vocabulary, **options),
        "strictly": strictly,
        "S": lambda schema, **options: Index.from_json_schema(schema, byte_vocabulary, **options),
        "T": lambda kind, **options: Index.from_type(kind, byte_vocabulary, **options),
        "other": Vocabulary([b"a", b"b", b""], 2),
        "guide": guide,
        "twin": guide(),
        "bits": bits,
        "apply": lambda logits, **options: interlock.apply_bitmask(logits, bits(), **options),
        "gen": gen,
        "program": interlock.Program(gen, "x "),
        "tmp": tmp,
        "store": Store(tmp / "store"),
    }


@pytest.mark.parametrize(("call", "kind", "said"), MISTAKES, ids=[row[0] for row in MISTAKES])
def test_mistake(names, call, kind, said):
    with pytest.raises(kind) as caught:
        eval(call, names)
    message = str(caught.value)
    at = 0
    for fragment in said.split(" .. "):
        found = message.find(fragment, at)
        assert found >= 0, f"{fragment!r} is not in {message!r}"
        at = found
    assert not LEAKS.search(message), message
    assert isinstance(caught.value, (interlock.InterlockError, TypeError, KeyError, AttributeError, Warned))
    if isinstance(caught.value, interlock.InterlockError):
        json.dumps([caught.value.pointer, caught.value.keyword, caught.value.offset, caught.value.limit])


def test_there_are_many():
    assert len({row[0] for row in MISTAKES}) == len(MISTAKES) >= 130


def test_what_is_missing_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "interlock.generators.transformers", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"torch .*pip install 'interlock\[transformers\]'") as caught:
        interlock.from_transformers(object(), None)
    assert caught.value.name == "torch"


def test_literals_are_fine():
    """The hint of a message helps."""
    vocabulary = interlock.explain.byte_vocabulary()
    assert Index.from_type(Literal[1, 2], vocabulary).guide().is_accepting is False
    assert Index.from_type(list[User], vocabulary).guide().forced_text() == "["
