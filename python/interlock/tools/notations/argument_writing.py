"""Writes the arguments of a call as a tool format has them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, assert_never

from interlock.tools.errors import ToolFormatError
from interlock.tools.notations import template
from interlock.tools.notations.escapes import escape
from interlock.tools.notations.tool_format import Arguments

__all__ = ["json_type", "write_arguments"]


def write_arguments(arguments: Arguments, values: Mapping[str, Any], is_compact: bool = False) -> str:
    """The text between the begin and the end of a call; ``is_compact`` writes JSON without blanks.

    ``ToolFormatError`` for values that the encoding cannot hold: what is no JSON, and a raw string that contains its
    own closing delimiter.

    >>> from interlock.tools import tool_format
    >>> write_arguments(tool_format("glm_4_7").arguments, {"city": "Rome", "days": 3})
    '<arg_key>city</arg_key><arg_value>Rome</arg_value><arg_key>days</arg_key><arg_value>3</arg_value>'
    """
    try:
        return _written(arguments, values, is_compact)
    except RecursionError as error:
        raise ToolFormatError("the arguments are nested too deep") from error


def _written(arguments: Arguments, values: Mapping[str, Any], is_compact: bool) -> str:
    for key in values:
        if not isinstance(key, str):
            raise ToolFormatError(f"the name of an argument is a text, and {key!r} is none")
    if arguments.encoding == "json":
        return _json(dict(values), is_compact)
    if arguments.encoding == "python":
        return ", ".join(
            f"{_python_name(key)}={_python(arguments, value, is_compact)}" for key, value in values.items()
        )
    if arguments.encoding == "gemma":
        return _gemma(arguments, dict(values))
    if arguments.encoding == "tagged":
        return "".join(_parameter(arguments, key, value, is_compact) for key, value in values.items())
    assert_never(arguments.encoding)


def json_type(value: Any) -> str:
    """The JSON type of a Python value: ``"string"``, ``"integer"``, ``"number"`` and so on.

    >>> json_type(True), json_type(1), json_type(1.5), json_type(None)
    ('boolean', 'integer', 'number', 'null')
    """
    for name, kind in (("string", str), ("boolean", bool), ("integer", int), ("number", float)):
        if isinstance(value, kind):
            return name
    if value is None:
        return "null"
    if isinstance(value, Mapping):
        return "object"
    if isinstance(value, list | tuple):
        return "array"
    raise ToolFormatError(f"an argument is {type(value).__name__}, which JSON cannot hold")


def _json(value: Any, is_compact: bool = False) -> str:
    separators = (",", ":") if is_compact else None
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=separators)
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolFormatError(f"an argument cannot be written as JSON: {error}") from error


def _python_name(key: str) -> str:
    if not key.isidentifier():
        raise ToolFormatError(f"the argument {key!r} cannot be written as a keyword of a Python call")
    return key


def _python(arguments: Arguments, value: Any, is_compact: bool) -> str:
    kind = json_type(value)
    if arguments.values == "json":
        return _json(value, is_compact)
    if kind == "object":
        if arguments.objects == "json":
            return _json(value, is_compact)
        return "{" + ", ".join(f"{str(k)!r}: {_python(arguments, v, is_compact)}" for k, v in value.items()) + "}"
    if kind == "array":
        return "[" + ", ".join(_python(arguments, item, is_compact) for item in value) + "]"
    if kind == "number" and not math.isfinite(value):
        raise ToolFormatError(f"{value!r} is no number of JSON")
    return repr(value)


def _gemma(arguments: Arguments, value: Any) -> str:
    kind = json_type(value)
    if kind == "string":
        return arguments.quote + _without(value, arguments.quote) + arguments.quote
    if kind == "object":
        return "{" + ",".join(f"{_gemma_key(arguments, k)}:{_gemma(arguments, v)}" for k, v in value.items()) + "}"
    if kind == "array":
        return "[" + ",".join(_gemma(arguments, item) for item in value) + "]"
    return _json(value)


def _gemma_key(arguments: Arguments, key: str) -> str:
    if key and not set(key) & set(':,{}[]"<> \n'):
        return key
    return arguments.quote + _without(key, arguments.quote) + arguments.quote


def _parameter(arguments: Arguments, key: str, value: Any, is_compact: bool) -> str:
    filled = {"key": escape(key, arguments.key_escape), "type": type_text(arguments, value)}
    for after in template.literal_after(arguments.begin, "key"):
        if after and after in filled["key"]:
            raise ToolFormatError(f"the argument {key!r} contains {after!r}, which ends a key here")
    end = template.fill(arguments.end, filled)
    # Where line ends are optional, readers and masks end a string at the closer without them.
    closer = end.strip("\n") if arguments.line_ends == "optional" else end
    return template.fill(arguments.begin, filled) + _tagged(arguments, value, closer, is_compact) + end


def type_text(arguments: Arguments, value: Any) -> str:
    """What ``${type}`` is for ``value``; ``""`` where the format has none."""
    if not arguments.types:
        return ""
    found = arguments.types.get(json_type(value), arguments.types.get("other"))
    return str(found[0] if isinstance(found, list) else found)


def _tagged(arguments: Arguments, value: Any, closer: str, is_compact: bool) -> str:
    kind = json_type(value)
    if kind == "string":
        if arguments.string_begin and ("<" in value or "&" in value or "\n" in value):
            return arguments.string_begin + _without(value, arguments.string_end) + arguments.string_end
        return _without(value, closer)
    if arguments.nested and kind == "object":
        return "".join(_parameter(arguments, key, inner, is_compact) for key, inner in value.items())
    if arguments.nested and kind == "array":
        return "".join(
            template.fill(arguments.item_begin, {"type": type_text(arguments, item)})
            + _tagged(arguments, item, arguments.item_end, is_compact)
            + arguments.item_end
            for item in value
        )
    # JSON text may escape what a raw string cannot: a closer inside it never stands there literally.
    text = _json(value, is_compact)
    return _without(text.replace("<", "\\u003c") if closer in text else text, closer)


def _without(text: str, closer: str) -> str:
    if closer in text:
        raise ToolFormatError(f"the string {text[:60]!r} contains {closer!r}, which ends a string in this format")
    return text
