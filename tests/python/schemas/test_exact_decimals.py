"""A Decimal has the digits that the model wrote, and not those of a float."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from typing import Annotated, Literal, NamedTuple

import pydantic
import pytest
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field
from typing_extensions import TypedDict

import interlock
from interlock.output_types import output_type_of


class Price(BaseModel):
    net: Decimal = Field(alias="netPrice")
    tax: Decimal | None = None
    rate: float = 0


class Part(BaseModel):
    share: Decimal
    parts: list[Part] = []


class Strict(BaseModel):
    model_config = pydantic.ConfigDict(strict=True)
    count: int
    price: Decimal


class Cash(BaseModel):
    kind: Literal["cash"]
    paid: Decimal


class Card(BaseModel):
    kind: Literal["card"]
    paid: float


@dataclasses.dataclass
class Item:
    price: Decimal
    weight: float


class Row(TypedDict):
    price: Decimal


class Pair(NamedTuple):
    low: Decimal
    high: float


EXACT = [
    (Decimal, "7.50", "Decimal('7.50')"),
    (Decimal, "0.1", "Decimal('0.1')"),
    (Decimal, "0.1234567890123456789012", "Decimal('0.1234567890123456789012')"),
    (Decimal, "123456789012345678901234567890", "Decimal('123456789012345678901234567890')"),
    (Decimal, "-0.0", "Decimal('-0.0')"),
    (Decimal, "5e2", "Decimal('5E+2')"),
    (Annotated[Decimal, Field(max_digits=4, decimal_places=2)], "7.500", "Decimal('7.500')"),
    (Annotated[Decimal, AfterValidator(lambda price: price * 2)], "7.50", "Decimal('15.00')"),
    (Decimal | None, "7.50", "Decimal('7.50')"),
    (list[Decimal], "[1.0, 2.00, 3]", "[Decimal('1.0'), Decimal('2.00'), Decimal('3')]"),
    (tuple[Decimal, float], "[1.0, 2.00]", "(Decimal('1.0'), 2.0)"),
    (tuple[Decimal, ...], "[1.0, 2.00]", "(Decimal('1.0'), Decimal('2.00'))"),
    (dict[str, Decimal], '{"1.0 \\" 2.0": 1.0}', "{'1.0 \" 2.0': Decimal('1.0')}"),
    (Price, '{"netPrice": 7.50, "tax": 1.10, "rate": 0.190}',
     "Price(net=Decimal('7.50'), tax=Decimal('1.10'), rate=0.19)"),
    (Part, '{"share": 1.0, "parts": [{"share": 0.50, "parts": []}]}',
     "Part(share=Decimal('1.0'), parts=[Part(share=Decimal('0.50'), parts=[])])"),
    (Strict, '{"count": 5.0, "price": 7.50}', "Strict(count=5, price=Decimal('7.50'))"),
    (Item, '{"price": 7.50, "weight": 7.50}', "Item(price=Decimal('7.50'), weight=7.5)"),
    (Row, '{"price": 7.50}', "{'price': Decimal('7.50')}"),
    (Pair, '{"low": 7.50, "high": 7.50}', "Pair(low=Decimal('7.50'), high=7.5)"),
    (Annotated[Cash | Card, Field(discriminator="kind")], '{"kind": "cash", "paid": 7.50}',
     "Cash(kind='cash', paid=Decimal('7.50'))"),
    (Annotated[Cash | Card, Field(discriminator="kind")], '{"kind": "card", "paid": 7.50}',
     "Card(kind='card', paid=7.5)"),
    (list[Row] | dict[str, float], '[{"price": 7.50}]', "[{'price': Decimal('7.50')}]"),
]  # fmt: skip


@pytest.mark.parametrize(("hint", "text", "value"), EXACT, ids=[str(i) for i in range(len(EXACT))])
def test_the_digits_are_those_of_the_text(hint, text, value):
    assert repr(output_type_of(hint).parse(text)) == value


OPEN = [
    (Decimal | str, "7.50", "Decimal('7.5')"),
    (Decimal | float, "7.50", "7.5"),
    (Cash | Card, '{"kind": "cash", "paid": 7.50}', "Cash(kind='cash', paid=Decimal('7.5'))"),
    (Annotated[Decimal, BeforeValidator(lambda price: price * 2)], "7.50", "Decimal('15.0')"),
]


@pytest.mark.parametrize(("hint", "text", "value"), OPEN, ids=[str(i) for i in range(len(OPEN))])
def test_where_it_is_open_what_a_number_becomes_pydantic_reads_it(hint, text, value):
    """A string in its place might be taken by another member of the union, or not be what a validator expects."""
    assert repr(output_type_of(hint).parse(text)) == value


def test_a_value_that_is_refused_names_the_text_and_the_place():
    calls = []

    def positive(price: Decimal) -> Decimal:
        calls.append(price)
        if price < 10:
            raise ValueError("too cheap")
        return price

    class Checked(BaseModel):
        price: Annotated[Decimal, AfterValidator(positive)]

    with pytest.raises(interlock.InvalidOutputError, match="price: Value error, too cheap") as caught:
        output_type_of(Checked).parse('{"price": 7.50}')
    assert caught.value.text == '{"price": 7.50}' and caught.value.pointer == "/price"
    assert all(str(price) == "7.50" for price in calls)


@pytest.mark.parametrize("keyword", ["ge", "gt", "le", "lt"])
@pytest.mark.parametrize(
    "bound", ["0.1234567890123456789", "0.1", "1e-30", "123456789012345678901.5", "-0.1234567890123456"]
)
def test_a_bound_of_more_digits_than_a_float_has_permits_nothing_beyond_it(keyword, bound):
    word = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}[keyword]
    enforced = Decimal(repr(output_type_of(Annotated[Decimal, Field(**{keyword: Decimal(bound)})]).source[word]))
    assert enforced >= Decimal(bound) if keyword in ("ge", "gt") else enforced <= Decimal(bound)
    assert abs(enforced - Decimal(bound)) <= abs(Decimal(bound)) * Decimal("1e-15")
