"""What ends free text: triggers, which are texts or runs of token ids.

Text before a trigger is free; from its end on an index holds. A text trigger always ends where a token ends: a token
that would run past the end of the trigger is masked, since its rest would belong to the index, and a guide takes whole
tokens only.

Special and stop tokens spell nothing, but what a trigger says may well be the name of one: in many vocabularies
``</think>`` is a token of its own that is special. So a special token whose name is part of a trigger counts there as
its name, as a whole or not at all.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from weakref import WeakValueDictionary

from interlock import ArgumentError, Index, Vocabulary

__all__ = ["Triggered"]


class _Texts:
    """Text triggers over the tokens of one vocabulary, which is read through once.

    ``ArgumentError`` for a text that no tokens end with.
    """

    def __init__(self, vocabulary: Vocabulary, texts: tuple[bytes, ...]) -> None:
        self._vocabulary, self._texts = vocabulary, texts
        self._silent = frozenset((*vocabulary.special_token_ids, *vocabulary.eos_token_ids))
        named = [(i, vocabulary.token_bytes(i)) for i in self._silent]
        self._names = {i: name for i, name in named if name and any(name in text for text in texts)}
        self._heads = {text[:k] for text in texts for k in range(1, len(text))}
        # Tokens that go on behind a trigger: those that hold all of it, and by its rest those that begin with that.
        self._holding: list[int] = []
        self._passing: dict[bytes, list[int]] = {text[k:]: [] for text in texts for k in range(1, len(text))}
        rests, lengths = tuple(self._passing), [len(text) for text in texts]
        shortest, longest = min(lengths), max(lengths)
        pieces = set(self._names.values())
        # No text has the byte that is between them.
        joined = b"\xff".join(texts)
        for i in range(len(vocabulary)):
            spelling = self._spelling(i)
            if not spelling:
                continue
            if spelling in joined:
                pieces.add(spelling)
            if len(spelling) > shortest and any(text in spelling[:-1] for text in texts):
                self._holding.append(i)
            if spelling.startswith(rests):
                for k in range(1, min(len(spelling), longest)):
                    if spelling[:k] in self._passing:
                        self._passing[spelling[:k]].append(i)
        for text in texts:
            if not self._is_possible(text, pieces):
                raise ArgumentError(
                    f"the trigger {text.decode()!r} can never come: no tokens spell it, and no special token is known "
                    "by this name; give the ids of its tokens"
                )

    def _spelling(self, token: int) -> bytes:
        """What a token spells: nothing if it is special, or an id that the vocabulary lacks."""
        if token in self._silent or not 0 <= token < self._vocabulary.size:
            return b""
        return self._vocabulary.token_bytes(token)

    def _is_possible(self, text: bytes, pieces: Iterable[bytes]) -> bool:
        """Whether tokens can end with ``text``, given those that lie inside it; it may begin within a token."""

        def reaches_end(reached: set[int]) -> bool:
            for k in range(len(text)):
                if k in reached:
                    reached.update(k + len(piece) for piece in pieces if text.startswith(piece, k))
            return len(text) in reached

        if reaches_end({0}):
            return True
        begun: set[int] = set()
        heads = [text[:k] for k in range(1, len(text) + 1)]
        for i in range(len(self._vocabulary)):
            spelling = self._spelling(i)
            if spelling.endswith(tuple(heads)) and text not in spelling[:-1]:
                begun.update(len(head) for head in heads if spelling.endswith(head))
        return reaches_end(begun)

    def _ends(self, tokens: list[int], wanted: Iterable[bytes]) -> set[bytes]:
        """Those of ``wanted`` that ``tokens`` end with."""
        found: set[bytes] = set()
        # Each with that part of it which the tokens further to the left have to spell.
        left = {(text, text) for text in wanted}
        for token in reversed(tokens):
            if not left:
                break
            spelling = self._spelling(token)
            if spelling:
                found.update(text for text, rest in left if spelling.endswith(rest))
                left = {(text, rest.removesuffix(spelling)) for text, rest in left if rest.endswith(spelling)}
                left = {(text, rest) for text, rest in left if rest}
            elif token in self._names:
                name = self._names[token]
                cut = {(text, rest.removesuffix(name)) for text, rest in left if rest.endswith(name)}
                found.update(text for text, rest in cut if not rest)
                left |= {(text, rest) for text, rest in cut if rest}
        return found

    def ended(self, tokens: list[int]) -> set[bytes]:
        """The triggers that ``tokens`` end with."""
        return self._ends(tokens, self._texts)

    def blocked(self, tokens: list[int]) -> list[int]:
        """The tokens that would complete a trigger and run past its end."""
        found = set(self._holding)
        for head in self._ends(tokens, self._heads):
            for text in self._texts:
                if text.startswith(head) and text != head:
                    found.update(self._passing[text[len(head) :]])
        return sorted(found)


# Reading through a large vocabulary takes a tenth of a second, so triggers that are alike share it.
_alive: WeakValueDictionary[tuple[str, tuple[bytes, ...]], _Texts] = WeakValueDictionary()


def _texts_of(vocabulary: Vocabulary, texts: tuple[bytes, ...]) -> _Texts:
    key = (vocabulary.fingerprint, texts)
    known = _alive.get(key)
    if known is None:
        known = _alive[key] = _Texts(vocabulary, texts)
    return known


class Triggered:
    """Free text until one of ``triggers`` was generated, then the index that belongs to it.

    A trigger is a string or a tuple of token ids; where several end at once, the first that is listed counts. In a
    string the name of a special token stands for that token as well as for its letters. With ``required`` a stop token
    is masked until a trigger was generated, unless it ends one itself. All indexes must have one vocabulary.

    Raises ``ArgumentError`` for a string that no tokens of the vocabulary spell.
    """

    def __init__(self, triggers: Mapping[str | tuple[int, ...], Index], required: bool = False) -> None:
        if not isinstance(triggers, Mapping):
            kind = type(triggers).__name__
            raise ArgumentError(
                f'triggers map texts or ids to indexes, {{"</think>": index}}, and {kind} is no mapping'
            )
        if not triggers:
            raise ArgumentError('triggers must not be empty: give at least one, {"</think>": index}')
        for trigger, index in triggers.items():
            if not isinstance(index, Index):
                raise ArgumentError(f"the trigger {trigger!r} leads to an Index, not to {type(index).__name__}")
        self.vocabulary = next(iter(triggers.values())).vocabulary
        self.required = required
        self.indexes = list(triggers.values())
        self._triggers: list[tuple[bytes | tuple[int, ...], Index]] = []
        for trigger, index in triggers.items():
            if not trigger:
                raise ArgumentError("a trigger must not be empty: give its text or the ids of its tokens")
            if index.vocabulary != self.vocabulary:
                raise ArgumentError("the indexes of several triggers must have one vocabulary")
            made = trigger.encode() if isinstance(trigger, str) else self._ids(trigger)
            self._triggers.append((made, index))
        texts = tuple(trigger for trigger, _ in self._triggers if isinstance(trigger, bytes))
        self._texts = _texts_of(self.vocabulary, texts) if texts else None

    def _ids(self, trigger: Iterable[int]) -> tuple[int, ...]:
        """The ids of a trigger. One that no logits have could never come."""
        ids = tuple(operator.index(i) for i in trigger)
        size = self.vocabulary.size
        for i in ids:
            if not 0 <= i < size:
                raise ArgumentError(
                    f"the trigger {list(ids)} can never come: no token has the id {i}, ids lie below {size}"
                )
        return ids

    def fired(self, tokens: list[int]) -> Index | None:
        """The index whose trigger ends with the last of ``tokens``."""
        ended: set[bytes] = set() if self._texts is None else self._texts.ended(tokens)
        for trigger, index in self._triggers:
            if trigger in ended if isinstance(trigger, bytes) else tuple(tokens[-len(trigger) :]) == trigger:
                return index
        return None

    def blocked(self, tokens: list[int]) -> list[int]:
        """The tokens that would complete a text trigger and run past its end."""
        return [] if self._texts is None else self._texts.blocked(tokens)
