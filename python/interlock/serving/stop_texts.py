"""Stop texts: what a client calls ``stop``, found in an output while it is written.

An output ends before the first stop text that is whole, so where it ends does not depend on tokens. Text that may be
the beginning of one is held back until that is decided.

>>> reader = StopReader(StopTexts(["###"]))
>>> reader.read("Well."), reader.read("#"), reader.read("# "), reader.read("##"), reader.read("# No")
('Well.', '', '## ', '', '')
>>> reader.found
'###'
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from interlock._core import Index, TokenRejected, VocabularyError
from interlock.events import take_text

__all__ = ["StopReader", "StopTexts", "WholeOutputs"]


class StopTexts:
    """The stop texts of a request as an automaton (Aho and Corasick's): a step a character, however many there are."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.next: list[dict[str, int]] = [{}]
        self.ending: list[list[str]] = [[]]
        """The stop texts that end in a state, the longest first."""
        for text in texts:
            state = 0
            for char in text:
                if char not in self.next[state]:
                    self.next[state][char] = len(self.next)
                    self.next.append({})
                    self.ending.append([])
                state = self.next[state][char]
            if text not in self.ending[state]:
                self.ending[state].append(text)
        self.fallback = [0] * len(self.next)
        self.held = [0] * len(self.next)
        """How many characters at the end of a text may be the beginning of a stop text."""
        depth, waiting = [0] * len(self.next), deque([0])
        while waiting:
            state = waiting.popleft()
            self.held[state] = depth[state] if self.next[state] else self.held[self.fallback[state]]
            for char, child in self.next[state].items():
                depth[child] = depth[state] + 1
                if state:
                    self.fallback[child] = self.step(self.fallback[state], char)
                self.ending[child] += self.ending[self.fallback[child]]
                waiting.append(child)

    def step(self, state: int, char: str) -> int:
        """The state behind one more character."""
        while state and char not in self.next[state]:
            state = self.fallback[state]
        return self.next[state].get(char, 0)


class WholeOutputs:
    """Tells where an output is whole, as it goes on. It is gone through once, with about a microsecond a byte."""

    def __init__(self, index: Index) -> None:
        self._guide = index.guide()

    def copy(self) -> WholeOutputs:
        """The same place, to go on from it in another way."""
        made = object.__new__(WholeOutputs)
        made._guide = self._guide.fork()
        return made

    def go_on(self, text: str) -> bool | None:
        """Whether the output is whole behind ``text``; ``None``, and nothing changes, where it cannot go on so."""
        further = self._guide.fork()
        try:
            take_text(further, text.encode("utf-8", "replace"))
        except (TokenRejected, VocabularyError):
            return None
        self._guide = further
        return further.is_accepting


class StopReader:
    """Reads one output up to its first stop text. With ``whole`` only those count before which the output is whole."""

    def __init__(self, stops: StopTexts, whole: WholeOutputs | None = None) -> None:
        self.found: str | None = None
        """The stop text that ended the output."""
        self.held = ""
        """Text that may be the beginning of a stop text."""
        self._stops, self._whole, self._state = stops, whole, 0
        self._behind_whole = ""

    def copy(self) -> StopReader:
        """The same place, to go on from it in another way."""
        made = StopReader(self._stops, self._whole and self._whole.copy())
        made.found, made.held, made._state, made._behind_whole = self.found, self.held, self._state, self._behind_whole
        return made

    def read(self, text: str, counts: bool = True) -> str:
        """What may be shown of the output now. A stop text that ends in ``text`` is none unless it ``counts``."""
        if self.found is not None:
            return ""
        whole, state = self.held + text, self._state
        if self._whole is not None:
            self._behind_whole += text
        for at, char in enumerate(text, len(self.held) + 1):
            state = self._stops.step(state, char)
            for stop in self._stops.ending[state] if counts else ():
                begin = at - len(stop)
                if self._is_whole_before(len(whole) - begin):
                    self.found, self.held = stop, ""
                    return whole[:begin]
        self._state = state
        kept = len(whole) - self._stops.held[state]
        self.held = whole[kept:]
        return whole[:kept]

    def release(self) -> str:
        """What is held back, where no stop text can go on: the output ends, or something that is no text comes."""
        held, self.held, self._state = self.held, "", 0
        return held

    def _is_whole_before(self, last: int) -> bool:
        """Whether the output is whole before its last characters."""
        if self._whole is None:
            return True
        behind = self._behind_whole
        is_whole = self._whole.go_on(behind[: len(behind) - last])
        if is_whole is not None:
            self._behind_whole = behind[len(behind) - last :]
        return bool(is_whole)
