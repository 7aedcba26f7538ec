"""Types that go wrong: misspelt annotations, classes that raise; and types of which every output is read."""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import fractions
import sys
import typing
import uuid
import zoneinfo
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, NotRequired, Optional, TypedDict  # noqa: F401

import numpy as np
import pytest

import interlock
from interlock.output_types import output_type_of, resolve

pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")


@pytest.fixture
def no_pydantic(monkeypatch):
    monkeypatch.setattr(resolve, "pydantic_schema", lambda: None)


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Point(NamedTuple):
    x: int
    y: float = 1.0


@dataclass
class Slip:
    a: int
    when: "dattime.date"  # noqa: F821


@dataclass
class HasSlip:
    items: list[Slip]


class SlipInDict(TypedDict):
    when: "NotRequired[dattime]"  # noqa: F821


class SlipInTuple(NamedTuple):
    when: "Optional[dattime]" = None  # noqa: F821


def slip(n: int, when: dattime): ...  # noqa: F821


SLIPS = [
    (Slip, "Slip.when", "/properties/when"),
    (list[Slip], "Slip.when", "/items/properties/when"),
    (HasSlip, "Slip.when", "/properties/items/items/properties/when"),
    (dict[str, Slip], "Slip.when", "/additionalProperties/properties/when"),
    (tuple[int, Slip], "Slip.when", "/prefixItems/1/properties/when"),
    (SlipInDict, "SlipInDict.when", "/properties/when"),
    (SlipInTuple, "SlipInTuple.when", "/properties/when"),
]


def said_of_slip(hint):
    with pytest.raises(interlock.UnsupportedError) as caught:
        output_type_of(hint)
    return str(caught.value), caught.value.pointer


@pytest.mark.parametrize(("hint", "place", "pointer"), SLIPS)
def test_a_misspelt_annotation_names_class_and_field(hint, place, pointer):
    said, found = said_of_slip(hint)
    assert said.startswith(
        f"no type is found for {place}: the name 'dattime' is not defined (did you mean 'datetime'?);"
    )
    assert found == pointer


@pytest.mark.parametrize(("hint", "place", "pointer"), SLIPS)
def test_a_misspelt_annotation_without_pydantic(hint, place, pointer, no_pydantic):
    said, found = said_of_slip(hint)
    assert said.startswith(f"no type is found for {place}: ") and found == pointer


def test_a_misspelt_annotation_of_models_and_functions():
    class Known(pydantic.BaseModel):
        n: int

    class Order(pydantic.BaseModel):
        known: "Known"
        kind: Literal["one", "two"]
        note: Annotated[str, "unit"]
        when: "list[dattime]"  # noqa: F821

    assert said_of_slip(Order)[0].startswith("no type is found for Order.when: the name 'dattime'")
    said, pointer = said_of_slip(slip)
    assert said.startswith("no type is found for the parameter 'when' of slip: the name 'dattime' is not defined")
    assert pointer == "/properties/when"


def test_what_a_class_raises_is_a_refusal_whatever_it_is():
    class Odd(pydantic.BaseModel):
        n: int

        @pydantic.field_validator("n")
        @classmethod
        def look_up(cls, n):
            return {1: "one"}[n]

    @dataclass
    class Plain:
        n: int

        def __post_init__(self):
            raise RuntimeError

    for hint, raised in ((Odd, KeyError), (Plain, RuntimeError)):
        with pytest.raises(interlock.InvalidOutputError, match=f"it raised {raised.__name__}") as caught:
            output_type_of(hint).parse('{"n": 3}')
        assert caught.value.text == '{"n": 3}' and isinstance(caught.value.__cause__, raised)


def test_what_a_class_raises_without_pydantic(no_pydantic):
    @dataclass
    class Plain:
        n: int

        def __post_init__(self):
            raise KeyError(self.n)

    with pytest.raises(interlock.InvalidOutputError, match="it raised KeyError: 3"):
        output_type_of(Plain).parse('{"n": 3}')


ALWAYS_READ = [
    *(Point, decimal.Decimal, uuid.UUID, bytes, Path, Level, Optional[int], set, frozenset, set[int], frozenset[str]),
    *(tuple[int, ...], tuple[int, str], datetime.datetime, datetime.date, datetime.time, datetime.timedelta),
    *(Annotated[int, pydantic.Field(ge=3, le=90)], Annotated[decimal.Decimal, pydantic.Field(gt=0)], bool | None),
    *(pydantic.Base64Bytes, pydantic.Base64UrlBytes, pydantic.NaiveDatetime, pydantic.AwareDatetime, pydantic.UUID4),
    *(fractions.Fraction, zoneinfo.ZoneInfo, typing.Deque[int], collections.OrderedDict[str, int]),
]


def walks(hint, vocabulary, count):
    """Values of random outputs."""
    output, rng = output_type_of(hint), np.random.default_rng(3)
    index = output.index(vocabulary)
    for _ in range(count):
        guide = index.guide(max_tokens=60)
        while not guide.is_terminated:
            guide.advance(int(rng.choice(guide.allowed_token_ids())))
        yield output.parse(vocabulary.decode(guide.tokens).decode())


@pytest.mark.parametrize("hint", ALWAYS_READ, ids=str)
def test_whatever_a_mask_lets_through_is_read(hint, byte_vocabulary):
    assert sum(1 for _ in walks(hint, byte_vocabulary, 20)) == 20


def test_sets_and_paths_without_pydantic(byte_vocabulary, no_pydantic):
    for hint, kind in ((set, set), (frozenset, frozenset), (Path, Path)):
        assert all(isinstance(value, kind) for value in walks(hint, byte_vocabulary, 20))
    with pytest.raises(interlock.UnsupportedError, match="must be hashable"):
        output_type_of(set[list[int]])
    with pytest.raises(interlock.UnsupportedError, match="install pydantic, which knows more types of Python's"):
        output_type_of(fractions.Fraction)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["string", "null"], "maxLength": 5},
        {"type": ["string", "null"]},
        {"type": ["string"], "name": "a", "schema": {}},
        '{"type": ["string", "null"]}',
    ],
)
def test_a_schema_of_several_types_is_no_envelope(schema, byte_vocabulary):
    assert interlock.Index.from_type(schema, byte_vocabulary).guide().validate(b'"a"') == 3
    assert output_type_of(schema).source["type"][0] == "string" and "string" in interlock.describe(schema)


def test_types_that_are_no_names_are_the_core_s_to_refuse(byte_vocabulary):
    for kind in ({"a": 1}, 3):
        with pytest.raises(interlock.SchemaError, match="the name of a type or an array of such names"):
            interlock.Index.from_type({"type": kind, "name": "a"}, byte_vocabulary)


class Inner(pydantic.BaseModel):
    a: int


class Outer(TypedDict):
    inner: Inner


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="pydantic takes typing.TypedDict since Python 3.12")
@pytest.mark.parametrize("hint", [Outer, list[Outer]])
def test_a_plain_typed_dict_beside_a_pydantic_model(hint):
    with pytest.raises(interlock.UnsupportedError, match="use typing_extensions.TypedDict on Python < 3.12"):
        output_type_of(hint)


def test_a_schema_method_that_was_not_called():
    class User(pydantic.BaseModel):
        name: str

        @classmethod
        def of(cls, name: str) -> "User":
            return cls(name=name)

    with pytest.raises(interlock.ArgumentError, match=r"call it, User\.model_json_schema\(\), or pass the class User"):
        output_type_of(User.model_json_schema)
    with pytest.raises(interlock.ArgumentError, match="the method json_schema, and not the schema: call it"):
        output_type_of(pydantic.TypeAdapter(User).json_schema)
    assert output_type_of(User.of).parse('{"name": "a"}') == {"name": "a"}
