"""Bounds that do not fit their type, and members of an ``Enum`` that JSON does not give back.

Each is a typed error that names the field, or the value comes back whole.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest

import interlock
from interlock.output_types import output_type_of, resolve

pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
Field = pydantic.Field


@pytest.fixture(params=["pydantic", "plain"])
def reader(request, monkeypatch):
    if request.param == "plain":
        monkeypatch.setattr(resolve, "pydantic_schema", lambda: None)
    return request.param


MISFITS = [
    (Annotated[int, Field(max_length=3)], "max_length=3 is for texts and collections"),
    (Annotated[float, Field(min_length=3)], "min_length=3 is for texts"),
    (Annotated[int, Field(pattern="a")], "pattern='a' is for texts"),
    (Annotated[str, Field(ge=3)], "ge=3 is for numbers"),
    (Annotated[str, Field(multiple_of=2)], "multiple_of=2 is for numbers"),
    (Annotated[list[int], Field(lt=1)], "lt=1 is for numbers"),
    (Annotated[bool, Field(ge=1)], "ge=1 is for numbers"),
    (Annotated[datetime.date, Field(max_length=2)], "max_length=2 is for texts"),
]


@pytest.mark.parametrize("hint, said", MISFITS)
def test_a_bound_of_another_kind_names_its_field(hint, said, reader):
    made = dataclasses.make_dataclass("Order", [("items", list[hint])])
    with pytest.raises(interlock.UnsupportedError, match=f"(Order.)?items\\[\\].*{said}") as caught:
        output_type_of(made)
    assert caught.value.pointer == "/properties/items/items"
    with pytest.raises(interlock.UnsupportedError, match=said):
        output_type_of(hint)


@pytest.mark.parametrize(
    "hint, said",
    [
        (Annotated[str, Field(max_digits=2)], "max_digits=2 is for a Decimal, and does not fit str"),
        (Annotated[float, Field(decimal_places=2)], "take Decimal"),
        (Annotated[int | str, Field(max_length=1)], "does not fit int .*bound a number with ge"),
        (Annotated[int | None, Field(max_length=1)], "does not fit int"),
        (Annotated[int | str, Field(ge=1)], "does not fit str .*bound a length with min_length"),
        (Annotated[Any, Field(max_length=1)], "does not fit Any"),
        (Annotated[Literal[1, 2], Field(max_length=1)], "does not fit int"),
    ],
)
def test_bounds_that_pydantic_would_call_in_python(hint, said):
    with pytest.raises(interlock.UnsupportedError, match=said):
        output_type_of(hint)


def test_bounds_that_fit_stay():
    assert output_type_of(Annotated[int | float, Field(ge=1)]).source["minimum"] == 1
    both = output_type_of(Annotated[str | list[int], Field(max_length=2)]).source
    assert both["maxLength"] == both["maxItems"] == 2
    assert output_type_of(Annotated[int | None, Field(ge=1)]).source["anyOf"][0] == {"type": "integer", "minimum": 1}
    assert output_type_of(Annotated[Literal["a", "bb"], Field(max_length=1)]).source["maxLength"] == 1
    # What a function of the class makes of the value, no mask can bound; the class checks it.
    checked = Annotated[int, pydantic.AfterValidator(abs), Field(ge=3)]
    assert output_type_of(checked).source == {"type": "integer"}
    with pytest.raises(interlock.InvalidOutputError):
        output_type_of(checked).parse("2")


def test_bounds_of_recursive_types():
    class Node(pydantic.BaseModel):
        next: Annotated["Node", Field(max_length=3)] | None = None

    Node.model_rebuild(_types_namespace={"Node": Node})
    with pytest.raises(interlock.UnsupportedError, match="max_length=3 is for texts and collections"):
        output_type_of(Node)


@dataclasses.dataclass(frozen=True)
class Size:
    width: int


class Written(enum.Enum):
    SMALL = {"width": 1}
    LARGE = {"tags": ["a", None, 1.5], "width": 2}


class Sizes(enum.Enum):
    SMALL = Size(1)
    LARGE = Size(2)


class Bare(enum.Enum):
    ONE = object()


class Prices(enum.Enum):
    LOW = Decimal("1.50")


class Floats(enum.Enum):
    A = 0.1
    B = 2


@pytest.mark.parametrize("kind", [Written, Floats])
def test_members_that_json_can_write_are_found_again(kind, reader):
    import json

    holder = dataclasses.make_dataclass("Holder", [("it", kind), ("them", list[kind])])
    for member in kind:
        text = json.dumps(member.value)
        assert output_type_of(kind).parse(text) is member
        found = output_type_of(holder).parse(f'{{"it": {text}, "them": [{text}]}}')
        assert found.it is member and found.them == [member]
    vocabulary = interlock.Vocabulary([bytes([i]) for i in range(256)] + [b""], eos_token_ids=[256])
    index = interlock.Index.from_type(kind, vocabulary)
    for member in kind:
        guide = index.guide()
        guide.advance_many([*json.dumps(member.value).encode()])
        assert guide.is_accepting


@pytest.mark.parametrize("kind, member", [(Sizes, "Sizes.SMALL"), (Bare, "Bare.ONE"), (Prices, "Prices.LOW")])
def test_members_that_json_does_not_give_back(kind, member, reader):
    holder = dataclasses.make_dataclass("Holder", [("it", kind)])
    for hint, pointer in ((kind, None), (holder, "/properties/it")):
        with pytest.raises(interlock.UnsupportedError, match=f"{member} has a value of the type .* by it") as caught:
            output_type_of(hint)
        assert caught.value.pointer == pointer
    with pytest.raises(interlock.UnsupportedError, match=f"{member} has a value"):
        output_type_of(Literal[next(iter(kind))])


def test_a_class_that_finds_its_members():
    class Found(enum.Enum):
        SMALL = Size(1)

        @classmethod
        def _missing_(cls, value):
            return next((one for one in cls if isinstance(value, dict) and one.value == Size(**value)), None)

    assert output_type_of(Found).parse('{"width": 1}') is Found.SMALL
