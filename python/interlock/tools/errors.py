"""What is raised where a tool format, a structural tag or a request's tools are not well formed."""

from __future__ import annotations

import contextlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

from interlock._core import (
    GrammarError,
    InterlockError,
    LimitError,
    PatternError,
    SchemaError,
    UnsatisfiableError,
    UnsupportedError,
    VocabularyError,
)
from interlock.schema_hints import schema_at
from interlock.util.client_messages import with_hint, without_hint

__all__ = [
    "RequestError",
    "StructuralTagError",
    "ToolFormatError",
    "message_at",
    "remade",
    "said_at",
    "standing_at",
    "with_place",
    "with_places",
]


MOST = 1_000
"""Characters of a reason in a message."""
MOST_QUOTED = 256
"""Characters of a pointer in a message."""


def _fitted(text: str, most: int, kept: str = "\n") -> str:
    """``text`` without control characters but ``kept``, and cut in the middle where it is too long: clients wrote parts
    of it, and it goes to logs.

    >>> _fitted("a" * 2_000, 20), _fitted("a\\n\\x1b[31m", 20, "")
    ('aaaaaaaaaaaaa...aaaaaa', 'a\\\\n\\\\u001b[31m')
    """
    if len(text) > most:
        text = text[: most * 2 // 3] + "..." + text[-(most // 3) :]
    if text.isprintable():
        return text
    moves = ("Cc", "Cf", "Cs", "Zl", "Zp")
    return "".join(c if c in kept or unicodedata.category(c) not in moves else json.dumps(c)[1:-1] for c in text)


def said_at(pointer: str, reason: str) -> str:
    """The message of an error whose ``reason`` and ``pointer`` may hold what a client wrote.

    >>> said_at("/guided_json", "it is no schema")
    'at /guided_json: it is no schema'
    """
    said = _fitted(reason, MOST)
    return f"at {_fitted(pointer, MOST_QUOTED, '')}: {said}" if pointer else said


def message_at(error: InterlockError, place: str) -> str:
    """The first line of the message of ``error``, whose schema or grammar stands at ``place``: without its own place,
    which the new one replaces, and with the new one in front of the places that it speaks of.
    """
    message = without_hint(error).split("\n")[0].removesuffix(f" ({error.place})" if error.place else "")
    if error.keyword and error.keyword not in message:
        message += f" (keyword {error.keyword})"
    return with_places(message, lambda inner: place + inner)


def with_places(message: str, moved: Callable[[str], str]) -> str:
    """``message`` with another place for each that it speaks of, as in ``const 1 (at "/allOf/0")``.

    >>> with_places('const 1 (at "/allOf/0") contradicts const 2 (at "/allOf/1")', lambda place: "/a" + place)
    'const 1 (at "/a/allOf/0") contradicts const 2 (at "/a/allOf/1")'
    """
    return re.sub(r'\(at (?:"(/[^"]*)"|the root)', lambda found: f'(at "{moved(found[1] or "")}"', message)


def remade(error: InterlockError, message: str, place: str) -> InterlockError:
    """An error of the same class with another message and another place, and what else ``error`` carries but its hint,
    which ``with_hint`` writes into a message.
    """
    made = type(error)(message)
    own = {name: value for name, value in error.__dict__.items() if name not in ("hint", "_client_message")}
    made.__dict__.update(own, pointer=place)
    return made


@contextlib.contextmanager
def standing_at(place: str, whitespace_place: str = "") -> Iterator[None]:
    """Errors and warnings of a source that is compiled meanwhile, and stands at ``place`` of what a caller passed, name
    places from the root of that. Those that are of no source stay what they are; those of a pattern of white space name
    ``whitespace_place``.

    >>> from interlock import SchemaError, check_json_schema
    >>> try:
    ...     with standing_at("/json_schema/schema"):
    ...         check_json_schema({"items": {"minLength": -1}})
    ... except SchemaError as error:
    ...     print(error)
    at /json_schema/schema/items: a whole number that is not negative is expected (keyword minLength)
    """
    try:
        with schema_at(place):
            yield
    except InterlockError as error:
        if whitespace_place and error.code == "whitespace_pattern":
            moved = remade(error, f"at {whitespace_place}: {without_hint(error)}", whitespace_place)
            raise (moved if error.hint is None else with_hint(moved, error.hint)) from error
        if not place or not _is_of_source(error) or _is_below(error.pointer or "", place):
            raise
        raise _from_root(error, place) from error


def _is_below(pointer: str, place: str) -> bool:
    """Whether a JSON Pointer leads to ``place`` or into it. ``/a`` is no part of ``/abc``."""
    return pointer == place or pointer.startswith(f"{place}/")


def _is_of_source(error: InterlockError) -> bool:
    """Whether an error speaks of what a client sent, and not of the vocabulary or of an option beside the source."""
    if isinstance(error, VocabularyError):
        return bool(error.place or error.pointer)
    of_sources = RequestError | SchemaError | PatternError | GrammarError
    refused = UnsatisfiableError | UnsupportedError | LimitError
    return isinstance(error, of_sources | refused) and error.code != "whitespace_pattern"


def _from_root(error: InterlockError, place: str) -> InterlockError:
    whole = place + (error.pointer or "")
    if isinstance(error, RequestError):
        moved: InterlockError = type(error)(error.reason, whole, code=error.code, subject=error.subject)
        return moved if error.hint is None else with_hint(moved, error.hint)
    said, line_end, excerpt = without_hint(error).partition("\n")
    said = said.removeprefix(f"at {error.pointer}: ")
    if error.pointer is not None and error.place:
        said = said.removesuffix(f" ({error.place})")
        if error.keyword and error.keyword not in said:
            said += f" (keyword {error.keyword})"
    shown = _fitted(whole, MOST_QUOTED, "")
    message = f"at {shown}: {with_places(said, lambda inner: place + inner)}{line_end}{excerpt}"
    moved = remade(error, message, whole)
    if error.offset is None:
        moved.place = f'at "{shown}"' + (f', keyword "{error.keyword}"' if error.keyword else "")
    return moved if error.hint is None else with_hint(moved, error.hint)


def with_place(error: InterlockError, place: str, moved: Callable[[str], str]) -> InterlockError:
    """``error`` with another place than its ``pointer``, and with others for each that its message speaks of."""
    if isinstance(error, RequestError):
        reason = with_places(error.reason, moved)
        found: InterlockError = type(error)(reason, place, code=error.code, subject=error.subject)
    else:
        said = without_hint(error).replace(f"at {error.pointer}: ", f"at {place}: " if place else "", 1)
        found = remade(error, with_places(said, moved), place)
    return found if error.hint is None else with_hint(found, error.hint)


class RequestError(InterlockError, ValueError):
    """A ``response_format``, a list of tools, a ``tool_choice`` or another field of a request is not well formed.
    ``pointer`` says where.

    >>> from interlock.tools import response_format
    >>> try:
    ...     response_format({"guided_regex": 5})
    ... except RequestError as error:
    ...     print(error.pointer, "|", error)
    /guided_regex | at /guided_regex: a text is needed, not a number
    """

    __module__ = "interlock"  # Where programs find it, as tracebacks should say.

    pointer: str
    """JSON Pointer into what was given; ``""`` is the whole of it. Where tools are compiled it leads into the request:
    ``/tools/0/function/parameters``, ``/tool_choice``, ``/response_format``."""
    reason: str
    """What is wrong there, without the place."""

    def __init__(self, reason: str, pointer: str = "", *, code: str | None = None, subject: str | None = None) -> None:
        super().__init__(said_at(pointer, reason))
        self.reason = reason
        self.pointer = pointer
        if code is not None:
            self.code, self.subject = code, subject

    def __reduce__(self) -> tuple[type[RequestError], tuple[str, str], dict[str, Any]]:
        return type(self), (self.reason, self.pointer), {**self.__dict__, "args": self.args}


class StructuralTagError(RequestError):
    """A structural tag is not well formed, or names a token that it may not name. ``pointer`` says where.

    >>> from interlock.tools import spec
    >>> try:
    ...     spec.read({"type": "structural_tag", "format": {"type": "sequence", "elements": []}})
    ... except StructuralTagError as error:
    ...     print(error.pointer, "|", error)
    /format/elements | at /format/elements: a sequence needs at least one element
    """

    __module__ = "interlock"  # Where programs find it, as tracebacks should say.


class ToolFormatError(InterlockError, ValueError):
    """A file of a tool format is not well formed, no format has this name, or a call cannot be written in a format.

    >>> from interlock.tools import tool_format
    >>> try:
    ...     tool_format("hermse")
    ... except ToolFormatError as error:
    ...     print(str(error).partition(" interlock")[0])
    no tool format has the name 'hermse': did you mean 'hermes'?
    """

    __module__ = "interlock"  # Where programs find it, as tracebacks should say.

    is_of_server = True
    """The server names the format, and no client does: see ``client_message``."""
