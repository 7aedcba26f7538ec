"""Checks of what a server decides once: a setting that makes no sense is refused before the first request comes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from interlock._core import (
    ArgumentError,
    Index,
    LimitError,
    Limits,
    UnsatisfiableError,
    Vocabulary,
    VocabularyError,
    _restore_limits,
    check_regex,
)
from interlock.tools.errors import RequestError
from interlock.tools.tokens.allowed_tokens import AllowedTokens, special_names
from interlock.util.client_messages import without_hint

__all__ = ["check_format", "checked_allowed_tokens", "checked_limits"]

_TOOL = {"name": "f", "parameters": {"type": "object", "properties": {}, "additionalProperties": False}}
"""A tool that every format can write."""

_OF_STRANGERS = {
    "max_source_bytes": 1 << 20,
    "max_compile_steps": 750_000,
    "max_mask_steps": 500_000,
    "max_scanner_bytes": 64 << 20,
}
"""What sources of strangers may take."""


def checked_limits(limits: Limits | Mapping[str, int] | None) -> Limits:
    """The limits of a server: 1 MiB for a source, a third of the usual steps for its compile, and half of those for
    the masks of a grammar and of the bytes for its states, where a mapping says nothing of them; a ``Limits`` is taken
    as it is.

    ``TypeError`` for a name that no limit has and for what is no number, ``ArgumentError`` for a negative number and
    for limits under which nothing can be compiled.

    >>> checked_limits({"max_source_bytes": 9}).max_source_bytes, checked_limits({"max_depth": 9}).max_source_bytes
    (9, 1048576)
    """
    found = limits if isinstance(limits, Limits) else _restore_limits(_OF_STRANGERS | dict(limits or {}))
    try:
        check_regex("a", limits=found)
    except LimitError as error:
        raise ArgumentError(f"limits refuse every request: {without_hint(error)}") from error
    return found


def checked_allowed_tokens(
    tokens: Iterable[int | str] | None, vocabulary: Vocabulary
) -> list[int | str] | Literal["all"] | None:
    """The special tokens that clients may name, as a list. An empty one allows none. ``ArgumentError`` for what is no
    special token of the vocabulary.
    """
    if tokens is None or tokens == "all":
        return None if tokens is None else "all"
    kept = list(tokens)
    AllowedTokens(kept, vocabulary, special_names(vocabulary))
    return kept


def check_format(vocabulary: Vocabulary, **options: Any) -> None:
    """Compile one tool as the requests of clients are compiled. ``ArgumentError`` for reasoning that the format has not
    and for limits under which no tool can be compiled, ``VocabularyError`` for a format that the tokens cannot spell.
    """
    try:
        Index.from_tools([_TOOL], vocabulary, **options)
    except LimitError as error:
        raise ArgumentError(f"limits refuse every request with tools: {without_hint(error)}") from error
    except RequestError as error:
        raise ArgumentError(error.reason) from error
    except UnsatisfiableError as error:  # Nothing but the tokens can be the cause.
        raise VocabularyError(f"the tokens cannot spell the format: {without_hint(error)}") from error
