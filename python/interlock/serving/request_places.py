"""Where in the body of a request an error lies, for errors that know no place of their own."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from interlock._core import ArgumentError, BudgetError, InterlockError
from interlock.tools.errors import RequestError, remade
from interlock.util.client_messages import with_hint, without_hint
from interlock.util.long_numbers import said_of_digits

__all__ = ["in_stop_token_ids", "place_of_format", "standing_in_body"]


def place_of_format(asked: Mapping[str, Any] | None) -> str:
    """The field of a body that ``format_of_request`` took its constraint from.

    >>> place_of_format({"text": {"format": {}}}), place_of_format({"guided_json": {}})
    ('/text/format', '/guided_json')
    """
    name = next(iter(asked or {}), "")
    return "/text/format" if name == "text" else f"/{name}" if name else ""


@contextlib.contextmanager
def standing_in_body(place: str) -> Iterator[None]:
    """A client's errors without a place are at ``place``. A budget has a field of its own."""
    try:
        yield
    except InterlockError as error:
        if not place or getattr(error, "pointer", None) or isinstance(error, BudgetError) or not error.is_client_error:
            raise
        said = without_hint(error)
        moved: InterlockError = (
            type(error)(error.reason, place, code=error.code, subject=error.subject)
            if isinstance(error, RequestError)
            else remade(error, f"at {place}: {said}", place)
        )
        raise (moved if error.hint is None else with_hint(moved, error.hint)) from error
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
