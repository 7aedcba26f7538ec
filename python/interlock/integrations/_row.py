"""One row of a batch: the tokens that were generated, and the guide that follows them. No framework is imported here.

A row is *free* (no mask), *guided*, *over* (a stop token was taken) or *refused* (a token was taken that the guide
forbids, which beam search does where fewer tokens are allowed than there are beams). All of it follows from the list
of tokens and the guide's own history, so a row can go back to any earlier length.

Where a constraint begins with free text, ``_triggers`` says where that ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import get_origin

from interlock import ArgumentError, Guide, Index
from interlock.integrations._prefilled import PrefilledIndex
from interlock.integrations._triggers import Triggered

__all__ = ["Constraint", "Row", "check_stops", "given_one", "warm_up"]

Constraint = Index | PrefilledIndex | Triggered | None


def given_one(constraint: Constraint, trigger: str | Sequence[int] | None) -> Constraint:
    """One constraint as a user gave it, behind its trigger; ``ArgumentError`` for anything else."""
    if constraint is not None and not isinstance(constraint, (Index, PrefilledIndex, Triggered)):
        raise _no_constraint(constraint)
    if trigger is None or not isinstance(constraint, Index):
        return constraint
    if not isinstance(trigger, str | Sequence):
        raise ArgumentError(f"trigger is a text or a list of token ids, not {type(trigger).__name__}")
    return Triggered({trigger if isinstance(trigger, str) else tuple(trigger): constraint})


def _no_constraint(given: object) -> ArgumentError:
    """What was given instead of a constraint, and how to make one of it."""
    if isinstance(given, Guide):
        way = "pass its index, guide.index: every generation gets a guide of its own"
    elif isinstance(given, Mapping):
        way = "Index.from_json_schema(schema, vocabulary) makes an index of a JSON Schema"
    elif isinstance(given, str | re.Pattern):
        way = "Index.from_regex(pattern, vocabulary) makes an index of a pattern"
    elif isinstance(given, type) or get_origin(given) is not None:
        name = getattr(given, "__name__", given)
        return ArgumentError(
            f"a constraint is an Index, a Triggered or None, and {name} is a type: Index.from_type({name}, vocabulary) "
            "makes an index of it"
        )
    else:
        way = "Index.from_json_schema, Index.from_regex, Index.from_choices and Index.from_type make an index"
    return ArgumentError(f"a constraint is an Index, a Triggered or None, not {type(given).__name__}: {way}")


def warm_up(constraints: Iterable[object]) -> None:
    """Make masks that rows are likely to need, in the background: the prompt is read before the first is asked for."""
    for constraint in constraints:
        for index in constraint.indexes if isinstance(constraint, Triggered) else [constraint]:
            index = index.index if isinstance(index, PrefilledIndex) else index
            if isinstance(index, Index):
                index.warm_up(background=True)


def check_stops(constraint: Constraint, stop: Iterable[int]) -> None:
    """``ArgumentError`` for a stop id that no mask has a bit for."""
    if constraint is None:
        return
    size = constraint.vocabulary.size
    for token in stop:
        if not 0 <= token < size:
            raise ArgumentError(f"stop token id {token} is out of range: the vocabulary's size is {size}")


class Row:
    """The tokens of one row and what they mean for the next one.

    ``max_tokens`` bounds what a guide follows, or with ``whole`` all that is generated, free text included.
    """

    def __init__(
        self,
        constraint: Constraint,
        max_tokens: int | None,
        stop: list[int] | None,
        context: Iterable[int] = (),
        whole: bool = False,
    ) -> None:
        self.constraint = constraint
        self.tokens: list[int] = []
        self.guide: Guide | None = None
        self.context = list(context)
        self._max_tokens, self._whole, self._stop_given = max_tokens, whole, stop
        check_stops(constraint, stop or ())
        vocabulary = None if constraint is None else constraint.vocabulary
        # Words of the row's mask, and the least width of the logits.
        self.words = 0 if vocabulary is None else (vocabulary.size + 31) // 32
        self.tokens_of_vocabulary = 0 if vocabulary is None else len(vocabulary)
        self.stop = frozenset(stop if stop is not None else vocabulary.eos_token_ids if vocabulary else ())
        # Where the guide began, and how many tokens it took from there on.
        self._start = self._taken = 0
        self._free_end: int | None = None
        if isinstance(constraint, Index | PrefilledIndex):
            self.guide = self._new_guide(constraint)
        elif constraint is not None and (max_tokens is not None or stop is not None):
            # A budget that is too small, or an unsuitable stop token, is an error now, not when the trigger comes.
            for index in constraint.indexes:
                self._new_guide(index)

    def _new_guide(self, index: Index | PrefilledIndex) -> Guide:
        context = self.context + self.tokens
        # Of ids that the vocabulary lacks, such as those of images, no text is known: it begins behind the last one.
        foreign = (i for i, token in enumerate(reversed(context)) if not 0 <= token < index.vocabulary.size)
        context = context[len(context) - next(foreign, len(context)) :]
        budget = self._max_tokens
        if budget is not None and self._whole:
            budget = max(0, budget - len(self.tokens))
        return index.guide(max_tokens=budget, stop_token_ids=self._stop_given, context_ids=context)

    @property
    def over(self) -> bool:
        """Whether a stop token was taken."""
        return self._free_end is not None or (self.guide is not None and self.guide.is_terminated)

    @property
    def refused(self) -> bool:
        """Whether a token was taken that was forbidden."""
        guide = self.guide
        return guide is not None and self._taken < len(self.tokens) - self._start and not guide.is_terminated

    @property
    def strayed(self) -> list[int]:
        """The tokens from the first forbidden one on."""
        return self.tokens[self._start + self._taken :] if self.refused else []

    def advance(self, token: int) -> None:
        """Take one token, whatever it is."""
        if self.guide is not None:
            if self._taken == len(self.tokens) - self._start and self.guide.try_advance(token):
                self._taken += 1
            self.tokens.append(token)
            return
        self.tokens.append(token)
        if not isinstance(self.constraint, Triggered) or self._free_end is not None:
            return
        # A trigger comes first: a model may well end its reasoning with a stop token of its own.
        index = self.constraint.fired(self.tokens)
        if index is not None:
            self._start, self._taken = len(self.tokens), 0
            self.guide = self._new_guide(index)
        elif token in self.stop:
            self._free_end = len(self.tokens)

    def end(self) -> None:
        """Let nothing follow but stop tokens."""
        self.guide, self._free_end = None, len(self.tokens)

    def take(self, tokens: list[int]) -> None:
        """Note tokens that the guide took already."""
        self.tokens.extend(tokens)
        self._taken += len(tokens)

    def cut(self, length: int) -> None:
        """Go back to the first ``length`` tokens."""
        del self.tokens[length:]
        if self._free_end is not None and self._free_end > length:
            self._free_end = None
        if self.guide is None:
            return
        if length < self._start:
            self.guide, self._start, self._taken = None, 0, 0
        else:
            keep = min(self._taken, length - self._start)
            self.guide.rollback(self._taken - keep)
            self._taken = keep

    def fork(self) -> Row:
        """A second row in the same place."""
        other = Row.__new__(Row)
        other.__dict__.update(self.__dict__)
        other.tokens = list(self.tokens)
        other.guide = None if self.guide is None else self.guide.fork()
        return other

    def special(self) -> tuple[bool, list[int]] | None:
        """The mask where no guide writes it: (True, the only tokens) or (False, the forbidden ones); None for no mask.

        Only stop tokens are left to a row that is over, so that a stop token that ``generate`` does not know is
        repeated instead of being followed by anything, and to a row that was refused.
        """
        if self.constraint is None:
            return None
        if self.guide is not None:
            follows = self._taken == len(self.tokens) - self._start
            if follows and not (self._taken and self.tokens[-1] in self.stop):
                return None
            return True, sorted(self.stop)
        if self.over:
            return True, sorted(self.stop)
        if isinstance(self.constraint, Triggered):
            forbidden = self.constraint.blocked(self.tokens)
            if self.constraint.required:
                # A stop token may be what the trigger ends with.
                fired = self.constraint.fired
                forbidden = sorted({*forbidden, *(t for t in self.stop if fired([*self.tokens, t]) is None)})
            return (False, forbidden) if forbidden else None
        return None
