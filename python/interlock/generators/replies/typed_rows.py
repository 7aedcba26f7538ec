"""Batches whose prompts have an output type each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from interlock._core import ArgumentError
from interlock.generators.replies.values import about_row, named_rows
from interlock.output_types import OutputType
from interlock.output_types.python_types.type_names import name_of
from interlock.util.plurals import counted

__all__ = ["prepared_rows", "rows_by_type"]


def prepared_rows(
    prepare: Callable[[Any, int, dict[str, Any]], OutputType[Any]],
    output_type: Any,
    count: int,
    max_tokens: int,
    options: dict[str, Any],
) -> list[OutputType[Any]]:
    """What ``prepare`` makes of the output type of each of ``count`` prompts. As it does, this takes what concerns the
    types out of ``options``.
    """
    types = _types_of_rows(output_type, count)
    if types is None:
        return [prepare(output_type, max_tokens, options)] * count
    made = []
    left = options
    for i, one in enumerate(types):
        left = dict(options)
        with named_rows(), about_row(i):
            made.append(prepare(one, max_tokens, left))
    for name in options.keys() - left.keys():
        del options[name]
    return made


def _types_of_rows(output_type: Any, count: int) -> list[Any] | None:
    """The types of ``count`` prompts, if ``output_type`` is a list of types; ``None`` if it is one type for all, as
    choices and functions in a list are. ``ArgumentError`` where there are more types than prompts, or fewer.
    """
    if not isinstance(output_type, list | tuple) or all(map(_is_of_one_type, output_type)):
        return None
    if len(output_type) != count:
        only = f": pass {name_of(output_type[0])} itself for all of them" if len(output_type) == 1 else ""
        raise ArgumentError(
            f"{counted(len(output_type), 'output type')} for {counted(count, 'prompt')}: a list of types has one for "
            f"each prompt{only}"
        )
    return list(output_type)


def _is_of_one_type(part: Any) -> bool:
    """Whether a list of such parts is one output type, choices or functions, or is meant to be one."""
    return isinstance(part, str | int | float) or inspect.isroutine(part)


def rows_by_type(outputs: Sequence[OutputType[Any]]) -> list[list[int]]:
    """The rows of a batch whose outputs are compiled to the same index, for each such index."""
    found: dict[Hashable, list[int]] = {}
    for row, output in enumerate(outputs):
        found.setdefault(output.key, []).append(row)
    return list(found.values())
