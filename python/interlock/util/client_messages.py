"""``InterlockError.client_message`` and ``client_line``: what a server may send to the client that sent a source.

The message of an error is for the program that calls this package: it may end with a *hint*, what that program can do,
in names of the package. A client knows the source that it sent, and none of these names.
"""

from __future__ import annotations

import re
from typing import TypeVar

from interlock._core import (
    ArgumentError,
    ArtifactError,
    CancelledError,
    GuideBusyError,
    InterlockError,
    InternalError,
    PatternError,
    TokenRejected,
    VocabularyError,
)
from interlock.util.long_numbers import in_words_of_clients

__all__ = ["attach", "of_closing", "of_program", "with_hint", "without_hint"]

OF_SERVER = "internal error of the server"
"""What a client is told where neither its source nor its request is at fault."""
TOO_LITTLE_MEMORY = "too_little_memory"
"""``error.code`` where all sources of the process hold more memory than they may, and one that took much is refused."""
CLOSED = "closed"
"""``error.code`` where a ``RequestCompiler`` was closed: its server shuts down."""
_BUSY = "the server has too little memory for this source now: send the request again later"

_OF_PROGRAMS = re.compile(
    r"(allowed_tokens|unknown_keywords|on_unsupported|property_order|formats|lexer|dialect|bits|logits|rows?|batch|"
    r"(?:\d+ )?guides?|parents|device|vocabulary|threads|max_states|whitespace|spelling|syntax|limits|seconds|"
    r"max_bytes|on_failure|cannot roll back)\b"
)
"""How the message of an ``ArgumentError`` begins that is about an argument which no client gives."""

_OF_BATCH = re.compile(r"guide \d+ of the batch: ")
"""How the message of an error begins that one guide of a batch raised: a client knows no batch."""

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
    # Behind an excerpt, a line of its own, as in the core.
    mark = "\n" if "\n" in message else "; "
    error.args = (f"{message}{mark}{hint}", *error.args[1:])
    error.__dict__.update(hint=hint, _client_message=message)
    return error


def of_program(error: E) -> E:
    """``error`` as one for which no client is to blame, but the program that calls this package.

    >>> from interlock import LimitError
    >>> of_program(LimitError("too many states")).is_client_error
    False
    """
    error.__dict__["is_of_server"] = True
    return error


def of_closing(error: E) -> E:
    """``error`` as one of a server that shuts down: ``interlock.refusal`` answers 503, and no client is to blame."""
    error.code = CLOSED
    return of_program(error)


def without_hint(error: InterlockError) -> str:
    """The message without ``hint``, whoever is at fault: for the program, and for messages that are made of it."""
    said: str | None = error.__dict__.get("_client_message")
    return str(error) if said is None else said


def _is_of_server(error: InterlockError) -> bool:
    """Whether the message speaks of files, of the vocabulary or of the set-up, which are no client's business."""
    if isinstance(error, VocabularyError):
        # One with a place is about a token that the client's source names.
        return not error.place and getattr(error, "pointer", None) is None
    if isinstance(error, ArgumentError) and _OF_PROGRAMS.match(str(error)):
        return True
    return isinstance(error, ArtifactError | InternalError) or getattr(error, "is_of_server", False)


def _is_client_error(self: InterlockError) -> bool:
    """Whether what a client sent is at fault, so that a server answers 400. Otherwise it answers 500, 504 for a
    ``CancelledError`` whose deadline has passed, and 503 where ``code`` is ``"too_little_memory"`` or ``"closed"``.

    >>> import interlock
    >>> interlock.SchemaError("no schema").is_client_error, interlock.ArtifactError("no store").is_client_error
    (True, False)
    """
    if self.code == TOO_LITTLE_MEMORY:
        return False
    return not (_is_of_server(self) or isinstance(self, CancelledError | GuideBusyError | TokenRejected))


def _client_message(self: InterlockError) -> str:
    """The message without ``hint``: what is wrong and where, in words of the source. Servers may send it to
    clients. At most about a thousand characters; control characters are escaped, but for line ends. Of an error in
    files, in the vocabulary or in the set-up of the server it is ``"internal error of the server"``. Of a pattern
    that cannot be read it says what to write instead, as the message does.
    """
    if self.code == TOO_LITTLE_MEMORY:
        return _BUSY
    if _is_of_server(self):
        return OF_SERVER
    # Who wrote a pattern, client or program, reads what to write in its place.
    said = str(self) if isinstance(self, PatternError) else without_hint(self)
    return in_words_of_clients(said if self.batch_index is None else _OF_BATCH.sub("", said, count=1))


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


def _is_deadline(self: CancelledError) -> bool:
    """Whether a deadline of ``CancelToken.after`` has passed. Otherwise somebody called ``CancelToken.cancel``.

    >>> import interlock
    >>> try:
    ...     interlock.check_regex("a", cancel=interlock.CancelToken.after(0))
    ... except interlock.CancelledError as error:
    ...     print(error.is_deadline)
    True
    """
    # The core has one error for both, and says in words which of them it was.
    return "deadline" in str(self)


def attach() -> None:
    """Give all errors of the package the properties ``client_message``, ``client_line`` and ``is_client_error``, and
    ``CancelledError`` its ``is_deadline``, as the stubs say.
    """
    CancelledError.is_deadline = property(_is_deadline)  # type: ignore[method-assign, assignment]
    InterlockError.is_client_error = property(_is_client_error)  # type: ignore[method-assign, assignment]
    InterlockError.client_message = property(_client_message)  # type: ignore[method-assign, assignment]
    InterlockError.client_line = property(_client_line)  # type: ignore[method-assign, assignment]
