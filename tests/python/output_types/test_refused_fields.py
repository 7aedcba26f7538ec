"""A type that cannot be an output names the field that it is about, in words and by JSON Pointer."""

from __future__ import annotations

import typing
from dataclasses import dataclass
from typing import Optional, TypedDict, Union

import pytest

import interlock
from interlock.output_types import output_type_of, resolve

pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")


class Sub(pydantic.BaseModel):
    j: pydantic.Json


class Top(pydantic.BaseModel):
    sub: list[Sub]


class Twice(pydantic.BaseModel):
    fine: int
    pairs: dict[str, tuple[int, Sub]]
    again: Sub


class Dates(pydantic.BaseModel):
    items: list[pydantic.PastDate]


class Files(pydantic.BaseModel):
    where: dict[str, pydantic.FilePath]


class TwoFiles(pydantic.BaseModel):
    a: Files
    b: Files


class Recursive(pydantic.BaseModel):
    kids: list[Recursive]
    j: Optional[pydantic.Json] = None


class Unknown:
    pass


@dataclass
class Holder:
    things: list[Unknown]


class Functions(pydantic.BaseModel):
    f: typing.Callable[[int], int]


class Nothing(pydantic.BaseModel):
    u: Union[pydantic.Json, typing.Callable[[], int]]


ROWS = [
    (Top, "Top.sub[].j", "/properties/sub/items/properties/j"),
    (Twice, "Twice.pairs{}[1].j", "/properties/pairs/additionalProperties/prefixItems/1/properties/j"),
    (Dates, "Dates.items[]", "/properties/items/items"),
    (Files, "Files.where{}", "/properties/where/additionalProperties"),
    (TwoFiles, "Files.where{}", "/$defs/Files/properties/where/additionalProperties"),
    (Recursive, "Recursive.j", "/properties/j"),
    (Holder, "Holder.things[]", "/properties/things/items"),
    (Functions, "Functions.f", "/properties/f"),
    (Nothing, "Nothing.u", "/properties/u"),
    (list[Sub], "[].j in list[Sub]", "/items/properties/j"),
    (dict[str, Unknown], "{} in dict[str, Unknown]", "/additionalProperties"),
    (pydantic.Json, "the type Json", None),
]


@pytest.mark.parametrize(("hint", "place", "pointer"), ROWS, ids=[place for _, place, _ in ROWS])
def test_the_field_is_named(hint, place, pointer):
    with pytest.raises(interlock.UnsupportedError) as caught:
        output_type_of(hint)
    said = str(caught.value).replace(f"{__name__}.", "")
    assert said.startswith(f"no JSON can be made for {place}: ")
    assert caught.value.pointer == pointer


def test_a_union_with_one_member_that_json_can_hold_is_that_member():
    class Part(pydantic.BaseModel):
        u: Union[pydantic.Json, int]

    assert output_type_of(Part).parse('{"u": 1}').u == 1


def test_the_field_is_named_without_pydantic(monkeypatch):
    monkeypatch.setattr(resolve, "pydantic_schema", lambda: None)
    with pytest.raises(interlock.UnsupportedError, match=r"\(at items\[\]\)") as caught:
        output_type_of(TypedDict("T", {"items": list[complex]}))
    assert caught.value.pointer == "/properties/items/items"


def test_a_refused_value_has_the_pointer_of_the_first_problem():
    class One(pydantic.BaseModel):
        a: int

        @pydantic.field_validator("a")
        @classmethod
        def never(cls, value):
            raise ValueError("no")

    class Many(pydantic.BaseModel):
        ones: list[One]

    with pytest.raises(interlock.InvalidOutputError, match=r"ones\.0\.a: Value error, no") as caught:
        output_type_of(Many).parse('{"ones": [{"a": 1}]}')
    assert caught.value.pointer == "/ones/0/a"


class Opaque:
    """No type of JSON."""


@dataclass
class HasOpaque:
    part: Opaque


class PlainDict(TypedDict):
    items: list[HasOpaque]


def test_a_field_below_a_plain_typed_dict_is_named():
    with pytest.raises(interlock.UnsupportedError, match=r"items\[\]\.part") as caught:
        output_type_of(PlainDict)
    assert caught.value.pointer == "/properties/items/items/properties/part"
    assert "typing_extensions" not in str(caught.value)


def test_no_function_of_a_list_is_lost():
    def good(a: int) -> int:
        return a

    def bad(a: int, b: complex) -> int:
        return a

    with pytest.raises(interlock.UnsupportedError, match=r"bad\.b") as caught:
        output_type_of([good, bad])
    assert caught.value.pointer == "/properties/b"


def test_a_pattern_that_pydantics_engine_refuses_names_the_field_and_the_other_engine():
    word = typing.Annotated[str, pydantic.Field(pattern="(?!a)[a-z]+")]

    class Late(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(defer_build=True)
        word: word

    for hint, place, pointer in ((Late, "Late.word", "/properties/word"), (word, "the type", None)):
        said = f"{place}.*look-around.*regex_engine=.python-re."
        with pytest.raises(interlock.UnsupportedError, match=said) as caught:
            output_type_of(hint)
        assert getattr(caught.value, "pointer", None) == pointer

    class Good(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(regex_engine="python-re")
        word: word

    assert output_type_of(Good).parse('{"word": "b"}').word == "b"


def test_a_class_that_pydantic_does_not_know_is_named_with_its_place():
    class Arb:
        pass

    said = r"no JSON can be made for \[\] in list\[.*Arb\]: pydantic knows no such type as Arb \(use a dataclass"
    with pytest.raises(interlock.UnsupportedError, match=said):
        output_type_of(list[Arb])
