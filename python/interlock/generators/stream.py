"""An output that is read while it is written."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import Generic, TypeVar

__all__ = ["AsyncStream", "Stream"]

T = TypeVar("T")


class Stream(Iterator[str], Generic[T]):
    """The pieces of one output as they come; ``value`` is what they make together.

    Iterate over it for the text. ``value`` reads what is left and returns the parsed value. ``close`` stops the model;
    so does leaving a ``with`` block.

    >>> stream = Stream(iter(["[1, ", "2]"]), lambda text: [int(n) for n in text[1:-1].split(",")])
    >>> for piece in stream:
    ...     print(piece)
    [1,\x20
    2]
    >>> stream.value
    [1, 2]
    """

    def __init__(self, pieces: Iterator[str], parse: Callable[[str], T]) -> None:
        self._pieces, self._parse = pieces, parse
        self._text: list[str] = []
        self._value: list[T] = []

    def __next__(self) -> str:
        piece = next(self._pieces)
        self._text.append(piece)
        return piece

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._text)

    @property
    def value(self) -> T:
        """The value of the whole output; waits for the end. ``InvalidOutputError`` where the text makes none."""
        if not self._value:
            for _ in self:
                pass
            self._value.append(self._parse(self.text))
        return self._value[0]

    def close(self) -> None:
        """Stop; what has come stays in ``text``."""
        if isinstance(self._pieces, Generator):
            self._pieces.close()

    def __enter__(self) -> Stream[T]:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class AsyncStream(AsyncIterator[str], Generic[T]):
    """The same from a backend that is asynchronous: ``async for piece in stream``, then ``await stream.value()``."""

    def __init__(self, pieces: AsyncIterator[str], parse: Callable[[str], T]) -> None:
        self._pieces, self._parse = pieces, parse
        self._text: list[str] = []
        self._value: list[T] = []

    async def __anext__(self) -> str:
        piece = await anext(self._pieces)
        self._text.append(piece)
        return piece

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._text)

    async def value(self) -> T:
        """The value of the whole output; waits for the end. ``InvalidOutputError`` where the text makes none."""
        if not self._value:
            async for _ in self:
                pass
            self._value.append(self._parse(self.text))
        return self._value[0]
