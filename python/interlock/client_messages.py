"""``InterlockError.client_message`` and ``client_line``: what a server may send to the client that sent a source.

The message of an error is for the program that calls this package: it may end with a *hint*, what that program can do,
in names of the package. A client knows the source that it sent, and none of these names.
"""

from __future__ import annotations

from typing import TypeVar

from interlock._core import InterlockError

__all__ = ["attach", "with_hint"]

E = TypeVar("E", bound=InterlockError)


def with_hint(error: E, hint: str) -> E:
    """``error`` with ``hint`` behind its message, and with a client's message that does without.

    >>> from interlock import SchemaError
    >>> error = with_hint(SchemaError("the schema is too large"), "Limits.max_source_bytes sets the limit")
    >>> print(error)
    the schema is too large; Limits.max_source_bytes sets the limit
    >>> error.client_message
    'the schema is too large'
    """
    message = str(error)
    error.args = (f"{message}; {hint}", *error.args[1:])
    error.__dict__.update(hint=hint, _client_message=message)
    return error


def _client_message(self: InterlockError) -> str:
    """The message without ``hint``: what is wrong and where, in words of the source. Servers may send it to
    clients. At most about a thousand characters; control characters are escaped, but for line ends.
    """
    said: str | None = self.__dict__.get("_client_message")
    return str(self) if said is None else said


def _client_line(self: InterlockError) -> str:
    """``client_message`` in one line, without the excerpt of a pattern or grammar that it may show below: for logs.

    >>> import interlock
    >>> try:
    ...     interlock.check_regex("a(b")
    ... except interlock.PatternError as error:
    ...     print(error.client_line)
    missing ), unterminated subpattern (at offset 1)
    """
    return _client_message(self).split("\n", 1)[0]


def attach() -> None:
    """Give all errors of the package the properties ``client_message`` and ``client_line``, as the stubs say."""
    InterlockError.client_message = property(_client_message)  # type: ignore[method-assign, assignment]
    InterlockError.client_line = property(_client_line)  # type: ignore[method-assign, assignment]
