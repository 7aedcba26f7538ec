"""Examples of a grammar that look like what people write: everyday words, short numbers, little nesting.

A guide over bytes decides what is allowed. What is forced is taken as a whole, words and digits are preferred, and a
text that has grown long closes what it opened and ends as soon as it may.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import interlock
from interlock.samples.next_kinds import is_free, other_kind, takes_words, without_comments
from interlock.samples.shortest_way import guide_of_shortest_way

__all__ = ["example_of_grammar", "keywords_of"]

TRIES = 12
LONG = 40
"""Bytes after which a text looks for its end."""
LATEST = 4
"""How many times ``LONG`` bytes may be words, such as an address that letters and marks make longer."""
LONGEST = 600
SEARCHES = 20
"""How often the shortest way to the end is looked for, which may take long."""
CLOSERS = b")]};\"'`>"
OPENERS = b"([{<\"'`"
BLANKS = b" \t\r\n"
SEPARATORS = b",;:"
BLANK = 0.5
"""How often a blank comes behind a word where no other word may."""
WITH_COMMENTS = 0.1
"""How often comments may be written."""
KEYWORD = 0.3
"""How often a word is a keyword of the grammar, where words may come: a name takes the same letters."""


def keywords_of(grammar: str) -> list[str]:
    """The words that a grammar spells out, in the order in which they come.

    >>> keywords_of('start: "let" NAME "=" ("true" | "let")')
    ['let', 'true']
    """
    quoted = re.findall(r"""(?<!\\)["']([A-Za-z_]{2,})["']""", grammar)
    return list(dict.fromkeys(quoted))


def example_of_grammar(
    index: interlock.Index,
    rng: random.Random,
    words: Sequence[str],
    keywords: Sequence[str] = (),
    comments: Sequence[bytes] = (),
) -> bytes | None:
    """A text that ``index``, an index over bytes, accepts; ``None`` if ``TRIES`` ways came to no end.

    ``words`` are put where most letters are allowed, and sometimes one of ``keywords``, which a name there would hardly
    ever spell. Few texts have one of the ``comments``, the marks that begin one.

    Costs at most a few thousand masks, milliseconds for most.
    """
    for attempt in range(TRIES):
        # Later tries give up wishes: the first may need a long text, the last may write anything.
        long = LONG if attempt < TRIES // 2 else LONG // 4
        walk = _Walk(index.guide(), rng, words, keywords, long)
        walk.comments = comments if rng.random() >= WITH_COMMENTS else ()
        found = walk.whole()
        if found is not None:
            return found
    return None


class _Walk:
    """A random walk through a grammar, which prefers words to single characters, and keywords where they fit."""

    def __init__(
        self, guide: interlock.Guide, rng: random.Random, words: Sequence[str], keywords: Sequence[str], long: int
    ) -> None:
        self.guide, self.rng, self.words, self.keywords, self.long = guide, rng, words, keywords, long
        self.fresh = False
        """Whether a word was written just now, which nothing should make longer."""
        self.searches = 0
        self.comments: Sequence[bytes] = ()
        """Marks that are not written where anything else may come, since they begin a comment."""

    def whole(self) -> bytes | None:
        """The text of one walk; ``None`` where only special tokens go on, or it grows too long."""
        guide = self.guide
        while guide.num_tokens <= LONGEST:
            forced = guide.forced_bytes()
            if forced:
                guide.advance_many(list(forced))
                self.fresh = False
                if chr(forced[-1]).isalnum():
                    self._blank()
                continue
            allowed = {token for token in guide.allowed_token_ids().tolist() if token < 256}
            if not allowed and not guide.is_accepting:
                return None  # Only special tokens go on, which no byte spells.
            if self.comments and not is_free(allowed):
                allowed = without_comments(guide, allowed, self.comments)
            if guide.is_accepting and self._stops(allowed):
                return self._ended()
            if self.fresh and (self.guide.num_tokens >= self.long or self.rng.random() < 0.3) and self._leave(allowed):
                continue
            is_late = guide.num_tokens >= (LATEST if takes_words(allowed) else 2) * self.long
            if is_late and self._shortest():
                continue
            other = None if self.fresh or guide.num_tokens >= self.long else other_kind(guide, self.rng, allowed)
            if other is not None or not self._word(allowed):
                byte = self._byte(allowed) if other is None else other
                was_blank = guide.tokens[-1:] == [0x20]
                guide.advance(byte)
                if byte in SEPARATORS or was_blank and not chr(byte).isalnum() and byte not in OPENERS:
                    self._blank()
        return None

    def _blank(self) -> None:
        """Write a blank where one may stand before a letter."""
        allowed = set(self.guide.allowed_token_ids().tolist())
        if 0x20 in allowed and any(chr(byte).isalnum() for byte in allowed if byte < 0x80):
            self.guide.advance(0x20)

    def _ended(self) -> bytes:
        """The text, without blanks at its end that may be left out."""
        guide = self.guide
        data = guide.index.vocabulary.decode(guide.tokens)
        best = len(data)
        while guide.num_tokens and guide.tokens[-1] in BLANKS:
            guide.rollback(1)
            if guide.is_accepting:
                best = guide.num_tokens
        return data[:best]

    def _stops(self, allowed: set[int]) -> bool:
        inside = bool(allowed) and all(0x80 <= byte < 0xC0 for byte in allowed)
        if inside:
            return False
        return not allowed or self.guide.num_tokens >= self.long or self.rng.random() < 0.35

    def _leave(self, allowed: set[int]) -> bool:
        """Write what ends a text in which most letters may come: one character, or the shortest way out."""
        if not is_free(allowed) and not self._is_prose(allowed):
            return False  # A word of a language, behind which its marks and keywords come.
        if (byte := ending(self.guide, allowed)) is None:
            return is_free(allowed) and self._shortest()
        self.guide.advance(byte)
        self.fresh = False
        if byte in SEPARATORS:
            self._blank()
        return True

    def _is_prose(self, allowed: set[int]) -> bool:
        """Whether a blank and another word may come."""
        if 0x20 not in allowed:
            return False
        self.guide.advance(0x20)
        after = set(self.guide.allowed_token_ids().tolist())
        self.guide.rollback(1)
        return takes_words(after)

    def _shortest(self) -> bool:
        """Go the shortest way to the end, until words may come again."""
        self.searches += 1
        if self.searches > SEARCHES or not go_shortest_way(self.guide):
            return False
        self.fresh = False
        return True

    def _word(self, allowed: set[int]) -> bool:
        if not takes_words(allowed) or self.fresh:
            return False
        tries = [self.rng.choice(self.words)]
        if self.keywords and not is_free(allowed) and self.rng.random() < KEYWORD:
            tries.insert(0, self.rng.choice(self.keywords))
        if not any(map(self._takes, tries)):
            return False
        self.fresh = True
        return True

    def _takes(self, word: str) -> bool:
        data = word.encode()
        taken = self.guide.advance_many(list(data))
        if taken < len(data):
            self.guide.rollback(taken)
        return taken == len(data)

    def _byte(self, allowed: set[int]) -> int:
        if self.fresh and is_free(allowed):
            # Between the words of free text a blank stands, and no mark that means nothing there.
            self.fresh = False
            return 0x20
        late = self.guide.num_tokens >= self.long
        letters = {byte for byte in allowed if chr(byte).isascii() and chr(byte).isalnum()}
        plain = {byte for byte in allowed if 0x20 < byte < 0x7F}
        if late and (closing := allowed & set(CLOSERS)):
            choice = closing
        elif self.fresh and allowed - letters:
            separators = allowed & set(SEPARATORS) if self.rng.random() < 0.4 else set[int]()
            choice = _first(
                separators,
                allowed & set(BLANKS[:1]),
                plain - letters - set(OPENERS),
                plain - letters,
                allowed - letters,
            )
        else:
            # A number or a word goes on for a while; then something else is tried, and a list ends.
            others = plain - letters
            if chr(self.guide.tokens[-1] if self.guide.tokens else 0).isalnum():
                others |= allowed & set(BLANKS[:1])
            if others - {*plain} and not letters and self.rng.random() < BLANK:
                others = allowed & set(BLANKS[:1])  # Between two words; a mark or a comment could stand there as well.
            others -= {*OPENERS, *SEPARATORS} if late else set()
            goes_on = letters if self.rng.random() < (0.4 if late else 0.7) else others
            choice = _first(goes_on, letters, plain - set(OPENERS), plain, allowed & set(BLANKS[:1]), allowed)
        self.fresh = False
        return self.rng.choice(sorted(choice))


def ending(guide: interlock.Guide, allowed: set[int]) -> int | None:
    """A byte behind which words may no longer come: the quote of a string, the newline of a comment. ``None`` if none
    of those that are allowed is one. A backslash begins an escape and ends nothing.
    """
    marks = [byte for byte in range(0x21, 0x7F) if not chr(byte).isalnum() and byte not in (*CLOSERS, 0x5C)]
    order: list[int] = [*CLOSERS, 0x0A, *marks]
    for byte in order:
        if byte not in allowed:
            continue
        guide.advance(byte)
        after = set(guide.allowed_token_ids().tolist())
        guide.rollback(1)
        if not takes_words(after):
            return byte
    return None


def go_shortest_way(guide: interlock.Guide) -> bool:
    """Take the shortest way to the end, out of a text in which words may come and up to the next one. False where no
    such way is known.
    """
    ahead = guide_of_shortest_way(guide)
    if ahead is None:
        return False
    written = 0
    is_out = False
    while not guide.is_accepting:
        may_come = takes_words(set(guide.allowed_token_ids().tolist()))
        if is_out and may_come:
            break
        is_out = is_out or not may_come
        if not (shortest := [token for token in ahead.allowed_token_ids().tolist() if token < 256]):
            break
        ahead.advance(shortest[0])
        guide.advance(shortest[0])
        written += 1
    return written > 0


def _first(*sets: set[int]) -> set[int]:
    return next(choice for choice in sets if choice)
