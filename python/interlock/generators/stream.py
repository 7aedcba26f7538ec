"""An output that is read while it is written."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from interlock._core import ArgumentError
from interlock.generators.replies.completion import Completion, Known, completed
from interlock.generators.replies.finished_items import FinishedItems
from interlock.generators.replies.partial_json import partial_json
from interlock.generators.replies.reading_thread import ReadingThread
from interlock.output_types.errors import InvalidOutputError

__all__ = ["AsyncStream", "Stream"]

T = TypeVar("T")


class _SoFar(Generic[T]):
    """What both kinds of streams know of the output so far."""

    def __init__(
        self, parse: Callable[[str], T], is_json: bool, read_element: Callable[[str], Any], known: Callable[[], Known]
    ) -> None:
        self._parse, self._is_json, self._read_element, self._known = parse, is_json, read_element, known
        self._text: list[str] = []
        self._value: list[T] = []
        self._has_ended = self._is_closed = False
        self._failure: Exception | None = None
        self._finish_reason: str | None = None

    @property
    def finish_reason(self) -> str | None:
        """Why the model stopped, in OpenAI's words: ``"stop"`` where the output is whole, ``"length"`` where a text
        without a form used up its tokens, and what else a server says. ``None`` before the end. Where the budget may
        have shortened a whole output, there is a ``TightBudgetWarning``.
        """
        return self._finish_reason if self._has_ended else None

    @property
    def _is_over(self) -> bool:
        """Whether nothing more comes."""
        return self._is_closed or self._has_ended or self._failure is not None

    def _items(self) -> FinishedItems:
        if not self._is_json:
            raise ArgumentError("items are those of JSON, and this output is a text: iterate over the stream itself")
        return FinishedItems(self._read_element)

    def _broken_by(self, error: BaseException) -> None:
        """Nothing more comes. A task that was cancelled and a Ctrl-C are no failures, and close the stream."""
        if isinstance(error, Exception):
            self._failure = error
        else:
            self._is_closed = True

    def _parsed(self) -> T:
        """The value of the text, which is whole unless the stream was closed or broke."""
        if self._value:
            return self._value[0]
        if self._failure is not None:
            raise self._failure
        if not self._has_ended:
            raise InvalidOutputError(
                "the stream was closed before its end, so it has no value: text and partial have what had come",
                self.text,
            )
        try:
            self._value.append(self._parse(self.text))
        except InvalidOutputError as error:
            error.finish_reason = self.finish_reason
            raise
        return self._value[0]

    def _completed(self) -> Completion[T]:
        """The value with what is known of its output, where that has ended."""
        value = self._parsed()
        return completed(value, self.text, dataclasses.replace(self._known(), finish_reason=self._finish_reason))

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._text)

    @property
    def partial(self) -> Any:
        """What is certain so far, as plain data: of JSON the members and elements that are there, and the beginning of
        a string that is being written; of other outputs their text. ``None`` where nothing of JSON is certain yet.

        Numbers are left out until something follows them, as are keys without a value. Linear in the text so far.
        """
        if not self._is_json:
            return self.text
        return json.loads(self.text) if self._has_ended else partial_json(self.text)

    def _repr_html_(self) -> str:
        """The text so far, for a notebook."""
        from interlock.drawing.marked_text import marked_text

        return marked_text([(self.text, True, "")], "" if self._has_ended else "not at its end yet")

    def __repr__(self) -> str:
        state = "ended" if self._has_ended else "closed" if self._is_closed else "open"
        return f"<interlock {type(self).__name__}, {state}: {self.text!r}>"


def _is_in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class Stream(_SoFar[T], Iterator[str]):
    """The pieces of one output as they come; ``value`` is what they make together.

    Iterate over it for the text, or over ``partials()`` for what is certain of the value. ``value`` reads what is left
    and returns the parsed value; ``details`` has it with its tokens. ``close`` stops the model; so does leaving a
    ``with`` block. A stream that was closed has no more pieces (``StopIteration``), as a generator that was closed, and
    its ``value`` is an ``InvalidOutputError``.

    ``async for`` works too: the model runs in a thread, and the event loop is free meanwhile. ``break`` leaves the
    stream open, as with ``for``. ``await stream.aclose()``, leaving an ``async with`` block and cancelling the task
    stop the model behind its next token; so does letting go of the stream.

    >>> stream = Stream(iter(["[1, ", "2]"]), lambda text: [int(n) for n in text[1:-1].split(",")], is_json=True)
    >>> for piece in stream:
    ...     print(piece, stream.partial)
    [1,  [1]
    2] [1, 2]
    >>> stream.value
    [1, 2]
    """

    def __init__(
        self,
        pieces: Iterator[str],
        parse: Callable[[str], T],
        *,
        is_json: bool = False,
        read_element: Callable[[str], Any] = json.loads,
        in_one_thread: bool = False,
        known: Callable[[], Known] = Known,
    ) -> None:
        super().__init__(parse, is_json, read_element, known)
        self._pieces = pieces
        # Pieces that belong to the thread that began to read are read in one of their own from the start.
        self._thread = ReadingThread(self, pieces) if in_one_thread else None

    def __next__(self) -> str:
        piece = self._read() if self._thread is None else self._wait(self._thread.run(self._read))
        if piece is None:
            raise StopIteration
        return piece

    def _read(self) -> str | None:
        """The next piece; ``None`` behind the last."""
        if self._is_over:
            return None
        try:
            piece = next(self._pieces)
        except StopIteration as end:
            self._has_ended, self._finish_reason = True, end.value
            self._end_thread()
            return None
        except BaseException as error:
            self._broken_by(error)
            self._end_thread()
            raise
        self._text.append(piece)
        return piece

    def _wait(self, piece: Future[str | None]) -> str | None:
        try:
            return piece.result()
        except BaseException as error:
            # A Ctrl-C reaches the thread that waits, and not the one that reads.
            if not piece.done():
                self._broken_by(error)
                self._end_thread()
            raise

    def _end_thread(self) -> Future[Any] | None:
        return None if self._thread is None else self._thread.end()

    def __aiter__(self) -> AsyncIterator[str]:
        """The same pieces for ``async for``: the model runs in a thread, and the event loop is free meanwhile."""
        return self._in_thread()

    async def _in_thread(self) -> AsyncIterator[str]:
        while not self._is_over:
            if self._thread is None:
                self._thread = ReadingThread(self, self._pieces)
            try:
                piece = await asyncio.wrap_future(self._thread.run(self._read))
            except asyncio.CancelledError as error:
                self._broken_by(error)
                self._end_thread()
                raise
            if piece is None:
                return
            yield piece

    def partials(self) -> Iterator[Any]:
        """``partial`` each time it has changed, and at last the whole as plain data. Reads the stream to its end.

        >>> stream = Stream(iter(['{"name"', ': "A', 'da"', "}"]), str, is_json=True)
        >>> list(stream.partials())
        [{}, {'name': 'A'}, {'name': 'Ada'}]
        """
        last: Any = None
        for _ in self:
            found = self.partial
            if found is not None and found != last:
                last = found
                yield found
        found = self.partial
        if found != last:
            yield found

    def items(self) -> Iterator[Any]:
        """The elements of a list, each as soon as it is whole: of ``list[User]`` a ``User``. Of an object the pairs of
        a name and its value as plain data. Reads the stream to its end.

        ``InvalidOutputError`` for an element that its class refuses, with its place; ``value`` alone checks the list.
        ``ArgumentError`` where the output is neither a list nor an object.

        >>> stream = Stream(iter(["[1", "0, 2", "0]"]), json.loads, is_json=True)
        >>> list(stream.items())
        [10, 20]
        """
        items = self._items()

        def found() -> Iterator[Any]:
            yield from items.read(self.text)
            for piece in self:
                yield from items.read(piece)

        return found()

    @property
    def value(self) -> T:
        """The value of the whole output; waits for the end. ``InvalidOutputError`` where the text makes none."""
        for _ in self:
            pass
        return self._parsed()

    @property
    def details(self) -> Completion[T]:
        """The value with its text, its tokens and their number, as a call with ``details=True`` returns them; waits for
        the end. Errors are those of ``value``.

        >>> stream = Stream(iter(["[1, ", "2]"]), json.loads, known=lambda: Known([7, 9], 5, 2))
        >>> found = stream.details
        >>> found.value, found.text, found.token_ids, found.prompt_tokens
        ([1, 2], '[1, 2]', [7, 9], 5)
        """
        for _ in self:
            pass
        return self._completed()

    def close(self) -> None:
        """Stop; what has come stays in ``text``, and without an end there is no ``value``. Within a running event loop
        a model that is read with ``async for`` stops behind its next token, and nobody waits for that.
        """
        self._is_closed = True
        ending = self._end_thread()
        if ending is not None:
            if not _is_in_event_loop():
                ending.result()
        elif isinstance(self._pieces, Generator):
            self._pieces.close()

    async def aclose(self) -> None:
        """``close``, and wait until the model has stopped."""
        self._is_closed = True
        ending = self._end_thread()
        if ending is None:
            self.close()
        else:
            await asyncio.wrap_future(ending)

    def __enter__(self) -> Stream[T]:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    async def __aenter__(self) -> Stream[T]:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()


class AsyncStream(_SoFar[T], AsyncIterator[str]):
    """The same from a backend that is asynchronous: ``async for piece in stream``, then ``await stream.value()`` or
    ``await stream.details()``; ``partial`` says what is certain in between. ``aclose`` stops the server; so does
    leaving an ``async with`` block.
    """

    def __init__(
        self,
        pieces: AsyncIterator[str],
        parse: Callable[[str], T],
        *,
        is_json: bool = False,
        finish_reason: Callable[[], str | None] = lambda: None,
        read_element: Callable[[str], Any] = json.loads,
        known: Callable[[], Known] = Known,
    ) -> None:
        super().__init__(parse, is_json, read_element, known)
        self._pieces, self._ask_reason = pieces, finish_reason

    async def __anext__(self) -> str:
        if self._is_over:
            raise StopAsyncIteration
        try:
            piece = await anext(self._pieces)
        except StopAsyncIteration:
            self._has_ended, self._finish_reason = True, self._ask_reason()
            raise
        except BaseException as error:
            self._broken_by(error)
            raise
        self._text.append(piece)
        return piece

    def items(self) -> AsyncIterator[Any]:
        """The elements of a list, each as soon as it is whole, with ``async for``; see ``Stream.items``."""
        items = self._items()

        async def found() -> AsyncIterator[Any]:
            for item in items.read(self.text):
                yield item
            async for piece in self:
                for item in items.read(piece):
                    yield item

        return found()

    async def value(self) -> T:
        """The value of the whole output; waits for the end. ``InvalidOutputError`` where the text makes none."""
        async for _ in self:
            pass
        return self._parsed()

    async def details(self) -> Completion[T]:
        """The value with its text, its tokens and their number, as a call with ``details=True`` returns them; waits for
        the end. Errors are those of ``value``.
        """
        async for _ in self:
            pass
        return self._completed()

    async def aclose(self) -> None:
        """Stop; what has come stays in ``text``, and without an end there is no value."""
        self._is_closed = True
        if isinstance(self._pieces, AsyncGenerator):
            await self._pieces.aclose()

    async def __aenter__(self) -> AsyncStream[T]:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()
