"""Requests that are wrong in random ways: each is read, or refused with a typed error. Nothing else is raised."""

from __future__ import annotations

import copy
import random

import pytest
from interlock import InterlockError
from interlock.tools import (
    Call,
    ToolFormatError,
    format_names,
    render,
    response_format,
    spec,
    structural_tag,
    tool_format,
)
from interlock.tools.notations.argument_parsing import read_arguments
from interlock.tools.notations.argument_writing import write_arguments

ODD = [
    None,
    True,
    False,
    0,
    -1,
    1.5,
    2**40,
    "",
    "x",
    "<",
    "${name}",
    [],
    [1],
    {},
    {"type": "x"},
    {1: 2},
    b"x",
    float("nan"),
]

TOOLS = [
    {
        "type": "function",
        "function": {"name": "f", "strict": True, "parameters": {"properties": {"a": {"type": "string"}}}},
    },
    {
        "type": "custom",
        "custom": {"name": "g", "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "x"}}},
    },
    {"name": "h", "input_schema": {"type": "object"}},
]
CHOICES = [
    "auto",
    {"type": "function", "function": {"name": "f"}},
    {
        "type": "allowed_tools",
        "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "f"}}]},
    },
    ["f", {"name": "g"}],
]
RESPONSES = [
    {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": {"type": "object"}}},
    {"structured_outputs": {"regex": "a", "whitespace_pattern": " "}},
    {"type": "choice", "choices": ["a"]},
    {"type": "grammar", "syntax": "lark", "grammar": "x"},
    {"structures": [{"begin": "<f>", "schema": {}, "end": "</f>"}], "triggers": ["<f"]},
]
FORMAT = {
    "name": "mine",
    "notation": [{"begin": "<${name} ${id}>", "end": "</>", "separator": ","}],
    "id": {"pattern": "[0-9]+", "first": 1},
    "reasoning": {"begin": "<t>", "end": "</t>", "after": "x", "opened_by_prompt": True},
    "layout": {"kind": "blocks", "text_begin": "<x>", "text_end": "</x>"},
    "arguments": {"encoding": "tagged", "begin": "<${key} ${type}>", "end": "</>", "types": {"other": "o"}},
}


def mutated(value, generator):
    """A copy in which one or two places hold something odd, or lack something."""
    value = copy.deepcopy(value)
    for _ in range(generator.randrange(1, 3)):
        places = list(_places(value))
        if not places:
            return copy.deepcopy(generator.choice(ODD))
        holder, key = generator.choice(places)
        if generator.randrange(4) == 0:
            del holder[key]
        elif isinstance(holder, dict) and generator.randrange(4) == 0:
            holder[generator.choice(["extra", "type", 3])] = copy.deepcopy(generator.choice(ODD))
        else:
            holder[key] = copy.deepcopy(generator.choice(ODD))
    return value


def _places(value):
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items):
        yield value, key
        yield from _places(inner)


def judged(function, *args, **options):
    try:
        function(*args, **options)
    except InterlockError as error:
        assert str(error)
        return False
    return True


def test_structural_tags():
    generator = random.Random(1)
    tags = [structural_tag(TOOLS, format=format, reasoning="optional") for format in format_names()]
    read = sum(judged(spec.read, mutated(generator.choice(tags), generator)) for _ in range(3000))
    assert 100 < read < 2900


def test_tools_and_choices():
    generator = random.Random(2)
    read = 0
    for _ in range(2000):
        choice = generator.choice(CHOICES)
        tools = mutated(TOOLS, generator) if generator.randrange(2) else TOOLS
        choice = mutated(choice, generator) if tools is TOOLS and not isinstance(choice, str) else choice
        read += judged(structural_tag, tools, format=generator.choice(format_names()), tool_choice=choice)
    assert 100 < read < 1900


def test_response_formats():
    generator = random.Random(3)
    read = sum(judged(response_format, mutated(generator.choice(RESPONSES), generator)) for _ in range(2000))
    assert 100 < read < 1900


def test_formats_of_users():
    generator = random.Random(4)
    assert tool_format(FORMAT).layout.kind == "blocks"
    read = sum(judged(tool_format, mutated(FORMAT, generator)) for _ in range(2000))
    assert 10 < read < 1990


@pytest.mark.parametrize("format", format_names())
def test_arguments_that_are_none(format):
    generator = random.Random(format)
    style = tool_format(format).arguments
    written = write_arguments(style, {"a": "x y", "b": [1, {"c": None}], "d": True})
    schemas = [True, {"properties": {"a": {"type": ["string", 3]}, "b": {"$ref": "#/x"}, "d": {"enum": [1, "x"]}}}]
    for _ in range(300):
        text = list(written)
        for _ in range(generator.randrange(1, 4)):
            place = generator.randrange(len(text))
            text[place] = generator.choice(["", "<", "}", '"', "'", "\\", "\n", "9", text[place] * 2])
        judged(read_arguments, style, "".join(text), generator.choice(schemas))


@pytest.mark.parametrize("format", format_names())
def test_arguments_nested_deep(format):
    deep = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ToolFormatError, match="nested|deep|recursion"):
        render(format, [Call("f", {"a": deep})])
    style = tool_format(format).arguments
    judged(read_arguments, style, write_arguments(style, {"a": 1}).replace("1", "[" * 100_000))
    while deep != 1:
        deep = deep[0]
