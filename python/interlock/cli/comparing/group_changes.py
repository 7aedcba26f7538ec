"""Which alternatives differ inside of the groups of two alternatives of a rule that are else the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from interlock.drawing.grammar_outline import Token, split_alternatives, tokens_of, written

__all__ = ["GroupChange", "group_changes"]

_CLOSED_BY = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class GroupChange:
    """A group as the first grammar has it, and the alternatives in it that only one of the grammars has."""

    group: str
    added: tuple[str, ...]
    removed: tuple[str, ...]


def group_changes(first: str, second: str, syntax: str) -> list[GroupChange] | None:
    """What differs inside of the groups of two alternatives; ``None`` if anything else differs.

    >>> group_changes('"x" ("a" | "b")', '"x" ("a" | "b" | "c")*', "lark") is None
    True
    >>> group_changes('"x" ("a" | "b")', '"x" ("a" | "b" | "c")', "lark")
    [GroupChange(group='("a" | "b")', added=('"c"',), removed=())]
    """
    try:
        return list(_changes(tokens_of(first, syntax), tokens_of(second, syntax)))
    except _NotAlike:
        return None


class _NotAlike(Exception):
    """Two texts differ outside of groups."""


def _changes(first: list[Token], second: list[Token]) -> Iterator[GroupChange]:
    ours, theirs = _items(first), _items(second)
    if len(ours) != len(theirs):
        raise _NotAlike
    for one, other in zip(ours, theirs):
        if _plain(one) == _plain(other):
            continue
        if len(one) < 2 or len(other) < 2 or one[0] != other[0]:
            raise _NotAlike
        yield from _in_group(one, other)


def _in_group(one: list[Token], other: list[Token]) -> Iterator[GroupChange]:
    ours, theirs = split_alternatives(one[1:-1]), split_alternatives(other[1:-1])
    added, removed = _without(theirs, ours), _without(ours, theirs)
    if len(added) == len(removed) == 1:  # Perhaps it is in a group inside of this one.
        try:
            yield from list(_changes(removed[0], added[0]))
            return
        except _NotAlike:
            pass
    yield GroupChange(written(one), tuple(map(_text, added)), tuple(map(_text, removed)))


def _items(tokens: list[Token]) -> list[list[Token]]:
    """The tokens without blanks, those of a group together."""
    items: list[list[Token]] = []
    closers: list[str] = []
    for token in tokens:
        if closers:
            items[-1].append(token)
        elif token.kind not in ("blank", "line"):
            items.append([token])
        if token.kind == "mark" and token.text in _CLOSED_BY:
            closers.append(_CLOSED_BY[token.text])
        elif token.kind == "mark" and closers and token.text == closers[-1]:
            closers.pop()
    if closers:
        raise _NotAlike
    return items


def _plain(tokens: list[Token]) -> list[Token]:
    return [token for token in tokens if token.kind not in ("blank", "line")]


def _text(tokens: list[Token]) -> str:
    return written(tokens).strip() or "(nothing)"


def _without(parts: list[list[Token]], others: list[list[Token]]) -> list[list[Token]]:
    """The alternatives that are not among the others, as often as there are more of them."""
    left = Counter(tuple(_plain(part)) for part in others)
    found = []
    for part in parts:
        key = tuple(_plain(part))
        if left[key]:
            left[key] -= 1
        else:
            found.append(part)
    return found
