"""What a prompt says of a type: short, and in the words of the type."""

from __future__ import annotations

import datetime
import json
import uuid
from decimal import Decimal
from typing import Annotated

import pydantic
import pytest

import interlock


def schema_in(text):
    return json.loads(text.removeprefix("Answer with JSON that follows this JSON Schema: "))


class Event(pydantic.BaseModel):
    day: datetime.date
    at: datetime.datetime
    clock: datetime.time
    lasts: datetime.timedelta
    price: Annotated[Decimal, pydantic.Field(max_digits=7, decimal_places=2)]
    rate: Annotated[Decimal, pydantic.Field(ge=0, le=50, max_digits=7, decimal_places=2)]
    page: pydantic.HttpUrl
    key: uuid.UUID
    code: Annotated[str, pydantic.Field(pattern="^[A-Z]{3}$")]


def test_a_description_has_formats_and_plain_bounds_and_no_pattern_but_the_users():
    text = interlock.describe(Event)
    assert len(text) < len(json.dumps(Event.model_json_schema()))
    found = schema_in(text)["properties"]
    assert {name: one["format"] for name, one in found.items() if "format" in one} == {
        "day": "date", "at": "date-time", "clock": "time", "lasts": "duration", "page": "uri", "key": "uuid",
    }  # fmt: skip
    assert [name for name, one in found.items() if "pattern" in one] == ["code"]
    assert found["price"] == {
        "type": "number", "multipleOf": 0.01, "exclusiveMinimum": -100000, "exclusiveMaximum": 100000,
    }  # fmt: skip
    assert found["rate"] == {"type": "number", "multipleOf": 0.01, "minimum": 0, "maximum": 50}


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        (pydantic.AwareDatetime, {"type": "string", "format": "date-time"}),
        (pydantic.UUID4, {"type": "string", "format": "uuid"}),
        (datetime.date | None, {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]}),
        ({"allOf": [{"minimum": 1}, {"minimum": 2}]}, {"allOf": [{"minimum": 1}, {"minimum": 2}]}),
        ({"allOf": [{"pattern": "^a"}, {"pattern": "b$"}]}, {"allOf": [{"pattern": "^a"}, {"pattern": "b$"}]}),
    ],
)
def test_the_description_of_a_type(hint, said):
    assert schema_in(interlock.describe(hint)) == said


def test_what_is_enforced_is_still_exact():
    enforced = interlock.output_types.output_type_of(Event).source["properties"]["day"]
    assert "pattern" in enforced and "format" not in enforced
