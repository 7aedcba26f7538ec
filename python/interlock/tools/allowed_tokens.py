"""Which special tokens a request may name: clients of a server must not write the tokens of roles and turns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

from interlock._core import ArgumentError, Vocabulary
from interlock.client_messages import with_hint
from interlock.tools.errors import StructuralTagError

__all__ = ["AllowedTokens"]

#: What is no name of a token in a grammar of Lark's notation: comments, texts and patterns; then names of tokens.
_NAMES = re.compile(
    r"""//[^\n]*|\#[^\n]*|"(?:\\.|[^"\\\n])*"|/(?:\\.|[^/\\\n])+/|<(?P<set>\[[^\]]*\])>|<(?P<name>[^<>\s"]+)>"""
)


class AllowedTokens:
    """The special tokens that a request may name, by id or by text. ``None`` for any.

    Nothing else that is special may come: "any other token" of a format is any other of these. ``ArgumentError`` for a
    text that is no special token of the vocabulary.
    """

    def __init__(self, tokens: Iterable[int | str], vocabulary: Vocabulary, names: Mapping[str, int]) -> None:
        special = set(vocabulary.special_token_ids) | set(vocabulary.eos_token_ids)
        self._special = special
        self._allowed: set[int] = set()
        for token in tokens:
            if isinstance(token, bool) or not isinstance(token, int | str):
                raise ArgumentError(f"allowed_tokens are ids or texts of special tokens, not {token!r}")
            if isinstance(token, str) and token not in names:
                raise ArgumentError(f"allowed_tokens: the vocabulary has no special token {token!r}")
            self._allowed.add(names[token] if isinstance(token, str) else token)

    def refused(self) -> list[int]:
        """The special tokens that may not come."""
        return sorted(self._special - self._allowed)

    def __contains__(self, number: int) -> bool:
        return number in self._allowed or number not in self._special

    def check(self, number: int, token: object, pointer: str) -> None:
        """``StructuralTagError`` for a special token that may not be named."""
        if number not in self:
            _refuse(token, pointer)

    def check_grammar(self, text: str, names: Mapping[str, int], pointer: str) -> None:
        """The same for every token that a grammar in Lark's notation names."""
        for found in _NAMES.finditer(text):
            if found["name"] is not None:
                token = f"<{found['name']}>"
                self.check(names.get(token, -1), token, pointer)
            elif found["set"] is not None:
                self._check_set(found["set"][1:-1], pointer)

    def _check_set(self, written: str, pointer: str) -> None:
        parts: Sequence[str] = written.replace(" ", "").split(",")
        for part in parts:
            first, _, last = part.partition("-")
            if not first.isdigit() or (last and not last.isdigit()):
                _refuse(f"<[{written}]>", pointer)  # All tokens but some.
            ends = (int(first), int(last or first))
            for number in self.refused():
                if ends[0] <= number <= ends[1]:
                    _refuse(f"<[{written}]>", pointer)


def _refuse(token: object, pointer: str) -> NoReturn:
    error = StructuralTagError(f"the special token {token!r} may not be named", pointer)
    raise with_hint(error, "allowed_tokens does not have it")
