"""The blanks of JSON that a generator or one of its calls asks for."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from interlock._core import check_json_schema
from interlock.output_types import OutputType
from interlock.util.argument_types import require

__all__ = ["check_whitespace", "take_whitespace", "with_whitespace"]

T = TypeVar("T")


def check_whitespace(whitespace: Any) -> str:
    """The option. ``ArgumentError`` for blanks that there are not, ``TypeError`` for what is no text."""
    require(whitespace=(whitespace, "text"))
    check_json_schema(True, whitespace=whitespace)
    return str(whitespace)


def take_whitespace(options: dict[str, Any]) -> str | None:
    """The option of a call, taken out of ``options``; ``None`` for the blanks of the generator."""
    whitespace = options.pop("whitespace", None)
    return None if whitespace is None else check_whitespace(whitespace)


def with_whitespace(output: OutputType[T], whitespace: str | None) -> OutputType[T]:
    """``output`` with these blanks, if it is JSON."""
    if whitespace is None or output.kind != "json_schema":
        return output
    return dataclasses.replace(output, whitespace=whitespace)
