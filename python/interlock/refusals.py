"""What a server answers where a request is refused: an HTTP status and a text, whatever exception came.

``Index.from_response_format`` and its like raise errors of this package for all that a client can send. Around them a
server meets more: Python's stack or memory runs out, a deadline passes, the server itself has a fault. Here is one
answer for each, so that nothing of the inside gets out.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from interlock._core import ArgumentError, BudgetError, CancelledError, InterlockError, LimitError, PatternError
from interlock.util.argument_types import require
from interlock.util.client_messages import CLOSED, OF_SERVER, TOO_LITTLE_MEMORY
from interlock.util.long_numbers import said_of_digits

__all__ = ["Refusal", "refusal"]

# A source of a wrong Python type is a plain ``TypeError`` that begins so. Its other words are of Python.
_WRONG_TYPE = re.compile(r"(schema|pattern|grammar|choices) must be ")
# The numbers of tokens in the message of a ``BudgetError``: the budget, and what an output needs.
_BUDGETS = re.compile(r"\b(max_tokens is |needs )(\d+)\b( tokens?\b)?")
# Names of places grow with the depth of a schema, and not with its length.
_OF_DEPTH = "bytes of JSON Pointers exceeds its limit"
_MOST_OF_PLACE = 1_000
"""Characters of a place in an answer."""
_TYPES = {
    "schema": "a schema is a JSON object or a boolean",
    "pattern": "a pattern is a text",
    "grammar": "a grammar is a text",
    "choices": "choices are a list of texts",
}


@dataclass(frozen=True)
class Refusal:
    """The answer to a request that is refused."""

    status: int
    """An HTTP status: 400, 413 or 499 where the client is the cause, 500, 503 or 504 where it is not."""
    message: str
    """What to tell the client, in words of its request; of 500, ``"internal error of the server"``."""
    reason: str
    """One word for metrics, that of ``interlock.integrations.metrics.refusal_reason``; of Python's own errors for a
    body that cannot be read it is ``"request"``, or ``"limit"`` where that is nested too deeply."""
    place: str | None = field(default=None, repr=False)
    """Where the request is at fault, as a JSON Pointer; ``None`` where no place is known. Of a ``BudgetError`` it
    is the field ``budget``. Of a place of more than a thousand characters it is the field of the request alone."""
    code: str | None = field(default=None, repr=False)
    """``error.code``, where the error has one."""

    @property
    def body(self) -> dict[str, Any]:
        """The JSON object of the answer, as OpenAI's interface has it. ``param`` is ``place``, and ``code`` is the code
        of the error or, where it has none, ``reason``.

        >>> Refusal(400, "no", "request", "/tools").body
        {'error': {'message': 'no', 'type': 'invalid_request_error', 'param': '/tools', 'code': 'request'}}
        """
        kind = "server_error" if self.status >= 500 else "invalid_request_error"
        code = self.reason if self.code is None else self.code
        return {"error": {"message": self.message, "type": kind, "param": self.place or None, "code": code}}

    @property
    def headers(self) -> dict[str, str]:
        """Headers of the answer: 503 says when to ask again.

        >>> Refusal(503, "busy", "limit").headers, Refusal(400, "no", "request").headers
        ({'Retry-After': '1'}, {})
        """
        return {"Retry-After": "1"} if self.status == 503 else {}

    @property
    def is_of_server(self) -> bool:
        """Whether the server is at fault: log the exception then, because ``message`` says nothing of it."""
        return self.status == 500


def refusal(error: BaseException, stop_tokens: int = 0, budget: str = "max_tokens") -> Refusal:
    """What a server answers a client whose request raised ``error``, whatever exception that is.

    * 400: the request is at fault. ``message`` is ``error.client_message``. A body that is no JSON or no UTF-8, or
      has a number of too many digits, is such a request: parse it inside the same ``try``.
    * 413: a source is longer than ``Limits.max_source_bytes``, or a body than ``parse_body`` takes. A source that is
      shorter, and nested so deeply that the names of its places are longer, is 400.
    * 499: the request's ``CancelToken`` or its task was cancelled (``asyncio.CancelledError``), because the client has
      gone: nobody reads the answer.
    * 503: all sources together hold more memory than they may, and this one took much of it (``error.code`` is
      ``"too_little_memory"``); Python ran out of memory (``MemoryError``); or the ``RequestCompiler`` is closed
      (``error.code`` and ``reason`` are ``"closed"``). Where the core gets no memory, the process ends, and nothing is
      answered.
    * 504: a deadline has passed (``CancelToken.after``, ``TimeoutError``).
    * 500: anything else. ``message`` says nothing of it; log the exception.

    ``stop_tokens`` is how many tokens of the client's number the server kept for the end, and did not give to the
    guide: 1 where the stop token counts. Numbers in the message of a ``BudgetError`` are then the client's. ``budget``
    is what the client's request calls this number, such as ``"max_completion_tokens"``: the message says so.

    >>> import interlock
    >>> try:
    ...     interlock.check_json_schema({"type": "strnig"})
    ... except Exception as error:
    ...     answer = interlock.refusal(error)
    >>> answer.status, answer.reason
    (400, 'schema')
    >>> interlock.refusal(KeyError("response_format"))
    Refusal(status=500, message='internal error of the server', reason='internal')
    """
    from interlock.integrations.metrics import refusal_reason

    require(error=(error, "exception"), stop_tokens=(stop_tokens, "count"), budget=(budget, "text"))
    if stop_tokens < 0:
        raise ArgumentError(f"stop_tokens cannot be negative: {stop_tokens}")
    reason = refusal_reason(error)
    if reason == CLOSED:
        return Refusal(503, "the server is shutting down: send the request again", reason, None, CLOSED)
    if isinstance(error, CancelledError):
        return Refusal(504 if reason == "deadline" else 499, error.client_message, reason)
    if reason == "cancelled":  # By asyncio.
        return Refusal(499, "the request was cancelled", reason)
    if isinstance(error, InterlockError):
        if error.code == TOO_LITTLE_MEMORY:
            return Refusal(503, error.client_message, reason, None, error.code)
        if not error.is_client_error:
            return Refusal(500, OF_SERVER, reason)
        is_long = isinstance(error, LimitError) and error.field == "max_source_bytes" or error.code == "body_too_long"
        message = error.client_message
        if is_long and _OF_DEPTH in str(error):
            is_long, message = False, message.replace("make it shorter", "nest it less deeply, or shorten its keys")
        if isinstance(error, BudgetError):
            message = _BUDGETS.sub(lambda found: _counting(found, stop_tokens), message)
            message = message.replace("max_tokens is ", f"{budget} is ", 1)
        place = f"/{budget}" if isinstance(error, BudgetError) else _fitted(_place_of(error))
        return Refusal(413 if is_long else 400, message, reason, place, error.code)
    if isinstance(error, json.JSONDecodeError):
        return Refusal(400, f"the request is no JSON: {error}", "request")
    if isinstance(error, UnicodeDecodeError):
        return Refusal(400, "the request is no text in UTF-8", "request")
    if said := said_of_digits(error):
        return Refusal(400, f"the request cannot be read: {said}", "request")
    if isinstance(error, RecursionError):
        return Refusal(400, "the request is nested too deeply to be read", "limit")
    if isinstance(error, MemoryError):
        return Refusal(503, "the server has no memory for this request", "memory")
    if isinstance(error, TimeoutError):
        return Refusal(504, "the request took too long", "deadline")
    if isinstance(error, TypeError) and (found := _WRONG_TYPE.match(str(error))) is not None:
        return Refusal(400, _TYPES[found[1]], "argument")
    return Refusal(500, OF_SERVER, reason)


def _place_of(error: InterlockError) -> str | None:
    """Where ``error`` leads; of a pattern in a schema to the pattern, and not to the schema that holds it."""
    if isinstance(error, PatternError) and error.pointer is not None and error.keyword:
        return f"{error.pointer}/{error.keyword}"
    return error.pointer


def _fitted(place: str | None) -> str | None:
    """A place that can be sent: without halves of surrogate pairs, which are no text, and not longer than a message. Of
    a longer one the field of the request stays.
    """
    if place is None or len(place) > _MOST_OF_PLACE:
        place = "/" + (place or "/").split("/")[1]
    place = place.encode("utf-8", "backslashreplace").decode()
    return place if 1 < len(place) <= _MOST_OF_PLACE else None


def _counting(found: re.Match[str], stop_tokens: int) -> str:
    """A number of tokens in a message, with the stop tokens that the client counts too."""
    number = int(found[2]) + stop_tokens
    noun = "" if found[3] is None else " token" if number == 1 else " tokens"
    return f"{found[1]}{number}{noun}"
