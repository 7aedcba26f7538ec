"""Which special tokens a request may name: clients of a server must not write the tokens of roles and turns."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NoReturn

from interlock._core import ArgumentError, CancelToken, Vocabulary
from interlock.integrations.role_tokens import ENDS_OF_TURNS, ROLE_TOKENS
from interlock.tools.errors import StructuralTagError
from interlock.tools.tokens.named_tokens import named_tokens
from interlock.util.client_messages import with_hint

__all__ = ["AllowedNames", "AllowedTokens", "allowed_names", "allowed_tokens", "special_ids", "special_names"]


@functools.lru_cache(maxsize=2)
def special_names(vocabulary: Vocabulary) -> Mapping[str, int]:
    """The special tokens and stop tokens of a vocabulary by their texts. There may be thousands of them."""
    ids: dict[str, int] = {}
    for number in (*vocabulary.eos_token_ids, *vocabulary.special_token_ids):
        ids.setdefault(vocabulary.token_bytes(number).decode("utf-8", "replace"), number)
    return MappingProxyType(ids)


@functools.lru_cache(maxsize=2)
def special_ids(vocabulary: Vocabulary) -> frozenset[int]:
    """The ids of the special tokens and stop tokens of a vocabulary."""
    return frozenset((*vocabulary.special_token_ids, *vocabulary.eos_token_ids))


class AllowedTokens:
    """The special tokens that a request may name, by id or by text.

    Nothing else that is special may come: "any other token" of a format is any other of these. Without any, no special
    token may be named. ``ArgumentError`` for a text or an id that is no special token of the vocabulary.
    """

    def __init__(self, tokens: Iterable[int | str], vocabulary: Vocabulary, names: Mapping[str, int]) -> None:
        special = special_ids(vocabulary)
        self._special = special
        self._names = names
        self._allowed: set[int] = set()
        for token in tokens:
            _require_token(token)
            number = names.get(token) if isinstance(token, str) and token else token
            if number not in special:
                raise ArgumentError(f"allowed_tokens: the vocabulary has no special token {token!r:.80}")
            self._allowed.add(number)
        self._refused = sorted(special - self._allowed)

    def refused(self) -> list[int]:
        """The special tokens that may not come."""
        return self._refused

    def __contains__(self, number: int) -> bool:
        return number in self._allowed or number not in self._special

    def check(self, number: int, token: object, pointer: str) -> None:
        """``StructuralTagError`` for a special token that may not be named."""
        if number not in self:
            _refuse(token, pointer)

    def check_grammar(self, text: str, syntax: str, pointer: str, cancel: CancelToken | None = None) -> None:
        """The same for every token that a grammar names, or means by "all but"."""
        refused = set(self._refused)
        for found in named_tokens(text, syntax, cancel) if refused else ():
            named = {number for number in refused if any(first <= number <= last for first, last in found.ranges)}
            named |= {number for name in found.names if (number := self._names.get(name)) in refused}
            if not found.is_clear or (refused - named if found.is_complement else named):
                _refuse(found.written, pointer, of_grammar=not pointer)


def allowed_tokens(tokens: tuple[int | str, ...], vocabulary: Vocabulary) -> AllowedTokens:
    """The same object for the same arguments: a server asks with each request, and its list has thousands of ids."""
    try:
        return _allowed_tokens(tokens, vocabulary)
    except TypeError:
        for token in tokens:  # One that has no hash is no token.
            _require_token(token)
        raise


@functools.lru_cache(maxsize=4)
def _allowed_tokens(tokens: tuple[int | str, ...], vocabulary: Vocabulary) -> AllowedTokens:
    return AllowedTokens(tokens, vocabulary, special_names(vocabulary))


class AllowedNames:
    """The same where there is no vocabulary: which tokens may be named by their texts, as far as texts can tell.

    A token of a role that some model ends its turns with may be named: the vocabulary says whether it does.
    """

    def __init__(self, allowed: Iterable[int | str] | None) -> None:
        given = None if allowed is None else list(allowed)
        for token in given or ():
            _require_token(token)
        # An id in the list may be that of any text.
        self._knows_texts = given is None or all(isinstance(token, str) for token in given)
        self._allowed = None if given is None else frozenset(given)

    def refused(self) -> list[int]:
        """Without a vocabulary no id is known."""
        return []

    def check(self, number: int, token: object, pointer: str) -> None:
        """``StructuralTagError`` for the text of a special token that may not be named."""
        if self._is_refused(token):
            _refuse(token, pointer)

    def check_grammar(self, text: str, syntax: str, pointer: str) -> None:
        """The same for every token that a grammar names by its text."""
        for found in named_tokens(text, syntax):
            if not found.is_complement:
                for name in filter(self._is_refused, found.names):
                    _refuse(name, pointer, of_grammar=not pointer)

    def _is_refused(self, token: object) -> bool:
        if not isinstance(token, str) or not self._knows_texts:
            return False
        return token in ROLE_TOKENS - ENDS_OF_TURNS if self._allowed is None else token not in self._allowed


def allowed_names(given: Any) -> AllowedNames | None:
    """What ``allowed_tokens`` of a client's source means in a check; ``None`` where any may be named."""
    return None if isinstance(given, str) else AllowedNames(given)


def _require_token(token: object) -> None:
    if isinstance(token, bool) or not isinstance(token, int | str):
        raise ArgumentError(f"allowed_tokens are ids or texts of special tokens, not {token!r:.80}")


def _refuse(token: object, pointer: str, of_grammar: bool = False) -> NoReturn:
    """``of_grammar`` says that a grammar is the whole source, and no structural tag: ``code`` says so."""
    code = "grammar" if of_grammar else None
    error = StructuralTagError(f"the special token {token!r} may not be named", pointer, code=code)
    raise with_hint(error, 'allowed_tokens must have it, or be "all"')
