"""Patterns and grammars inside of other types: each is refused with the way on, and none is ignored."""

from __future__ import annotations

import dataclasses
import re
import typing
from typing import Annotated, NamedTuple, Optional, TypedDict

import interlock
import pytest
from interlock.output_types import output_type_of, resolve

PATTERN = re.compile("a+")
GRAMMAR = interlock.Grammar('start: "a"')
REMEDY = "write Annotated[str, Field(pattern='^(?:a+)$')]"
WHOLE = "a Grammar is a whole output; it can't stand inside JSON"


@dataclasses.dataclass
class Row:
    n: int
    q: Annotated[str, PATTERN]


class Entry(TypedDict):
    rows: list[Row]


class Pair(NamedTuple):
    a: int
    b: dict[str, PATTERN]


@dataclasses.dataclass
class Node:
    next: Optional[Node]  # noqa: UP045
    q: interlock.Grammar


def search(q: Annotated[str, PATTERN]) -> str:
    """Look for a text."""
    return q


@pytest.fixture(params=["pydantic", "without"])
def either(request, monkeypatch):
    if request.param == "pydantic":
        pytest.importorskip("pydantic", reason="pydantic is not installed")
    else:
        monkeypatch.setattr(resolve, "pydantic_schema", lambda: None)


@pytest.mark.parametrize(
    ("hint", "said", "pointer"),
    [
        (Annotated[str, PATTERN], "the pattern 'a+' beside a type would be ignored", None),
        (list[Annotated[str, PATTERN]], "at []", "/items"),
        (Row, "the pattern 'a+' at q beside a type would be ignored", "/properties/q"),
        (search, "the pattern 'a+' at q beside a type would be ignored", "/properties/q"),
        (Entry, "at rows[].q", "/properties/rows/items/properties/q"),
        (Pair, "the pattern 'a+' at b{} is no type", "/properties/b/additionalProperties"),
        (list[PATTERN], "the pattern 'a+' at [] is no type", "/items"),
        (typing.Union[PATTERN, None], "the pattern 'a+' is no type", None),  # noqa: UP007
    ],
)
def test_patterns(either, hint, said, pointer):
    with pytest.raises(interlock.UnsupportedError) as caught:
        output_type_of(hint)
    assert said in str(caught.value) and str(caught.value).endswith(REMEDY)
    assert caught.value.pointer == pointer


@pytest.mark.parametrize(
    ("hint", "place"),
    [
        (list[GRAMMAR], " at []"),
        (dict[str, GRAMMAR], " at {}"),
        (list[interlock.Grammar], " at []"),
        (Annotated[str, GRAMMAR], ""),
        (Node, " at q"),
        (list[interlock.Index], " at []"),
        (list[interlock.grammars.load("sql")], " at []"),
    ],
)
def test_grammars(either, hint, place):
    with pytest.raises(interlock.UnsupportedError) as caught:
        output_type_of(hint)
    assert WHOLE.removeprefix("a Grammar") + place + ": pass it as the output type itself" in str(caught.value)


def test_fields_of_pydantic():
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
    made = pydantic.create_model("Query", q=(interlock.Grammar, ...))
    with pytest.raises(interlock.UnsupportedError, match=f"^{re.escape(WHOLE)} at q: "):
        output_type_of(made)
    beside = pydantic.create_model("Query", q=(Annotated[str, PATTERN], ...))
    with pytest.raises(interlock.UnsupportedError, match=r"at \[\]\.q beside a type would be ignored"):
        output_type_of(list[beside])
    # A schema of its own says what is written, and the class of a pattern is a type.
    own = Annotated[interlock.Grammar, pydantic.PlainValidator(str), pydantic.WithJsonSchema({"type": "string"})]
    assert output_type_of(pydantic.create_model("Query", q=(own, ...), p=(re.Pattern, ...)))


def test_the_class_of_grammars():
    with pytest.raises(interlock.ArgumentError, match=r"pass interlock\.Grammar\(text\)"):
        output_type_of(interlock.Grammar)


def test_parameters_of_tools():
    with pytest.raises(interlock.InterlockError, match="at q beside a type would be ignored"):
        interlock.check_tools([search], format="hermes")
