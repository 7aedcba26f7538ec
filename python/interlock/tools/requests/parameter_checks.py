"""Parameters of tools as JSON Schemas: what is no schema is refused, whatever notation the calls have.

Notations that write arguments in their own way read of a schema what they need, and would pass over a type that does
not exist or a length below zero.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from interlock._core import (
    CancelledError,
    InterlockError,
    PatternError,
    ReportRow,
    SchemaError,
    UnsupportedError,
    _may_have_slips,
    check_json_schema,
)
from interlock.posix_classes import warn_of_patterns
from interlock.schema_hints import quiet, tells_of_slips, warn_of_slips
from interlock.tools.errors import RequestError, message_at, remade
from interlock.tools.requests.schema_keys import check_keys
from interlock.tools.requests.tool_list import Tool
from interlock.util.client_messages import with_hint

__all__ = [
    "HOW_TO_LEAVE_OPEN",
    "check_keys_of_parameters",
    "check_parameters",
    "enforced_schemas",
    "report_of",
    "tell_of_slips",
    "tell_of_slips_in",
]

HOW_TO_LEAVE_OPEN = (
    'strict=False leaves the arguments of all tools open, and "strict": false in a tool those of this one'
)
"""What a program can do about parameters that cannot be enforced."""


def check_parameters(tools: Iterable[Tool], strict: bool | None) -> None:
    """``RequestError`` with the place among the tools where enforced parameters are no JSON Schema. A tool takes
    less than a tenth of a millisecond.

    >>> try:
    ...     check_parameters([Tool("now", {"minLength": -1}, place="/tools/0/parameters")], None)
    ... except RequestError as error:
    ...     print(error)
    at /tools/0/parameters: a whole number that is not negative is expected (keyword minLength)
    """
    for tool in _enforced(tools, strict):
        check_keys(tool.parameters, tool.place)
        try:
            report_of(tool.parameters)
        except CancelledError:
            raise
        except InterlockError as error:
            raise _error_at(error, tool.place) from error


def check_keys_of_parameters(tools: Iterable[Tool], strict: bool | None) -> None:
    """``RequestError`` with the place for a key of enforced parameters that is no ``str``: written as JSON it would
    become one.
    """
    for tool in _enforced(tools, strict):
        check_keys(tool.parameters, tool.place)


def _error_at(error: InterlockError, place: str) -> InterlockError:
    """``error`` of a schema that stands at ``place``."""
    whole = place + (getattr(error, "pointer", None) or "")
    message = message_at(error, place)
    if isinstance(error, SchemaError | PatternError):
        return RequestError(message, whole)
    moved = remade(error, f"at {whole}: {message}" if whole else message, whole)
    hint = HOW_TO_LEAVE_OPEN if isinstance(error, UnsupportedError) else error.hint
    return moved if hint is None else with_hint(moved, hint)


def tell_of_slips(tools: Collection[Tool], strict: bool | None, **work: Any) -> None:
    """Tell of keywords in enforced parameters that look like slips, as ``handling`` says, and of POSIX classes. For
    tools that compiled: ``work`` are the limits and the ``CancelToken`` under which they did.
    """
    if tells_of_slips(len(tools)):
        for place, schema in enforced_schemas(tools, strict):
            tell_of_slips_in(schema, place, **work)


def enforced_schemas(tools: Iterable[Tool], strict: bool | None) -> list[tuple[str, Any]]:
    """The parameters that are a schema which holds, each behind its place among the tools."""
    return [(tool.place, tool.parameters) for tool in _enforced(tools, strict)]


def tell_of_slips_in(schema: Any, place: str, **work: Any) -> None:
    """Tell of the slips in a schema that stands at ``place`` of what a caller passed. It compiled already, so it is
    checked as a whole only where its text says that there may be some.
    """
    text = _text(schema)
    try:
        if isinstance(text, str) and "[:" not in text and not _may_have_slips(text):
            return
        rows = report_of(schema, **work)
    except CancelledError:
        raise
    except (InterlockError, TypeError, ValueError):
        return  # What the notation takes, and a whole document would not.
    warn_of_slips(rows, text if isinstance(text, str) else "", place)
    warn_of_patterns(schema, place)


def report_of(schema: Any, **work: Any) -> list[ReportRow]:
    """The report of a schema, without a word about slips."""
    with quiet():
        return check_json_schema(_text(schema), **work)


def _enforced(tools: Iterable[Tool], strict: bool | None) -> Iterator[Tool]:
    """The tools whose parameters are a schema that holds."""
    for tool in tools:
        is_enforced = strict if strict is not None else tool.is_strict is not False
        if is_enforced and tool.input is None and not isinstance(tool.parameters, bool):
            yield tool


def _text(schema: Any) -> Any:
    """The schema as text, where it can be written."""
    try:
        return json.dumps(schema, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return schema
