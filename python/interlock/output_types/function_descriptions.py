"""Functions in words for a model: their signatures and docstrings, and schemas where a signature does not say all."""

from __future__ import annotations

import inspect
import json
import textwrap
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from interlock.output_types.prompt_schema import prompt_schema
from interlock.output_types.python_types.type_names import name_of
from interlock.output_types.resolve import output_type_of

__all__ = ["describe_functions"]

_IN_SIGNATURES = frozenset(("type", "title", "default", "description", "items", "anyOf", "const", "enum"))
"""What keywords of a parameter's schema say, its annotation and its default say too."""


def describe_functions(functions: Iterable[Callable[..., Any]], on_unsupported: Literal["error", "warn"]) -> str:
    """A text for a prompt that asks for a call of one of ``functions``, which have annotations.

    >>> def add(a: int, b: int = 1) -> int:
    ...     "Add two numbers."
    >>> print(describe_functions([add], "error"))
    Answer with JSON that calls one of these functions: {"name": "FUNCTION", "arguments": {"PARAMETER": "VALUE"}}
    <BLANKLINE>
    add(a: int, b: int = 1) -> int
        Add two numbers.
    """
    call = '{"name": "FUNCTION", "arguments": {"PARAMETER": "VALUE"}}'
    said = [f"Answer with JSON that calls one of these functions: {call}"]
    said += [_described(function, on_unsupported) for function in functions]
    return "\n\n".join(said)


def _described(function: Callable[..., Any], on_unsupported: Literal["error", "warn"]) -> str:
    parameters = inspect.signature(function).parameters.values()
    hints = typing.get_type_hints(function)  # Without the bounds of Annotated, which the schema says.
    written = [
        f"{one.name}: {name_of(hints[one.name])}" + ("" if one.default is one.empty else f" = {one.default!r}")
        for one in parameters
    ]
    returns = f" -> {name_of(hints['return'])}" if "return" in hints else ""
    lines = [f"{function.__name__}({', '.join(written)}){returns}"]
    if text := inspect.getdoc(function):
        lines.append(textwrap.indent(text, "    "))
    if written:
        schema = prompt_schema(output_type_of(function, on_unsupported).source)
        if not all(map(_is_in_signature, schema["properties"].values())):
            schema.pop("description", None)
            shown = json.dumps(schema, ensure_ascii=False)
            lines.append(f"    Its arguments follow this JSON Schema: {shown}")
    return "\n".join(lines)


def _is_in_signature(schema: Any) -> bool:
    """Whether an annotation says all that the schema of a parameter does."""
    if not isinstance(schema, Mapping) or schema.keys() - _IN_SIGNATURES:
        return False
    inner = [*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else [])]
    return all(map(_is_in_signature, inner))
