"""Turns with a model that does one thing at a time: calls from several threads wait for each other.

A stream leaves the model in the middle of its text between two pieces. Whoever comes next reads that stream to its end
first, and the pieces are kept for the stream's reader. So nobody waits for a reader that may never go on, and what is
written does not depend on who called in between.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections import deque
from collections.abc import Generator, Iterator
from typing import Any

from interlock._core import GuideBusyError

__all__ = ["ModelTurns", "TurnPieces", "turns_of"]


class ModelTurns:
    """Who uses a model. ``with turns.turn():`` waits until nobody else does."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: int | None = None
        self._may_nest = False
        self._open: weakref.ref[TurnPieces] | None = None

    @contextlib.contextmanager
    def turn(self, pieces: TurnPieces | None = None, *, nests: bool = False) -> Iterator[None]:
        """The model, for the length of the block; ``pieces`` is the stream that uses it. With ``nests`` a block may
        stand inside another one of the same thread that has ``nests`` too. ``GuideBusyError`` in any other block of
        the same thread, which would wait for itself.
        """
        if self._thread == threading.get_ident():
            if not (nests and self._may_nest):
                raise GuideBusyError(
                    "the model is in the middle of a call of this very thread: a function that a call calls, such as a "
                    "logits processor, cannot call the same model"
                )
            yield
            return
        with self._lock:
            self._thread, self._may_nest = threading.get_ident(), nests
            try:
                begun = None if self._open is None else self._open()
                if begun is not None and begun is not pieces:
                    begun.read_ahead()
                yield
            finally:
                self._thread = None

    def begin(self, pieces: TurnPieces) -> None:
        """The model is in the middle of ``pieces`` from now on. Call it inside of a turn."""
        self._open = weakref.ref(pieces)

    def end(self) -> None:
        """The model is in the middle of nothing. Call it inside of a turn."""
        self._open = None

    @contextlib.contextmanager
    def turn_if_free(self) -> Iterator[bool]:
        """The model, if nobody uses it now; whether that is so."""
        is_free = self._lock.acquire(blocking=False)
        if is_free:
            self._thread, self._may_nest = threading.get_ident(), False
        try:
            yield is_free
        finally:
            if is_free:
                self._thread = None
                self._lock.release()


class TurnPieces(Generator[str, None, str | None]):
    """The pieces of one stream, each of them read in a turn of its own."""

    def __init__(self, turns: ModelTurns, pieces: Generator[str, None, str | None]) -> None:
        self._turns, self._pieces = turns, pieces
        self._kept: deque[str] = deque()
        self._ending: BaseException | None = None
        self._is_closed = False

    def send(self, value: None, /) -> str:
        """The next piece."""
        if not self._kept and self._ending is None:
            with self._turns.turn(self):
                # Somebody may have read ahead meanwhile.
                if not self._kept and self._ending is None:
                    self._turns.begin(self)
                    self._read()
        if self._kept:
            return self._kept.popleft()
        ending, self._ending = self._ending, StopIteration()
        assert ending is not None
        raise ending

    def throw(self, *error: Any) -> str:
        """Close the stream, and raise the error."""
        self.close()
        raise error[0] if isinstance(error[0], BaseException) else error[0](*error[1:2])

    def close(self) -> None:
        """Stop the model. Where another thread is reading right now, it stops at its next piece."""
        self._is_closed = True
        with self._turns.turn_if_free() as is_free:
            if is_free:
                self._stop()

    def read_ahead(self) -> None:
        """Read to the end, for whoever needs the model. What goes wrong is for the reader of the stream to see."""
        while self._ending is None:
            self._read()
        if not isinstance(self._ending, Exception):
            raise self._ending

    def _read(self) -> None:
        """Read one piece, or what there is in its place."""
        if not self._is_closed:
            try:
                self._kept.append(next(self._pieces))
            except BaseException as error:
                self._ending = error
                self._turns.end()
        if self._is_closed and self._ending is None:
            self._stop()

    def _stop(self) -> None:
        if self._ending is None:
            self._ending = StopIteration()
            self._turns.end()
        self._kept.clear()
        self._pieces.close()


_turns: weakref.WeakKeyDictionary[Any, ModelTurns] = weakref.WeakKeyDictionary()
_making = threading.Lock()


def turns_of(model: Any) -> ModelTurns:
    """The turns of a model object: all generators of it share them."""
    with _making:
        found = _turns.get(model)
        if found is None:
            found = _turns[model] = ModelTurns()
        return found
