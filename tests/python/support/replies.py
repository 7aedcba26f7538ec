"""Two hundred constrained replies: what is asked for, under which constraint, at which temperature, and what is right.

The checks know nothing of interlock: patterns go to ``re.fullmatch``, schemas to jsonschema-rs where that is there, and
elsewhere no more than JSON is asked for.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import interlock

MAX_TOKENS = 40
TEMPERATURES = [0.0, 0.4, 0.8, 1.2, 2.0]

PATTERNS = {
    "Write a date.": r"(?a)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])",
    "Write an IP address.": r"(?a)((25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(25[0-5]|2[0-4]\d|1?\d?\d)",
    "Name a colour in hex.": r"#[0-9a-f]{6}",
    "A phone number, please.": r"(?a)\+\d{1,3} \(\d{3}\) \d{3}-\d{4}",
    "Say something without the letter e.": r"(?!.*e)[A-Z][a-z]{1,8}( [a-z]{1,8}){1,3}\.",
    "Answer in Japanese.": r"[\u3040-\u30ff\u4e00-\u9fff]{2,6}。",
    "Write a line of CSV.": r'"[^"\n]{1,12}",[0-9]{1,4},(yes|no)',
}
CHOICES = {"Is Paris in France?": ["yes", "no"], "Which animal?": ["cat", "caterpillar", "dog", "Känguru", "🐘"]}
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 16},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
SCHEMAS: dict[str, Any] = {
    "Describe a person.": PERSON,
    "Give a number.": {"type": "number", "minimum": -3, "exclusiveMaximum": 7.5, "multipleOf": 0.25},
    "Give an integer.": {"type": "integer", "minimum": 100, "maximum": 1000},
    "List three colours.": {
        "type": "array",
        "items": {"enum": ["red", "green", "blue"]},
        "minItems": 2,
        "maxItems": 3,
        "uniqueItems": True,
    },
    "True, false or nothing?": {"type": ["boolean", "null"]},
    "A city or a country.": {
        "anyOf": [
            {
                "type": "object",
                "properties": {"city": {"type": "string", "maxLength": 10}},
                "required": ["city"],
                "additionalProperties": False,
            },
            {
                "type": "object",
                "properties": {"country": {"type": "string", "pattern": "^[A-Z][a-z]{2,9}$"}},
                "required": ["country"],
                "additionalProperties": False,
            },
        ]
    },
    "When was it?": {"type": "string", "format": "date-time", "maxLength": 20},
    "A tree of numbers.": {
        "$defs": {"node": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/node"}}]}},
        "$ref": "#/$defs/node",
    },
    "Call the tool.": {
        "type": "object",
        "properties": {
            "tool": {"const": "weather"},
            "unit": {"enum": ["C", "F"]},
            "days": {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 7}, "maxItems": 3},
        },
        "required": ["tool", "unit"],
        "additionalProperties": False,
    },
    "Any JSON at all.": True,
    "Scores by name.": {
        "type": "object",
        "patternProperties": {"^[a-z]{1,5}$": {"type": "integer", "minimum": 0, "maximum": 9}},
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 3,
    },
}
WHITESPACE = ["flexible", "compact", "spaced"]


@dataclass
class Case:
    """One reply that is asked for."""

    prompt: str
    temperature: float
    seed: int
    index: interlock.Index
    right: Callable[[str], bool]


def _schema_check(schema: Any) -> Callable[[str], bool]:
    def loads(text: str) -> Any:
        try:
            return json.loads(text)
        except ValueError:
            return ...

    if importlib.util.find_spec("jsonschema_rs") is None:
        return lambda text: loads(text) is not ...
    import jsonschema_rs

    validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
    return lambda text: loads(text) is not ... and validator.is_valid(loads(text))


def cases(vocabulary: interlock.Vocabulary, count: int = 200) -> Iterator[Case]:
    """``count`` replies: every source at every temperature in turn, with other seeds and whitespace each time."""
    made: list[tuple[str, list[interlock.Index], Callable[[str], bool]]] = []
    for prompt, pattern in PATTERNS.items():
        index = interlock.Index.from_regex(pattern, vocabulary)
        made.append((prompt, [index], lambda text, p=pattern: re.fullmatch(p, text) is not None))
    for prompt, choices in CHOICES.items():
        index = interlock.Index.from_choices(choices, vocabulary)
        made.append((prompt, [index], lambda text, c=choices: text in c))
    for prompt, schema in SCHEMAS.items():
        indexes = [interlock.Index.from_json_schema(schema, vocabulary, whitespace=w) for w in WHITESPACE]
        made.append((prompt, indexes, _schema_check(schema)))
    for i in range(count):
        turn, which = divmod(i, len(made))
        prompt, indexes, right = made[which]
        temperature = TEMPERATURES[(turn + which) % len(TEMPERATURES)]
        yield Case(prompt, temperature, i, indexes[turn % len(indexes)], right)
