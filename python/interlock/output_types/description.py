"""An output type in words for a model: what a prompt says of it, so that the model knows what it has to fill in."""

from __future__ import annotations

import json
from typing import Any

from interlock._core import ArgumentError
from interlock.output_types.function_descriptions import describe_functions
from interlock.output_types.prompt_schema import prompt_schema
from interlock.output_types.resolve import output_type_of

__all__ = ["describe"]


def describe(output_type: Any) -> str:
    """A text for a prompt that says what ``output_type`` asks for: its JSON Schema in one line, its choices, its
    pattern, its grammar, or the signatures and docstrings of its functions. The schema has the descriptions of fields,
    and no titles; it says ``"format": "date"`` and the like where a long pattern is enforced. Empty for ``str``.
    ``gen(prompt, User, describe=True)`` puts it in front of the prompt.

    ``ArgumentError`` for an ``Index``, which has no such text; the errors of ``output_type_of``.

    >>> describe(bool)
    'Answer with JSON that follows this JSON Schema: {"type": "boolean"}'
    >>> describe(["yes", "no"])
    'Answer with one of these texts: "yes", "no"'
    """
    output = output_type_of(output_type)
    if output.kind == "text":
        return ""
    if output.functions:
        return describe_functions(output.functions, output.on_unsupported)
    if output.kind == "choices":
        return f"Answer with one of these texts: {', '.join(_json(choice) for choice in output.source)}"
    if output.kind == "regex":
        return f"Answer with a text that matches this regular expression as a whole: {output.source.pattern}"
    if output.kind == "grammar":
        return f"Answer with a text of this grammar:\n{output.source.text}"
    if output.kind == "index":
        raise ArgumentError(
            "an index is compiled, and cannot be described: pass the type, or describe it in the prompt"
        )
    return f"Answer with JSON that follows this JSON Schema: {_json(prompt_schema(output.source))}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
