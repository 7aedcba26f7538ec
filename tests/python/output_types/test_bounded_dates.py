"""Dates with bounds: a pattern has exactly the days within them, and what no pattern can say is left to the class."""

from __future__ import annotations

import datetime
import random
import re
import warnings
from datetime import date
from typing import Annotated

import annotated_types
import pydantic
import pytest
from pydantic import BaseModel, Field
from scripted_generator import ScriptedGenerator

import interlock
from interlock.explain import byte_vocabulary
from interlock.output_types import output_type_of, resolve
from interlock.output_types.python_types.type_patterns import DATE, date_range

ONE = datetime.timedelta(days=1)


def accepts(index, text):
    guide = index.guide()
    return guide.advance_many(text) == len(text) and guide.is_accepting


def texts_around(first, last):
    """Every way to write a year, month and day near the bounds and, in steps, between: days that are none as well."""
    years = {*range(first.year - 2, first.year + 6), *range(last.year - 5, last.year + 3), *range(1, 10_000, 97)}
    for year in sorted(years & set(range(1, 10_000))):
        for month in range(14):
            for day in range(33):
                yield f"{year:04}-{month:02}-{day:02}"


def is_within(text, first, last):
    try:
        return first <= date.fromisoformat(text) <= last
    except ValueError:
        return False


def pairs():
    yield from [
        (date.min, date.max), (date(2024, 2, 29), date(2024, 2, 29)), (date(2023, 2, 28), date(2025, 3, 1)),
        (date(1899, 12, 31), date(2100, 1, 1)), (date.min, date(1, 1, 1)), (date(9999, 12, 31), date.max),
        (date(2000, 1, 1), date(2000, 12, 31)), (date(2024, 1, 30), date(2024, 2, 3)), (date(2020, 5, 7), date.max),
    ]  # fmt: skip
    rng = random.Random(7)
    for _ in range(12):
        yield tuple(sorted(date.fromordinal(rng.randint(1, date.max.toordinal())) for _ in range(2)))
    for _ in range(12):
        first = rng.randint(1, date.max.toordinal() - 900)
        yield date.fromordinal(first), date.fromordinal(first + rng.randint(0, 900))


@pytest.mark.parametrize(("first", "last"), list(pairs()), ids=str)
def test_a_pattern_has_the_days_of_a_range_and_no_other(first, last):
    pattern = re.compile(date_range(first, last))
    for text in texts_around(first, last):
        assert (pattern.fullmatch(text) is not None) == is_within(text, first, last), text


def test_without_bounds_it_is_the_pattern_of_all_days_and_without_a_day_there_is_none():
    assert date_range(date.min, date.max) == DATE
    with pytest.raises(ValueError, match="no day lies between 2024-01-02 and 2024-01-01"):
        date_range(date(2024, 1, 2), date(2024, 1, 1))


BOUNDS = [
    ({"ge": date(2024, 2, 28), "le": date(2024, 3, 1)}, date(2024, 2, 28), date(2024, 3, 1)),
    ({"gt": date(2024, 2, 28), "lt": date(2024, 3, 1)}, date(2024, 2, 29), date(2024, 2, 29)),
    ({"ge": date(9999, 12, 30)}, date(9999, 12, 30), date.max),
    ({"lt": date(1, 1, 3)}, date.min, date(1, 1, 2)),
]


@pytest.mark.parametrize(("bounds", "first", "last"), BOUNDS, ids=[str(i) for i in range(len(BOUNDS))])
@pytest.mark.parametrize("by", ["pydantic", "hints"])
def test_what_a_type_permits_are_the_days_that_it_reads(bounds, first, last, by, monkeypatch):
    if by == "hints":
        monkeypatch.setattr(resolve, "pydantic_schema", lambda: None)
    marks = {"ge": annotated_types.Ge, "gt": annotated_types.Gt, "le": annotated_types.Le, "lt": annotated_types.Lt}
    output = output_type_of(Annotated[(date, *(marks[name](bound) for name, bound in bounds.items()))])
    index = output.index(byte_vocabulary())
    for number in range(max(1, first.toordinal() - 3), min(date.max.toordinal(), last.toordinal() + 3) + 1):
        text = f'"{date.fromordinal(number)}"'
        assert accepts(index, text.encode()) is (first.toordinal() <= number <= last.toordinal()), text
        if accepts(index, text.encode()):
            assert output.parse(text) == date.fromordinal(number)


@pytest.mark.parametrize("by", ["pydantic", "hints"])
def test_bounds_that_no_day_fits_are_refused(by, monkeypatch):
    if by == "hints":
        monkeypatch.setattr(resolve, "pydantic_schema", lambda: None)
    for bounds in ((annotated_types.Gt(date.max),), (annotated_types.Lt(date.min),), (annotated_types.Interval(
        gt=date(2024, 1, 1), lt=date(2024, 1, 2)),)):  # fmt: skip
        with pytest.raises(interlock.UnsupportedError, match="no date lies within its bounds"):
            output_type_of(Annotated[(date, *bounds)])


def test_a_description_has_the_bounds_and_not_the_pattern():
    text = interlock.describe(Annotated[date, Field(ge=date(2020, 5, 7))])
    assert text.endswith('{"format": "date", "formatMinimum": "2020-05-07", "type": "string"}')
    text = interlock.describe(Annotated[date, Field(lt=date(2020, 5, 7))])
    assert text.endswith('{"format": "date", "formatMaximum": "2020-05-06", "type": "string"}')


# What no pattern can say


class Event(BaseModel):
    begun: pydantic.PastDate
    at: Annotated[datetime.datetime, Field(ge=datetime.datetime(2020, 1, 1))]
    ends: list[pydantic.FutureDatetime] = []


TEXT = '{"begun": "%s", "at": "2024-01-01T10:00", "ends": []}'


def test_bounds_that_are_left_to_the_class_are_named_and_checked_by_it():
    with pytest.warns(interlock.UnenforcedBoundWarning) as seen:
        output = output_type_of(Event, on_unsupported="warn")
    assert [warning.filename for warning in seen] == [__file__]
    message = str(seen[0].message)
    assert message.startswith("Event has bounds that are not enforced while the model writes")
    for said in (".begun (JSON Schema cannot say that a date lies in the past)", ".at (JSON Schema has no word for the "
                 "bounds of a datetime (ge))", ".ends[] (JSON Schema cannot say"):  # fmt: skip
        assert said in message
    assert output.parse(TEXT % "2000-01-01").begun == date(2000, 1, 1)
    with pytest.raises(interlock.InvalidOutputError, match="begun: Date should be in the past") as caught:
        output.parse(TEXT % "9999-01-01")
    assert caught.value.pointer == "/begun" and caught.value.text == TEXT % "9999-01-01"


def test_every_way_to_pass_a_type_takes_the_option():
    gen = ScriptedGenerator({"A": '"2000-01-01"', "B": '"9999-01-01"'})
    with pytest.raises(interlock.UnsupportedError, match="on_unsupported='warn'"):
        gen("A", pydantic.PastDate)
    with pytest.warns(interlock.UnenforcedBoundWarning):
        assert gen("A", pydantic.PastDate, on_unsupported="warn") == date(2000, 1, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # The generator knows the type, and has said it.
        answers = gen(["A", "B"], pydantic.PastDate, on_unsupported="warn", errors="return")
    assert answers[0] == date(2000, 1, 1) and isinstance(answers[1], interlock.InvalidOutputError)
    with pytest.warns(interlock.UnenforcedBoundWarning):
        index = interlock.Index.from_type(pydantic.PastDate, byte_vocabulary(), on_unsupported="warn")
    assert accepts(index, b'"2000-01-01"') and not accepts(index, b'"2000-02-30"')

    def book(day: pydantic.FutureDate) -> None: ...

    for functions in (book, [book]):
        with pytest.warns(interlock.UnenforcedBoundWarning):
            output_type_of(functions, on_unsupported="warn")


def test_a_schema_takes_the_option_too():
    schema = {
        "type": "object",
        "additionalProperties": {"type": "integer"},
        "unevaluatedProperties": {"$dynamicRef": "#x"},
    }
    gen = ScriptedGenerator({"A": "{}"})
    with pytest.raises(interlock.InterlockError):
        gen("A", schema)
    assert output_type_of(schema, on_unsupported="warn").key != output_type_of(schema).key


def test_the_option_is_checked():
    with pytest.raises(interlock.ArgumentError, match="on_unsupported is 'error' or 'warn', not 'ignore'"):
        output_type_of(date, on_unsupported="ignore")
    with pytest.raises(TypeError, match="on_unsupported must be a str, not bool"):
        ScriptedGenerator({"A": "1"})("A", date, on_unsupported=True)
