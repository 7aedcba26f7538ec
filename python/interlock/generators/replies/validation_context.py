"""The option ``context`` of a call: what validators of a pydantic class find as ``info.context``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from interlock._core import ArgumentError
from interlock.output_types import OutputType

__all__ = ["in_context", "reads_in_context"]


def in_context(output: OutputType[Any], context: Any) -> OutputType[Any]:
    """``output`` with values that are validated in ``context``. ``ArgumentError`` for what pydantic does not read."""
    if context is None:
        return output
    if not (output.kind == "json_schema" and output.is_checked):
        raise ArgumentError(f"context is for validators of pydantic, which does not read {output.name}: leave it out")
    return dataclasses.replace(output, parse=reads_in_context(output.parse, context))


def reads_in_context(read: Callable[[str], Any], context: Any) -> Callable[[str], Any]:
    """The same of a function that makes values of texts."""
    if context is None:
        return read
    from interlock.output_types.pydantic_models.values import with_context

    return with_context(read, context)
