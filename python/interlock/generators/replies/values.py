"""From finished texts to values, of calls and of batches: an error says its row, and no other value is lost."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from interlock._core import ArgumentError
from interlock.generators.replies.number_warnings import warn_long_number
from interlock.output_types import InvalidOutputError, OutputType
from interlock.util.argument_types import require
from interlock.util.quoting import quoted

__all__ = [
    "about_row",
    "batch_values",
    "check_errors",
    "named_rows",
    "one_value",
    "parser",
    "raised_or_returned",
    "rows_of_batch",
]

T = TypeVar("T")

_ERRORS = ("raise", "return")


def check_errors(errors: Any) -> None:
    """``ArgumentError`` for a text that is neither ``"raise"`` nor ``"return"``, ``TypeError`` for what is no text."""
    require(errors=(errors, "text"))
    if errors not in _ERRORS:
        raise ArgumentError(
            f"errors is 'raise' or 'return', what becomes of an InvalidOutputError, not {quoted(errors)}"
        )


def parser(output: OutputType[T], max_tokens: int) -> Callable[[str], T]:
    """What makes a value of a finished text, and warns of numbers without an end."""

    def parse(text: str) -> T:
        value = output.parse(text)
        warn_long_number(output, text, max_tokens, value=value)
        return value

    return parse


def one_value(output: OutputType[Any], text: str | InvalidOutputError, max_tokens: int, errors: str) -> Any:
    """The value of one text; with ``errors="return"`` the error in its place."""
    try:
        if isinstance(text, InvalidOutputError):
            raise text
        # A text that knows more than its characters is nobody's value.
        return parser(output, max_tokens)(str(text))
    except InvalidOutputError as error:
        if errors == "raise":
            raise
        return error


@contextlib.contextmanager
def about_row(row: int) -> Iterator[None]:
    """An ``ArgumentError`` of the block is about one of several prompts, which ``named_rows`` puts into words."""
    try:
        yield
    except ArgumentError as error:
        vars(error).setdefault("_row", row)
        raise


@contextlib.contextmanager
def rows_of_batch(rows: Sequence[int]) -> Iterator[None]:
    """An ``ArgumentError`` of the block is about one of a part of the prompts, which are ``rows`` of all."""
    try:
        yield
    except ArgumentError as error:
        if "_row" in vars(error):
            vars(error)["_row"] = rows[vars(error)["_row"]]
        raise


@contextlib.contextmanager
def named_rows() -> Iterator[None]:
    """In a batch an ``ArgumentError`` about one prompt says which it is."""
    try:
        yield
    except ArgumentError as error:
        row = vars(error).pop("_row", None)
        if row is not None:
            error.args = (f"prompt {row} of the batch: {error}",)
        raise


def raised_or_returned(value: Any, errors: str) -> Any:
    """A value; an ``InvalidOutputError`` in its place is raised, or returned with ``errors="return"``."""
    if isinstance(value, InvalidOutputError) and errors == "raise":
        raise value
    return value


def batch_values(values: list[Any], errors: str) -> list[Any]:
    """The values of a batch. The first ``InvalidOutputError`` is raised with all results, or all stand in the list."""
    refused = [value.of_row(i) for i, value in enumerate(values) if isinstance(value, InvalidOutputError)]
    if refused and errors == "raise":
        refused[0].results = values
        raise refused[0]
    return values
