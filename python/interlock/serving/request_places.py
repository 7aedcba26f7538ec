"""Where in the body of a request an error lies, for errors that know no place of their own."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from interlock._core import ArgumentError, BudgetError, InterlockError
from interlock.tools.errors import RequestError, remade
from interlock.tools.requests.request_body import format_of_request
from interlock.tools.requests.response_format import request_kind
from interlock.util.client_messages import with_hint, without_hint
from interlock.util.long_numbers import said_of_digits

__all__ = ["in_stop_token_ids", "place_of_format", "place_of_source", "placed", "standing_in_body"]

E = TypeVar("E", bound=BaseException)


def place_of_format(asked: Mapping[str, Any] | None) -> str:
    """The field of a body that ``format_of_request`` took its constraint from.

    >>> place_of_format({"text": {"format": {}}}), place_of_format({"guided_json": {}})
    ('/text/format', '/guided_json')
    """
    name = next(iter(asked or {}), "")
    return "/text/format" if name == "text" else f"/{name}" if name else ""


def place_of_source(body: Any) -> str:
    """The field of a body that its index is of; ``""`` for a body that asks for nothing, or cannot be read.

    >>> place_of_source({"guided_json": {}}), place_of_source({"guided_json": {}, "tools": [{"name": "now"}]})
    ('/guided_json', '/tools')
    """
    try:
        asked = format_of_request(body)
        kind = request_kind(asked, body.get("tools"), body.get("tool_choice"))
    except Exception:  # Whatever is wrong with the body, it is answered where an error is answered already.
        return ""
    return "/tools" if kind == "tools" else place_of_format(asked)


def placed(error: E, place: str) -> E | InterlockError:
    """The error at ``place``, where it is a client's and has no place. A budget has a field of its own.

    >>> from interlock import LimitError
    >>> str(placed(LimitError("too many steps"), "/guided_grammar")), placed(KeyError(1), "/guided_grammar")
    ('at /guided_grammar: too many steps', KeyError(1))
    """
    if not place or not isinstance(error, InterlockError) or isinstance(error, BudgetError):
        return error
    if getattr(error, "pointer", None) or not error.is_client_error:
        return error
    moved: InterlockError = (
        type(error)(error.reason, place, code=error.code, subject=error.subject)
        if isinstance(error, RequestError)
        else remade(error, f"at {place}: {without_hint(error)}", place)
    )
    return moved if error.hint is None else with_hint(moved, error.hint)


@contextlib.contextmanager
def standing_in_body(place: str) -> Iterator[None]:
    """A client's errors without a place are at ``place``, see ``placed``."""
    try:
        yield
    except InterlockError as error:
        moved = placed(error, place)
        if moved is error:
            raise
        raise moved from error
    except ValueError as error:
        if not (said := said_of_digits(error)):
            raise
        raise RequestError(said, place) from error


@contextlib.contextmanager
def in_stop_token_ids(ids: Sequence[int]) -> Iterator[None]:
    """``RequestError`` for the token of a request that cannot be a stop token of its output."""
    try:
        yield
    except ArgumentError as error:
        said = without_hint(error)
        found = re.match(r"stop token id (\d+)", said)
        if found is None or int(found[1]) not in ids:
            raise
        raise RequestError(said, f"/stop_token_ids/{ids.index(int(found[1]))}") from error
