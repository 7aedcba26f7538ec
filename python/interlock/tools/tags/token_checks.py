"""Special tokens in what a client sent, which a request may not name, or may not have in a name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from interlock._core import CancelToken, Vocabulary
from interlock.tools.errors import RequestError, StructuralTagError
from interlock.tools.requests.tool_list import GRAMMARS, Tool, tools_of
from interlock.tools.tag_grammars.rule_writer import any_of
from interlock.tools.tokens.allowed_tokens import AllowedNames, AllowedTokens, special_names
from interlock.tools.tokens.allowed_tokens import allowed_tokens as known_tokens
from interlock.util.client_messages import with_hint

__all__ = [
    "check_grammar_tokens",
    "check_names_in_tools",
    "check_tokens_of_tools",
    "refuse_names_of_tokens",
]


def refuse_names_of_tokens(tools: Any, vocabulary: Vocabulary) -> None:
    """``RequestError`` for a tool whose name holds a special token, where special tokens in delimiters are tokens."""
    special = any_of(tuple(special_names(vocabulary)))
    for tool in tools_of(tools):
        if special is not None and (found := special.search(tool.name)) is not None:
            raise RequestError(f"the name {tool.name!r} contains the special token {found[0]!r}", tool.name_place)


def check_grammar_tokens(
    grammar: str,
    syntax: str,
    vocabulary: Vocabulary,
    allowed: Iterable[int | str] | None,
    cancel: CancelToken | None = None,
) -> None:
    """``StructuralTagError`` for a special token in a client's grammar that is not ``allowed``; ``None`` is any."""
    if allowed is not None:
        known_tokens(tuple(allowed), vocabulary).check_grammar(grammar, syntax, "", cancel)


def check_tokens_of_tools(tools: Sequence[Tool], vocabulary: Vocabulary, allowed: Iterable[int | str] | None) -> None:
    """``RequestError`` for a special token in the grammar of a custom tool or of an answer that is not ``allowed``.
    What the tool format writes itself is no client's.
    """
    if allowed is not None and any(tool.input is not None for tool in tools):
        check_names_in_tools(tools, known_tokens(tuple(allowed), vocabulary))


def check_names_in_tools(tools: Iterable[Tool], allowed: AllowedTokens | AllowedNames) -> None:
    """``RequestError`` for a special token in the grammar of a custom tool or of an answer that is not ``allowed``."""
    for tool in tools:
        if tool.input is not None and tool.input[0] in GRAMMARS:
            try:
                allowed.check_grammar(tool.input[1], tool.input[0], "")
            except StructuralTagError as error:
                raise with_hint(RequestError(error.reason, tool.place), error.hint or "") from error
