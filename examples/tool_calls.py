"""Calls of Python functions: annotations become the schema of the calls, and the calls are carried out.

python examples/tool_calls.py [--model smollm2]
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

from models import arguments, load

import interlock
from interlock.integrations.transformers import jump_forward


def weather(city: Literal["Paris", "Tokyo", "Lima"], days: int) -> str:
    """The forecast for a city."""
    return f"{city}: sun for {days} days"


def convert(amount: int, source: Literal["EUR", "JPY"], target: Literal["EUR", "JPY"]) -> str:
    """Money in another currency."""
    return f"{amount} {source} in {target}"


def remind(urgent: bool, hour: int) -> str:
    """A reminder at a full hour."""
    return f"{'urgent ' if urgent else ''}reminder at {hour}"


TOOLS: dict[str, Callable[..., str]] = {f.__name__: f for f in (weather, convert, remind)}


def schema_of(annotation: Any) -> dict[str, Any]:
    """The schema of one argument."""
    if annotation is bool:
        return {"type": "boolean"}
    if annotation is int:
        return {"type": "integer", "minimum": 0, "maximum": 99}
    return {"enum": list(get_args(annotation))}


def call_schema(tool: Callable[..., str]) -> dict[str, Any]:
    """The schema of one call: the name decides about the arguments."""
    parameters = inspect.signature(tool, eval_str=True).parameters
    inner = {
        "type": "object",
        "properties": {name: schema_of(parameter.annotation) for name, parameter in parameters.items()},
        "required": list(parameters),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"name": {"const": tool.__name__}, "arguments": inner},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def main(argv: Sequence[str] | None = None) -> None:
    writer = load(arguments(__doc__, argv).model)
    either = {"anyOf": [call_schema(tool) for tool in TOOLS.values()]}
    calls = {"type": "array", "items": either, "minItems": 1, "maxItems": 2}
    index = interlock.Index.from_json_schema(calls, writer.vocabulary, whitespace="spaced")
    # A random model spells many letters as escapes: the same JSON, in more tokens.
    (ids,) = writer.generate(
        "What will the weather be in Tokyo for three days? Remind me at 8. Answer with calls of functions in JSON.",
        custom_generate=jump_forward,
        constraints=index,
        do_sample=False,
        max_new_tokens=800,
    )
    text = writer.text(ids)
    print(text)
    for call in json.loads(text):
        tool = TOOLS[call["name"]]
        for name, parameter in inspect.signature(tool, eval_str=True).parameters.items():
            value = call["arguments"][name]
            allowed = get_args(parameter.annotation)
            if value not in allowed if allowed else type(value) is not parameter.annotation:
                sys.exit(f"{value!r} does not suit {parameter}")
        print(f"{call['name']}: {tool(**call['arguments'])}")


if __name__ == "__main__":
    main()
