"""What a request's schemas say and an output is not held to exactly, with the places in the request."""

from __future__ import annotations

import dataclasses
from typing import Any

from interlock._core import CancelledError, InterlockError, ReportRow, _restore_report_row
from interlock.tools import spec
from interlock.tools.requests.answer_format import PLACE
from interlock.tools.requests.parameter_checks import enforced_schemas, report_of
from interlock.tools.requests.request_body import is_of_body
from interlock.tools.requests.response_format import source_at
from interlock.tools.requests.tool_list import tools_of
from interlock.tools.tags.tag_slips import schemas_in
from interlock.util.argument_types import require

__all__ = ["request_report"]

_OF_A_DOCUMENT = ("whitespace", "property_order", "numbers")
"""Rows at the root of a document that say how it is written. Calls and tags write in ways of their own."""


def request_report(
    response_format: Any = None,
    tools: Any = None,
    *,
    strict: bool | None = None,
    limits: Any = None,
    cancel: Any = None,
) -> list[ReportRow]:
    """The rows that ``Index.report`` has of a schema, for every schema in a request: those of its tools, of its
    ``response_format``, and those inside a structural tag. ``Index.report`` is empty for tools and tags, since their
    indexes are made of grammars.

    ``pointer`` leads into a request with the fields ``tools`` and ``response_format``, or into the body where
    ``response_format`` is what ``format_of_request`` returned. ``strict`` is that of ``Index.from_tools``. A schema
    that only the notation of a tool format takes has no rows. About as long as the checks of the schemas take.

    >>> parameters = {"type": "object", "properties": {"when": {"type": "string", "format": "dat"}}}
    >>> for row in request_report(tools=[{"name": "now", "parameters": parameters}]):
    ...     print(row.pointer, row.keyword, row.enforcement)
    /tools/0/parameters/properties/when format annotation
    """
    require(strict=(strict, "flag?"), limits=(limits, "limits?"), cancel=(cancel, "cancel?"))
    found = [] if tools is None else enforced_schemas(tools_of(tools), strict)
    asked = source_at(response_format, "" if is_of_body(response_format) else PLACE)
    if asked.kind == "structural_tag":
        tag = dataclasses.replace(spec.read(asked.value), written=asked.tag_form)
        found += [(asked.place + tag.place_as_written(at), schema) for at, schema in schemas_in(tag)]
    elif asked.kind == "json_schema":
        found.append((asked.place, asked.value))
    rows: list[ReportRow] = []
    for place, schema in found:
        is_document = asked.kind == "json_schema" and not tools
        try:
            inner = report_of(schema, limits=limits, cancel=cancel)
        except CancelledError:
            raise
        except InterlockError:
            continue
        rows += (
            _restore_report_row(place + row.pointer, row.keyword, row.enforcement, row.reason)
            for row in inner
            if is_document or row.pointer or row.keyword not in _OF_A_DOCUMENT
        )
    return rows
