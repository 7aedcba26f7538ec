"""The elements of a list and the members of an object, each as soon as its text is whole."""

from __future__ import annotations

import collections
import functools
import json
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Annotated, Any, get_args, get_origin

from interlock._core import ArgumentError
from interlock.output_types import InvalidOutputError, OutputType, output_type_of

__all__ = ["FinishedItems", "element_reader"]

_LISTS = (list, set, frozenset, collections.deque, Sequence, Iterable, AbstractSet)
_BLANK = " \t\n\r"


def element_reader(output_type: Any) -> Callable[[str], Any]:
    """What makes a value of the text of one element, for lists of a Python type. Of other lists, such as those of a
    JSON Schema, elements are plain data.
    """
    while get_origin(output_type) is Annotated:
        output_type = get_args(output_type)[0]
    if get_origin(output_type) not in _LISTS or not get_args(output_type):
        return json.loads
    element = get_args(output_type)[0]

    @functools.cache
    def one() -> OutputType[list[Any]]:
        # A list of one: a text that is a whole output has no quotes, and here it has some. What is enforced was said
        # when the stream began.
        return output_type_of(list[element], "warn")  # type: ignore[valid-type]

    return lambda text: one().parse(f"[{text}]")[0]


class FinishedItems:
    """Reads a JSON text piece by piece, and finds the items of the list or the object that it is.

    >>> items = FinishedItems(json.loads)
    >>> items.read('[1, {"a": "]"'), items.read("}, 2"), items.read("3]")
    ([1], [{'a': ']'}], [23])
    >>> FinishedItems(json.loads).read('{"a": [1], "b": 2')
    [('a', [1])]
    """

    def __init__(self, read_element: Callable[[str], Any]) -> None:
        self._read_element = read_element
        self._depth = self._count = 0
        self._is_object = self._in_string = self._is_escaped = False
        self._item: list[str] = []

    def read(self, piece: str) -> list[Any]:
        """The items that end in ``piece``: values of a list, pairs of a name and plain data of an object."""
        found: list[Any] = []
        for char in piece:
            if self._depth == 0:
                self._begin(char)
                continue
            if self._in_string:
                self._in_string = self._is_escaped or char != '"'
                self._is_escaped = char == "\\" and not self._is_escaped
            elif char == '"':
                self._in_string = True
            elif char in "[{":
                self._depth += 1
            elif char in "]}":
                self._depth -= 1
            if self._depth == 0 or (self._depth == 1 and char == "," and not self._in_string):
                text = "".join(self._item).strip(_BLANK)
                self._item.clear()
                if text:
                    found.append(self._item_of(text))
            else:
                self._item.append(char)
        return found

    def _begin(self, char: str) -> None:
        if char in "[{":
            self._depth, self._is_object = 1, char == "{"
        elif char not in _BLANK and not self._count:
            raise ArgumentError("items are those of a list or an object, and this output is neither: read stream.value")

    def _item_of(self, text: str) -> Any:
        self._count += 1
        if self._is_object:
            [pair] = json.loads(f"{{{text}}}").items()
            return pair
        number = self._count - 1
        try:
            return self._read_element(text)
        except InvalidOutputError as error:
            error.args = (f"element {number} of the stream: {error}",)
            error.text = text
            error.pointer = f"/{number}{(error.pointer or '').removeprefix('/0')}"
            raise
